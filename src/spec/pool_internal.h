/* pool_internal.h - the fields of a pool, for the API's bodies and the server file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/spec.h"
#include "spec/fields.h"

/* Reads the map into `spec`, which holds the defaults or the present definition. `create`: the name
 * is required; else it may only be repeated. */
void pool_spec_fields(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      bool create, struct pool_spec *spec);
