/* quota_spec.h - a quota, as in the bodies of PUT and PATCH /quotas and in the server file:
 *
 *   {project: vision, pool: v100, rank: 200,
 *    resources: {gpu: {guaranteed: 5, limit: 20, weight: 2}, cpu: 40}}
 *
 * A bare amount is the guarantee. `gpu` and `slots` are one counter, stored as `slots`.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/account.h"
#include "core/model/quota.h"

enum { QUOTA_AMOUNTS_MAX = 16 }; /* of one body; the core limits how many resources have quotas */

struct quota_body {
    enum account_kind kind;
    const char *account;
    const char *pool;
    struct quota_spec spec; /* spec.amounts points to `amounts` */
    struct quota_amount amounts[QUOTA_AMOUNTS_MAX];
};

/* Makes a body that says nothing: all defaults. */
void quota_spec_body_init(struct quota_body *body);

/* Fills a body with the present definition, to be changed. */
void quota_spec_body_from(struct quota_body *body, const struct quota_spec *spec);

/* Reads only the account and the pool of a body. {project | department, pool} are required. */
must_use enum err quota_spec_body_whose(const struct doc *doc, struct arena *arena,
                                        struct quota_body *ret, struct error *e);

/* Reads the whole body into `body`, which holds the defaults (PUT) or the present definition
 * (PATCH). Fields that the body does not name stay. On failure `body` is unchanged. */
must_use enum err quota_spec_body_read(const struct doc *doc, struct arena *arena,
                                       struct quota_body *body, struct error *e);

/* Reads a quota out of an object of the API into `body`, which has the defaults. */
must_use enum err quota_spec_again(const struct doc *item, struct arena *arena,
                                   struct quota_body *body, struct error *e);

/* A field_fn of spec/fields.h: reads the map into a struct quota_body. */
struct doc_value;
void quota_spec_fields(const struct doc_value *v, void *body);
