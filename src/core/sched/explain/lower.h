/* lower.h - the smallest change with which a request would fit: one amount smaller, the rest as it is.
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

/* One amount of a request. */
struct lower {
    enum lower_kind kind;
    uint32_t named; /* which of request->named */
};

/* The amount of the request that belongs to a lack; false: no smaller amount helps. */
bool lower_for(const struct request *request, const struct lack *lack, struct lower *ret);

/* All amounts of a request in order: numbers 0 .. lower_count() - 1. */
uint32_t lower_count(const struct request *request);
struct lower lower_at(uint32_t number);

/* The amount that the request has now; where the request shares several devices, the part of one device. -1: the request has no
 * amount of its own, and a proportional part comes with the slots. */
int64_t lower_asked(const struct request *request, struct lower what);

/* The resource of the amount. */
resource_id lower_resource(const struct request *request, struct lower what);

/* Sets the amount in the request. */
void lower_apply(struct request *request, struct lower what, int64_t amount);

/* The largest amount above `least` and below `asked` with which one instance fits the place. `least` itself: there is no such amount.
 * Whole slots stay whole. */
int64_t lower_largest(const struct space *place, const struct request *request, struct lower what,
                      int64_t asked, int64_t least);
