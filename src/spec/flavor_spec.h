/* flavor_spec.h - the definition of a flavor, as in the bodies of POST and PATCH /flavors and in the server file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/flavor.h"

/* Fills in the definition of a flavor without a name. */
void flavor_spec_init(struct flavor_spec *spec);

/* Reads the body of a POST, a whole definition. `name` is required. */
must_use enum err flavor_spec_read(const struct doc *doc, struct arena *arena,
                                   struct flavor_spec *ret, struct error *e);

/* Reads the body of a PATCH. `spec` holds the present definition; fields that the body names are
 * changed. The name cannot change. On failure `spec` is unchanged. */
must_use enum err flavor_spec_patch(const struct doc *doc, struct arena *arena,
                                    struct flavor_spec *spec, struct error *e);

/* A field_fn of spec/fields.h: reads the map into a struct flavor_spec, which has the defaults or the present
 * definition. A flavor without a name must be given one. */
struct doc_value;
void flavor_spec_fields(const struct doc_value *v, void *spec);
