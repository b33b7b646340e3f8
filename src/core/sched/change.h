/* change.h - the smallest change of a request that would fit: one amount less, the rest as it is.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/fit.h"

/* The amounts of a request that can be lowered. */
enum change_kind {
    CHANGE_SLOTS,
    CHANGE_CPU,
    CHANGE_MEMORY,
    CHANGE_GPU_MEMORY,
    CHANGE_NAMED,
};

struct change {
    enum change_kind kind;
    uint32_t named; /* which of request->named */
};

/* The change that lowers what was lacking; false: no lower amount of one thing helps. */
bool change_for(const struct request *request, const struct lack *lack, struct change *ret);

/* Where a change stands in the list of all changes of a request: 0 .. change_count() - 1. */
uint32_t change_count(const struct request *request);
struct change change_at(uint32_t number);

/* The amount asked now; -1: none of its own (the proportional part). */
int64_t change_asked(const struct request *request, struct change change);
resource_id change_resource(const struct request *request, struct change change);

/* The request with this amount instead. */
void change_apply(struct request *request, struct change change, int64_t amount);

/* The largest amount above `least` (and below `asked`) with which one instance fits the place;
 * `least` itself: there is none. Whole slots stay whole. */
int64_t change_largest(const struct place *place, const struct request *request,
                       struct change change, int64_t asked, int64_t least);
