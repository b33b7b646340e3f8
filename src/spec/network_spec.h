/* network_spec.h - the definition of a network, as in the bodies of POST and PATCH /networks and in the server file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/network.h"

/* Fills in the definition of a network without a name and a range. */
void network_spec_init(struct network_spec *spec);

/* Reads the body of a POST or PATCH into `spec`, which holds the present definition. The fields that the body
 * names are changed; the name of a network that has one cannot change. A new network begins with
 * network_spec_init(), and `name` and `range` are required then. On failure `spec` is unchanged. */
must_use enum err network_spec_patch(const struct doc *doc, struct arena *arena,
                                     struct network_spec *spec, struct error *e);

/* A field_fn of spec/fields.h: reads the map into a struct network_spec, which has the defaults or the present
 * definition. A network without a name must be given one. */
struct doc_value;
void network_spec_fields(const struct doc_value *v, void *spec);
