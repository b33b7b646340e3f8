/* account_spec.h - a department's or project's definition: the bodies of POST and PATCH /departments and
 * /projects and items of the server file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/account.h"

/* POST: `name` is required. {name, parent | department, title, description}: a department lies below its
 * `parent`, a project in its `department`. */
must_use enum err account_spec_read(const struct doc *doc, enum account_kind kind,
                                    struct arena *arena, struct account_spec *ret, struct error *e);

/* PATCH: `spec` holds the present definition and gets what the body names; the name cannot change.
 * Unchanged on failure. */
must_use enum err account_spec_patch(const struct doc *doc, struct arena *arena,
                                     struct account_spec *spec, struct error *e);
