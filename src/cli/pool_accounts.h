/* pool_accounts.h - the departments, projects and quotas of a pool as a scenario has them, for `weir pool try`.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_out.h"
#include "base/vec.h"
#include "cli/context.h"

struct doc_list {
    const struct doc **at;
    size_t count;
    size_t room;
};

struct pool_accounts {
    struct doc_list departments;
    struct doc_list projects;
    struct doc_list quotas; /* a line for each account and resource, those of an account together */
};

/* Reads them from the server. The result lives in the arena of the call. */
must_use enum err pool_accounts_read(struct cli *cli, const char *pool, struct pool_accounts *ret,
                                     struct error *e);
void pool_accounts_done(struct pool_accounts *accounts);

/* Is there such a project? */
bool pool_accounts_has(const struct pool_accounts *accounts, const char *project);

/* Writes the fields `departments`, `projects` and `quotas` of a scenario. */
void pool_accounts_json(const struct pool_accounts *accounts, const char *pool, struct json_out *j);
