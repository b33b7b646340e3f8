/* pool_internal.h - the fields of a pool, for the API's bodies and the server file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/spec.h"
#include "spec/fields.h"

/* Reads the map into `spec`, which holds the defaults or the present definition. With `create`
 * the name is required; without, a name may only repeat the present one. */
void pool_spec_fields(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      bool create, struct pool_spec *spec);
