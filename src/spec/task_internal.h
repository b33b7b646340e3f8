/* task_internal.h - a task while it is read: the spec, and what is needed for rules that involve
 * several fields.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/spec.h"
#include "spec/fields.h"

/* Every field of a task file, and the names that cannot be given, with the reason. */
extern const struct field task_file_fields[];

struct task_draft {
    struct task_spec spec;
    const struct doc *pools;    /* the value that names the pools; NULL: none so far */
    int64_t gpu_milli;          /* of `resources.gpu`; ASK_NOTHING: not given */
    struct named_amount *named; /* room for TASK_RESOURCES_MAX; NULL until the first one is read */
};

/* Makes a draft with the defaults of a task, in the arena. */
struct task_draft *task_file_draft(struct arena *arena);

/* Each `draft` is a struct task_draft. */
void task_resources_read(const struct doc_value *v, void *draft);
void task_resources_devices_read(const struct doc_value *v, void *draft);

/* Reads the name of one pool, from `pool` or `resources.resource_pool`. */
void task_resources_pool_read(const struct doc_value *v, void *draft);

/* Notes which value names the pools; false: another value does so too, and a problem was noted. */
bool task_resources_pools_once(const struct doc_value *v, struct task_draft *draft);

/* Checks slots, gpu, gpu_memory and devices together, when all of them are read. */
void task_resources_finish(const struct doc_value *task, struct task_draft *draft);

/* Reads `fallback: {after: 5m, on: [no-capacity, lost]}`. */
void task_fallback_read(const struct doc_value *v, void *draft);

/* Reads `topology: {required: zone, preferred: rack}`. */
void task_groups_topology_read(const struct doc_value *v, void *draft);

/* Reads `groups: [{name: leader, instances: 1, resources: {…}}, …]`. */
void task_groups_read(const struct doc_value *v, void *draft);
void task_groups_finish(const struct doc_value *task, struct task_draft *draft);

/* Reads one level of a topology, the key of a node label; false: a problem was noted. */
bool task_groups_level_read(const struct doc_value *v, const char **ret);
