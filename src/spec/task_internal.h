/* task_internal.h - a task while it is being read: the spec and what only the whole can judge.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/spec.h"
#include "spec/fields.h"

enum { TASK_PATH_MAX = 4096 };

struct task_draft {
    struct task_spec spec;
    const struct doc *preemptible; /* where these were given; NULL: not */
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
    uint32_t group_instances; /* of all groups together */
    int64_t gpu_milli;
    struct named_amount *named; /* TASK_RESOURCES_MAX of them, once there is one */
};

/* The `resources` map. */
void task_resources_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *draft);

/* `devices: [0, 1]`. */
void task_resources_devices_read(struct reader *in, const struct doc_place *place,
                                 const struct doc *doc, const struct field *field, void *draft);

/* `node_labels: {gpu.model: A100}`, of a task or a group: how many; 0 where a problem was noted, too. */
uint32_t task_resources_labels_read(struct reader *in, const struct doc_place *place,
                                    const struct doc *doc, const struct label **ret);
void task_resources_node_labels_read(struct reader *in, const struct doc_place *place,
                                     const struct doc *doc, const struct field *field, void *draft);

/* A duration, or 'never'; a duration. */
void task_times_stale_grace_read(struct reader *in, const struct doc_place *place,
                                 const struct doc *doc, const struct field *field, void *object);
void task_times_preemption_delay_read(struct reader *in, const struct doc_place *place,
                                      const struct doc *doc, const struct field *field,
                                      void *object);

/* `avoid: [node1, node2]`. */
void task_resources_avoid_read(struct reader *in, const struct doc_place *place,
                               const struct doc *doc, const struct field *field, void *draft);

/* One pool's name, from `pool` or `resources.resource_pool`. */
void task_resources_pool_read(struct reader *in, const struct doc_place *place,
                              const struct doc *doc, const struct field *field, void *draft);

/* `topology: {required: zone, preferred: rack}`, into the struct topology_spec at the field's offset. */
void task_groups_topology_read(struct reader *in, const struct doc_place *place,
                               const struct doc *doc, const struct field *field, void *object);

/* `groups: [{name: leader, instances: 1, resources: {…}}, …]`; and what they mean for the rest of the task. */
void task_groups_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      const struct field *field, void *draft);
void task_groups_min_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          const struct field *field, void *draft);
void task_groups_finish(struct reader *in, const struct doc_place *place, struct task_draft *draft);

/* The key of a node label that a level of a topology goes by; false: a problem was noted. */
bool task_groups_level_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const char **ret);

/* slots, gpu, gpu_memory and devices together. */
void task_resources_finish(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           struct task_draft *draft);
