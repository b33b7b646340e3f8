/* state_decode.h - what the parts of the state's reader share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/bytes.h"
#include "core/model/resource.h"
#include "core/model/task.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

/* Far above any number that is ever given, far below where sums of numbers wrap. */
#define ROW_MAX ((uint64_t)1 << 60)

struct decode {
    struct core *core;
    struct bytes_reader in;
    struct arena arena; /* for one row at a time */
    uint64_t instance_end;
    uint64_t version;
};

/* The last numbers are put down after the rows, which must be below them. */
struct lasts {
    uint64_t pools;
    uint64_t nodes;
    uint64_t tasks;
    uint64_t instances;
    uint64_t shapes;
    uint64_t keys;
    uint64_t accounts;
    uint64_t ended[TASK_STATE_COUNT];
};

/* The number of a row: above the one before, at most `last`. */
uint64_t state_decode_row(struct decode *d, uint64_t before, uint64_t last);
int64_t state_decode_time(struct decode *d);

/* The sections of accounts and quotas; version 1 has none. */
bool state_decode_account(struct decode *d, const struct lasts *lasts);

/* The section of what was used before; versions 1 to 3 have none. */
bool state_decode_history(struct decode *d, const struct lasts *lasts);

/* The section of claims; version 1 has none. */
bool state_decode_claim(struct decode *d, const struct lasts *lasts);

/* The section of evictions; versions before 5 have none. */
bool state_decode_claim_evictions(struct decode *d, const struct lasts *lasts);

/* The section of what is usually asked of the pools; versions before 7 have none. */
bool state_decode_typical(struct decode *d, const struct lasts *lasts);

/* Is it what decide would have made of any task? */
bool state_decode_request_sound(const struct request *request);

/* The section of tasks; false: it cannot be right. */
bool state_decode_task(struct decode *d, const struct lasts *lasts);
