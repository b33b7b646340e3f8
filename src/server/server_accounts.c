/* server_accounts.c - departments, projects and quotas declared in the configuration file: at start and on
 * SIGHUP each becomes what the file says. What the file does not name stays.
 *
 * A quota of a named resource that no node has brought yet is refused by the core; it is set by the next
 * start or SIGHUP after such a node has joined. SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "server/server_internal.h"
#include "wire/reason_text.h"

/* False: refused; said in the log unless `quiet`. */
static bool input_run(struct server *server, struct input *in, const char *name, bool quiet,
                      struct arena *arena)
{
    struct facts facts;
    fact_list_init(&facts, arena);
    bool done = ledger_input(server->ledger, in, &facts) == VERDICT_OK;
    if (!done && !quiet) {
        struct buf text;
        buf_init(&text, ERROR_TEXT_MAX);
        reason_text(ledger_core(server->ledger), &facts.refusal, &text);
        log_warn_always("a department, project or quota stays as it is", kv_str("name", name),
                        kv_str("reason", buf_text(&text)));
        buf_done(&text);
    }
    return done;
}

static bool account_reconcile(struct server *server, const struct account_spec *want, bool quiet,
                              struct arena *arena)
{
    const struct account *account =
        query_account_named(ledger_core(server->ledger), want->kind, want->name);
    struct input in = {.type = INPUT_ACCOUNT_SET, .actor = "server", .cause = "config"};
    in.account.account = account != NULL ? account->id : (account_id){0};
    in.account.spec = want;
    return input_run(server, &in, want->name, quiet, arena);
}

static void quota_reconcile(struct server *server, const struct quota_body *want,
                            struct arena *arena)
{
    const struct core *core = ledger_core(server->ledger);
    const struct account *account = query_account_named(core, want->kind, want->account);
    const struct pool *pool = query_pool_named(core, want->pool);
    if (account == NULL || pool == NULL) {
        return; /* why it could not be made has been said */
    }
    struct input in = {.type = INPUT_QUOTA_SET, .actor = "server", .cause = "config"};
    in.quota.account = account->id;
    in.quota.pool = pool->id;
    in.quota.spec = &want->spec;
    (void)input_run(server, &in, want->account, false, arena);
}

/* A department may be declared before the one above it, and two may change places: each is tried again
 * until it is done, as often as the tree has levels. */
static void departments_reconcile(struct server *server, const struct server_file *file,
                                  struct arena *arena)
{
    bool *done = arena_new(arena, bool, file->department_count + 1);
    for (uint32_t round = 1; round <= ACCOUNT_DEPTH_MAX; round++) {
        for (uint32_t i = 0; i < file->department_count; i++) {
            done[i] = done[i] || account_reconcile(server, &file->departments[i],
                                                   round < ACCOUNT_DEPTH_MAX, arena);
        }
    }
}

void server_accounts_reconcile(struct server *server, const struct server_file *file)
{
    struct arena arena;
    arena_init(&arena);
    departments_reconcile(server, file, &arena);
    for (uint32_t i = 0; i < file->project_count; i++) {
        (void)account_reconcile(server, &file->projects[i], false, &arena);
    }
    for (uint32_t i = 0; i < file->quota_count; i++) {
        quota_reconcile(server, &file->quotas[i], &arena);
    }
    arena_done(&arena);
}
