/* pool_spec.h - the definition of a pool, as in the bodies of POST and PATCH /pools and in the
 * server file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/spec.h"

/* Fills in the definition of a pool of which only the name is given. */
void pool_spec_init(struct pool_spec *spec, const char *name);

/* Reads the body of a POST, a whole definition. `name` is required. */
must_use enum err pool_spec_read(const struct doc *doc, struct arena *arena, struct pool_spec *ret,
                                 struct error *e);

/* Reads the body of a PATCH. `spec` holds the present definition; fields that the body names are
 * changed. The name cannot change. On failure `spec` is unchanged. */
must_use enum err pool_spec_patch(const struct doc *doc, struct arena *arena,
                                  struct pool_spec *spec, struct error *e);

/* Reads a definition out of an object of the API. Fields of the object that are no part of a
 * definition are ignored. */
must_use enum err pool_spec_again(const struct doc *item, struct arena *arena,
                                  struct pool_spec *ret, struct error *e);

/* A field_fn of spec/fields.h: reads the map into a struct pool_spec, which has the defaults or
 * the present definition. A pool without a name must be given one. */
struct doc_value;
void pool_spec_fields(const struct doc_value *v, void *spec);
