/* group_codec.h - topology and groups of a task as bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "core/model/spec.h"

#include <stdbool.h>

/* Topology and groups. group_codec_said(): does the task have any? */
bool group_codec_said(const struct task_spec *spec);
void group_codec_encode(const struct task_spec *spec, struct buf *out);
void group_codec_decode(struct bytes_reader *in, struct arena *arena, struct task_spec *ret);
/* The node labels that groups require. group_codec_labels_said(): does any group require one? */
bool group_codec_labels_said(const struct task_spec *spec);
void group_codec_labels_encode(const struct task_spec *spec, struct buf *out);
void group_codec_labels_decode(struct bytes_reader *in, struct arena *arena, struct task_spec *ret);

/* Is every level of a pool's topology named, and none named twice? */
bool group_codec_levels_differ(const struct pool_spec *spec);

/* Are the groups of a task a tree in order, and do their instances add up to the task's instances? */
bool group_codec_sound(const struct task_spec *spec);
