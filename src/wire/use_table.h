/* use_table.h - what running attempts use now, as their nodes last said. These figures are no part of
 * the state: they are not stored, and a restarted server knows them again after one heartbeat.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    USE_TABLE_MAX = 100000,   /* attempts; more are not kept */
    USE_STALE_MS = 5 * 60000, /* a figure that was not renewed for so long is dropped */
    USE_BUSY_MILLI = 10,      /* a hundredth of a core, or of a device: less is no work */
};

struct attempt_use {
    struct attempt_key key;
    int64_t heard_ms;  /* server time of the last sample */
    int64_t at_ms;     /* the node's clock at the last sample */
    int64_t cpu_ms;    /* since the start */
    int64_t cpu_milli; /* between the last two samples, in thousandths of a core; -1: one sample */
    int64_t memory_bytes;
    int64_t memory_peak_bytes;
    int64_t gpu_milli; /* how busy its devices are together, in thousandths of one; -1: unknown */
    int64_t gpu_memory_bytes; /* memory in use of its devices; -1: unknown */
    int64_t
        busy_ms; /* server time of the last sample with work in it, or of the first; set by the table */
    int64_t warned_ms; /* the last use_table_warned() after busy_ms; 0: none since then */
    int64_t told_ms;   /* the last use_table_told(); 0: never */
};

struct use_table;

struct use_table *use_table_new(void);
void use_table_free(struct use_table *table);

/* Takes a sample. `cpu_milli` is computed from the sample before. */
void use_table_put(struct use_table *table, const struct attempt_use *sample);

/* Notes that the core was told at `now_ms` that the attempt's task does nothing. */
void use_table_told(struct use_table *table, struct attempt_key key, int64_t now_ms);

/* Notes that the attempt's task was warned at `now_ms` that it does nothing. A later sample with
 * work in it removes the note. */
void use_table_warned(struct use_table *table, struct attempt_key key, int64_t now_ms);

/* The attempt has ended. */
void use_table_drop(struct use_table *table, struct attempt_key key);

/* The last sample, or NULL. `table` may be NULL. */
const struct attempt_use *use_table_get(const struct use_table *table, struct attempt_key key);

/* Walks the samples: start with *cursor = 0; NULL at the end. `table` may be NULL. */
const struct attempt_use *use_table_next(const struct use_table *table, size_t *cursor);
