/* shape.h - shapes. Tasks of a pool with equal requests share one shape. A pass tries a shape once. When the
 * shape does not fit, the pass looks at none of its tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/form.h"
#include "core/model/ids.h"
#include "core/model/resource.h"

#include <stdint.h>

struct shape {
    shape_id id;         /* 0: no row here */
    uint32_t task_count; /* tasks that have this shape; the row is removed with the last task */
    /* instances that must start together; 1: each instance starts by itself */
    uint32_t gang_size;
    pool_id pool;
    uint64_t hash;
    struct request request; /* of each instance; of a task with groups: of its first instance */
    struct blob *form;      /* the bytes of struct form, see shape_form(); NULL: no form */
};

/* The form of the shape; NULL: all instances are alike and may be anywhere. */
const struct form *shape_form(const struct shape *shape);
