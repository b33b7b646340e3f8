/* shape.c - see shape.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/shape.h"

#include "core/model/blob.h"

const struct form *shape_form(const struct shape *shape)
{
    return shape->form == NULL ? NULL : (const void *)blob_bytes(shape->form).p;
}
