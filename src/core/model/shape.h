/* shape.h - equal requests are one shape: tried once a pass, and when it does not fit, none of its
 * tasks is looked at.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/form.h"
#include "core/model/ids.h"
#include "core/model/resource.h"

#include <stdint.h>

struct shape {
    shape_id id;         /* 0: no row here */
    uint32_t task_count; /* tasks that have it; the row goes with the last one */
    uint32_t gang_size;  /* instances that start together; 1: each for itself */
    pool_id pool;
    uint64_t hash;
    struct request request; /* of each instance; where there are groups: of the first */
    struct blob *form;      /* see shape_form() */
};

/* How its instances hang together; NULL: they are all alike, anywhere. */
const struct form *shape_form(const struct shape *shape);
