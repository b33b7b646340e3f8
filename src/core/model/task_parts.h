/* task_parts.h - the fields of a task that consist of several members. The table of the task has these fields
 * as RECORD_OWN. Every `object` is a struct task_spec.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/bytes.h"
#include "core/model/record.h"
#include "core/model/spec.h"

void task_parts_depends_put(const void *object, struct buf *out);
void task_parts_depends_get(struct bytes_reader *in, struct arena *arena, void *object);

/* What an instance requests, from slots to named resources; and the topology alone, for edits. */
extern const struct record_table task_parts_asks;
extern const struct record_table task_parts_topology;

/* When the next pool of a task opens. task_parts_fallback_said(): does the task say anything about it? */
extern const struct record_table task_parts_fallback;
bool task_parts_fallback_said(const void *object);

/* Whether the instances are a gang, and the gang's minimum. */
void task_parts_gang_put(const void *object, struct buf *out);
void task_parts_gang_get(struct bytes_reader *in, struct arena *arena, void *object);

/* Topology and groups. task_parts_groups_said(): does the task have any? task_parts_groups_bounded(): is
 * every level and every group within its bounds? task_parts_groups_sound(): are the groups a tree in order, and
 * do their instances add up to the task's instances? */
bool task_parts_groups_said(const void *object);
void task_parts_groups_put(const void *object, struct buf *out);
void task_parts_groups_get(struct bytes_reader *in, struct arena *arena, void *object);
bool task_parts_groups_bounded(const struct task_spec *spec, const char **ret_limit,
                               int64_t *ret_max);
bool task_parts_groups_sound(const struct task_spec *spec);

/* The node labels that groups require. task_parts_labels_said(): does any group require one? */
bool task_parts_labels_said(const void *object);
void task_parts_labels_put(const void *object, struct buf *out);
void task_parts_labels_get(struct bytes_reader *in, struct arena *arena, void *object);
