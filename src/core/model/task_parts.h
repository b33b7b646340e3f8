/* task_parts.h - the fields of a task that consist of several members: what object tables call RECORD_OWN. Every
 * `object` is a struct task_spec.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/bytes.h"
#include "core/model/spec.h"

void task_parts_depends_put(const void *object, struct buf *out);
void task_parts_depends_get(struct bytes_reader *in, struct arena *arena, void *object);

/* What an instance asks for, from slots to named resources. */
void task_parts_asks_put(const void *object, struct buf *out);
void task_parts_asks_get(struct bytes_reader *in, struct arena *arena, void *object);
void task_parts_asks_copy(void *to, const void *from);
bool task_parts_asks_bounded(const struct task_spec *spec, const char **ret_limit,
                             int64_t *ret_max);

/* Whether the instances are a gang, and how many of them it needs. */
void task_parts_gang_put(const void *object, struct buf *out);
void task_parts_gang_get(struct bytes_reader *in, struct arena *arena, void *object);

/* Topology and groups of a task that has them. */
bool task_parts_groups_said(const void *object);
void task_parts_groups_put(const void *object, struct buf *out);
void task_parts_groups_get(struct bytes_reader *in, struct arena *arena, void *object);

/* The labels that nodes must have for some of the groups. */
bool task_parts_labels_said(const void *object);
void task_parts_labels_put(const void *object, struct buf *out);
void task_parts_labels_get(struct bytes_reader *in, struct arena *arena, void *object);

/* The topology alone: of an edit. */
void task_parts_topology_put(const void *object, struct buf *out);
void task_parts_topology_get(struct bytes_reader *in, struct arena *arena, void *object);
void task_parts_topology_copy(void *to, const void *from);
