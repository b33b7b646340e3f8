/* account_spec.h - the definition of a department or a project, as in the bodies of POST and
 * PATCH /departments and /projects and in the server file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/account.h"

/* Fills in the definition of an account without a name. */
void account_spec_init(struct account_spec *spec, enum account_kind kind);

/* Reads the body of a POST: {name, parent | department, title, description}. `name` is required.
 * A department names its `parent`, a project its `department`. */
must_use enum err account_spec_read(const struct doc *doc, enum account_kind kind,
                                    struct arena *arena, struct account_spec *ret, struct error *e);

/* Reads the body of a PATCH. `spec` holds the present definition; fields that the body names are
 * changed. The name cannot change. On failure `spec` is unchanged. */
must_use enum err account_spec_patch(const struct doc *doc, struct arena *arena,
                                     struct account_spec *spec, struct error *e);

/* Reads a definition out of an object of the API. Fields of the object that are no part of a
 * definition are ignored. */
must_use enum err account_spec_again(const struct doc *item, enum account_kind kind,
                                     struct arena *arena, struct account_spec *ret,
                                     struct error *e);

/* A field_fn of spec/fields.h: reads the map into a struct account_spec, which has its kind, and
 * the defaults or the present definition. An account without a name must be given one. */
struct doc_value;
void account_spec_fields(const struct doc_value *v, void *spec);
