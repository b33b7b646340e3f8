/* effect.h - what the outside must now do. Each carries its key, so doing one twice is harmless.
 * Held by the server until the facts it rests on are on disk (P10).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/task.h"

#include <stddef.h>
#include <stdint.h>

enum effect_type {
    EFFECT_START,   /* tell the node to start this attempt */
    EFFECT_STOP,    /* tell the node to end it: SIGTERM, SIGKILL after grace_ms */
    EFFECT_ARCHIVE, /* write the ended task to history now, in the commit of this fact; its row is
                       dropped by the next one */
};

struct effect {
    enum effect_type type;
    node_id node;
    uint32_t incarnation;
    struct attempt_key key;
    int64_t grace_ms;
    enum end_cause cause;
};

struct effects {
    struct effect *at;
    size_t count;
    size_t room;
};

void effect_done(struct effects *effects);
