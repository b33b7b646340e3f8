/* oracle_vain.h - starts in vain: what the passes over a pool start and take back while nothing else happens.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

enum { VAIN_STARTED_MAX = 1024 };

struct vain {
    struct attempt_key started[VAIN_STARTED_MAX]; /* while a pool comes to rest */
    uint32_t count;
    uint64_t evicted; /* of those, ever */
};

/* A fact of a pass, before it is applied. */
void oracle_vain_note(struct vain *vain, const struct core *core, const struct fact *fact);
