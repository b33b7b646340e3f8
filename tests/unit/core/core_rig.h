/* core_rig.h - a core under test: every input goes the whole way (decide, encode, decode, apply,
 * react), and after every step the invariants hold and the stored state is the same state.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

struct rig {
    struct core *core;
    struct arena arena;
    struct facts facts;     /* of the last step */
    struct effects effects; /* of the last step */
    int64_t now_ms;
};

/* A started server at time 1000 with the pool `default` and no nodes. */
void rig_init(struct rig *rig);
void rig_done(struct rig *rig);

/* One step; the facts and effects of the step before are gone. */
enum verdict rig_do(struct rig *rig, struct input in);

/* A node named `name` with this many slots (no devices), `foo` thousandths of foo when above 0. The
 * supervisor is known by one byte. */
node_id rig_node(struct rig *rig, const char *name, unsigned slots, int64_t foo,
                 uint8_t supervisor);

/* One slot, one instance, `true`, as a command of user "u". */
struct task_spec rig_spec(void);

/* Submits one task that must be accepted. */
task_id rig_submit(struct rig *rig, struct task_spec spec);
enum verdict rig_try_submit(struct rig *rig, struct task_spec spec);

/* Passes over every pool that is due, until none is. */
void rig_pass(struct rig *rig);

/* The agent of the instance's node says so, of its newest attempt. */
void rig_report(struct rig *rig, task_id task, uint32_t index, enum report_type type, int code);
/* started, then ended with this code */
void rig_run(struct rig *rig, task_id task, uint32_t index, int code);

enum verdict rig_task(struct rig *rig, enum input_type type, task_id task);
enum verdict rig_on_node(struct rig *rig, enum input_type type, node_id node);

enum task_state rig_state(const struct rig *rig, task_id task); /* of a live or ended one */
enum instance_state rig_instance(const struct rig *rig, task_id task, uint32_t index);

/* How many facts of this type the last step had; the first of them. */
size_t rig_count(const struct rig *rig, enum fact_type type);
const struct fact *rig_fact(const struct rig *rig, enum fact_type type);

/* The stored bytes of a core; the caller frees. */
char *rig_bytes(const struct core *core, size_t *ret_len);
void assert_same_state(const struct core *a, const struct core *b);
