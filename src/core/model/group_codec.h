/* group_codec.h - topology and groups of a task as bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "core/model/spec.h"

#include <stdbool.h>

/* Topology and groups of a task that has them. */
bool group_codec_said(const struct task_spec *spec);
void group_codec_encode(const struct task_spec *spec, struct buf *out);
void group_codec_decode(struct bytes_reader *in, struct arena *arena, struct task_spec *ret);
/* The labels that nodes must have for some of its groups. */
bool group_codec_labels_said(const struct task_spec *spec);
void group_codec_labels_encode(const struct task_spec *spec, struct buf *out);
void group_codec_labels_decode(struct bytes_reader *in, struct arena *arena, struct task_spec *ret);

/* No level of a pool's topology is empty or there twice. */
bool group_codec_levels_differ(const struct pool_spec *spec);

/* Are the groups of a task a tree in order that adds up to its instances? */
bool group_codec_sound(const struct task_spec *spec);
