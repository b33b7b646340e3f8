/* flavor_spec.h - the definition of a flavor, as in the bodies of POST and PATCH /flavors and in the server file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/flavor.h"

/* Fills in the definition of a flavor without a name. */
void flavor_spec_init(struct flavor_spec *spec);

/* Reads the body of a POST or PATCH into `spec`, which holds the present definition. The fields that the body
 * names are changed; the name of a flavor that has one cannot change. A new flavor begins with
 * flavor_spec_init(), and `name` is required then. On failure `spec` is unchanged. */
must_use enum err flavor_spec_patch(const struct doc *doc, struct arena *arena,
                                    struct flavor_spec *spec, struct error *e);

/* A field_fn of spec/fields.h: reads the map into a struct flavor_spec, which has the defaults or the present
 * definition. A flavor without a name must be given one. */
struct doc_value;
void flavor_spec_fields(const struct doc_value *v, void *spec);
