/* effect.h - effects: what the server must now do outside the core. An effect carries the key of its attempt,
 * so doing the same effect twice is harmless. The server holds an effect until the facts that caused the
 * effect are on disk (P10).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/task.h"

#include <stddef.h>
#include <stdint.h>

enum effect_type {
    EFFECT_START, /* tell the node to start this attempt */
    EFFECT_STOP,  /* tell the node to end this attempt: SIGTERM, and SIGKILL after grace_ms */
    /* write the ended task to the history tables in the commit of this fact. A later fact (task-archived)
     * drops the task's row */
    EFFECT_ARCHIVE,
    EFFECT_LAUNCH,    /* ask the pool's provider for the node of this launch */
    EFFECT_TERMINATE, /* tell the provider to end it */
};

struct effect {
    enum effect_type type;
    node_id node;
    uint32_t incarnation;
    struct attempt_key key;
    int64_t grace_ms;
    enum end_cause cause;
    launch_id launch; /* EFFECT_LAUNCH, EFFECT_TERMINATE: the number that makes a repeated order the
                         same order */
    pool_id pool;     /* likewise: whose provider */
};

struct effects {
    struct effect *at;
    size_t count;
    size_t room;
};

void effect_done(struct effects *effects);
