/* core_rig.h - a core under test. Every input goes the whole way: decide, encode, decode, apply,
 * react. After every step the invariants are checked, and the stored state must equal the state
 * in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

struct rig {
    struct core *core;
    struct arena arena;     /* of the last step: the next step empties it */
    struct arena kept;      /* of the test, until rig_done(): what an input borrows */
    struct facts facts;     /* of the last step */
    struct effects effects; /* of the last step */
    int64_t now_ms;
};

/* Makes a started server at time 1000 with the pool `default` and no nodes. */
void rig_init(struct rig *rig);
void rig_done(struct rig *rig);

/* Makes one step. The facts and effects of the step before are gone. */
enum verdict rig_do(struct rig *rig, struct input in);

/* Joins a node with this many slots, without devices, and with `foo` thousandths of the resource
 * foo if above 0. The byte names the supervisor. */
node_id rig_node(struct rig *rig, const char *name, unsigned slots, int64_t foo,
                 uint8_t supervisor);

/* Tells a change of a pool's state, as a tick does that comes at once. */
void rig_standing_tell(struct core *core, int64_t now_ms);

/* Returns a task of user "u": a command `true` with one slot and one instance. */
struct task_spec rig_spec(void);

/* Submits one task that must be accepted. */
task_id rig_submit(struct rig *rig, struct task_spec spec);
enum verdict rig_try_submit(struct rig *rig, struct task_spec spec);

/* Runs passes over every pool that is due, until none is. */
void rig_pass(struct rig *rig);

/* Reports about the newest attempt of an instance, as the agent of its node. */
void rig_report(struct rig *rig, task_id task, uint32_t index, enum report_type type, int code);
/* Reports that the instance started, and ended with this code. */
void rig_run(struct rig *rig, task_id task, uint32_t index, int code);

enum verdict rig_task(struct rig *rig, enum input_type type, task_id task);
enum verdict rig_on_node(struct rig *rig, enum input_type type, node_id node);

enum task_state rig_state(const struct rig *rig, task_id task); /* of a live or an ended task */
enum instance_state rig_instance(const struct rig *rig, task_id task, uint32_t index);

/* Count the facts of this type in the last step; return the first of them. */
size_t rig_count(const struct rig *rig, enum fact_type type);
const struct fact *rig_fact(const struct rig *rig, enum fact_type type);

/* Returns the stored bytes of a core. The caller frees them. */
char *rig_bytes(const struct core *core, size_t *ret_len);
void assert_same_state(const struct core *a, const struct core *b);
