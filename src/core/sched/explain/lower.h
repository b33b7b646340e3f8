/* lower.h - the smallest change of a request that would fit: one amount less, the rest as it is.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/fit.h"
#include "core/model/ids.h"
#include "core/model/resource.h"
#include "core/model/space.h"

#include <stdbool.h>
#include <stdint.h>

/* The amounts of a request that can be lowered. */
enum lower_kind {
    LOWER_SLOTS,
    LOWER_CPU,
    LOWER_MEMORY,
    LOWER_GPU_MEMORY,
    LOWER_NAMED,
};

struct lower {
    enum lower_kind kind;
    uint32_t named; /* which of request->named */
};

/* The amount that was lacking; false: no lower amount of one thing helps. */
bool lower_for(const struct request *request, const struct lack *lack, struct lower *ret);

/* All of them in order: numbers 0 .. lower_count() - 1. */
uint32_t lower_count(const struct request *request);
struct lower lower_at(uint32_t number);

/* The amount asked now, of several shared devices that of each; -1: none of its own (the proportional part). */
int64_t lower_asked(const struct request *request, struct lower what);
resource_id lower_resource(const struct request *request, struct lower what);

/* The request with this amount instead. */
void lower_apply(struct request *request, struct lower what, int64_t amount);

/* The largest amount above `least` (and below `asked`) with which one instance fits the place;
 * `least` itself: there is none. Whole slots stay whole. */
int64_t lower_largest(const struct space *place, const struct request *request, struct lower what,
                      int64_t asked, int64_t least);
