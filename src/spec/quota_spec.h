/* quota_spec.h - a quota: the bodies of PUT and PATCH /quotas and items of the server file.
 *
 *   {project: vision, pool: v100, resources: {gpu: {guaranteed: 5, limit: 20, weight: 2}, cpu: 40}, rank: 200}
 *
 * A bare amount is the guarantee. `gpu` and `slots` are one counter and come out as `slots`.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/account.h"
#include "core/model/quota.h"

enum { QUOTA_AMOUNTS_MAX = 16 }; /* of one body; how many may have quotas is for the core to say */

struct quota_body {
    enum account_kind kind;
    const char *account;
    const char *pool;
    struct quota_spec spec; /* its amounts are `amounts` */
    struct quota_amount amounts[QUOTA_AMOUNTS_MAX];
};

/* Nothing said: all defaults. */
void quota_spec_body_init(struct quota_body *body);

/* A present definition, as the core has it, to be changed. */
void quota_spec_body_from(struct quota_body *body, const struct quota_spec *spec);

/* Whose quota a body is about, and in which pool: {project | department, pool} are required. Nothing else
 * is looked at. */
must_use enum err quota_spec_body_whose(const struct doc *doc, struct arena *arena,
                                        struct quota_body *ret, struct error *e);

/* The whole body into `body`, which holds the defaults (PUT) or the present definition (PATCH): what is
 * not named stays. Unchanged on failure. */
must_use enum err quota_spec_body_read(const struct doc *doc, struct arena *arena,
                                       struct quota_body *body, struct error *e);
