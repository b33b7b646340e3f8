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
    /* Here down to min_groups: the value in the document; NULL: not given. */
    const struct doc *preemptible;
    const struct doc *command;
    const struct doc *entrypoint;
    const struct doc *pools;
    const struct doc *instances;
    const struct doc *min_instances;
    const struct doc *array;
    const struct doc *slots;
    const struct doc *gpu;
    const struct doc *devices;
    const struct doc *gpu_devices;
    const struct doc *groups;
    const struct doc *min_groups;
    uint32_t group_instances; /* instances of all groups together */
    int64_t gpu_milli;
    struct named_amount *named; /* room for TASK_RESOURCES_MAX; NULL until the first one is read */
};

/* Reads the map `resources`. */
void task_resources_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *draft);

/* Reads `devices: [0, 1]`. */
void task_resources_devices_read(struct reader *in, const struct doc_place *place,
                                 const struct doc *doc, const struct field *field, void *draft);

/* Reads the name of one pool, from `pool` or `resources.resource_pool`. */
void task_resources_pool_read(struct reader *in, const struct doc_place *place,
                              const struct doc *doc, const struct field *field, void *draft);

/* Reads `topology: {required: zone, preferred: rack}`. */
void task_groups_topology_read(struct reader *in, const struct doc_place *place,
                               const struct doc *doc, const struct field *field, void *object);

/* Reads `groups: [{name: leader, instances: 1, resources: {…}}, …]`. */
void task_groups_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      const struct field *field, void *draft);
void task_groups_min_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          const struct field *field, void *draft);
void task_groups_finish(struct reader *in, const struct doc_place *place, struct task_draft *draft);

/* Reads one level of a topology, the key of a node label; false: a problem was noted. */
bool task_groups_level_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const char **ret);

/* Checks slots, gpu, gpu_memory and devices together, when all of them are read. */
void task_resources_finish(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           struct task_draft *draft);
