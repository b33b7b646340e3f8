/* pool_spec.h - a pool's definition: the bodies of POST and PATCH /pools and an item of the server
 * file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/spec.h"

/* What a pool is when only its name is given. */
void pool_spec_init(struct pool_spec *spec, const char *name);

/* POST: a whole definition; `name` is required. */
must_use enum err pool_spec_read(const struct doc *doc, struct arena *arena, struct pool_spec *ret,
                                 struct error *e);

/* PATCH: `spec` holds the present definition and gets what the body names; the name cannot change.
 * Unchanged on failure. */
must_use enum err pool_spec_patch(const struct doc *doc, struct arena *arena,
                                  struct pool_spec *spec, struct error *e);
