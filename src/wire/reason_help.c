/* reason_help.c - which failure a refusal is, and which commands would help a waiting task.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/reason_help.h"

#include "wire/reason_text.h"

#include "base/must.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    enum err failure;
    const char *path;
} refusals[REASON_COUNT] = {
    [REASON_NONE] = {ERR_CONFLICT, ""},
#define REASON(code, traits, failure, path, sentence) [REASON_##code] = {ERR_##failure, (path)},
#include "wire/reasons.def"
#undef REASON
};

enum err reason_help_err(enum reason_code code)
{
    must((unsigned)code < REASON_COUNT);
    return refusals[code].failure;
}

const char *reason_help_path(const struct core *core, const struct reason *reason,
                             struct arena *arena)
{
    must((unsigned)reason->code < REASON_COUNT);
    const char *path = refusals[reason->code].path;
    return strcmp(path, "resources.") != 0
               ? path
               : arena_fmt(arena, "resources.%s", reason_text_resource(core, reason));
}

/* Returns the sentence with its {words} filled in. */
static const char *filled(const struct core *core, const struct reason *reason,
                          const char *sentence, struct arena *arena)
{
    struct buf text;
    buf_init(&text, REASON_TEXT_MAX);
    reason_text_fill(core, reason, sentence, &text);
    const char *copy = arena_str(arena, buf_text(&text));
    buf_done(&text);
    return copy;
}

static const char smaller[] = "request {smallest} or less, and the task can start now";

/* Suggests a smaller request and a higher priority. Each of the two alone lets the task start. */
static uint32_t room_suggestions(const struct core *core, task_id id, const struct explanation *why,
                                 struct arena *arena, const char **ret)
{
    uint32_t count = 0;
    if (why->reason.smallest > 0 && reason_text_has_amount(why->reason.code)) {
        ret[count++] = filled(core, &why->reason, smaller, arena);
    }
    const uint32_t priority =
        explain_time_for_room(why->reason.code) ? explain_time_priority(core, id) : 0;
    if (priority != 0) {
        ret[count++] = arena_fmt(arena, "weir task edit %" PRIu64 " --priority %u", id.v, priority);
    }
    return count;
}

/* Suggests a move ahead of the holder, whose kept places the task may then use. This works only
 * if there is one holder, and if the holder waits in the same queue. */
static const char *ahead(const struct core *core, task_id id, const struct reason *reason,
                         struct arena *arena)
{
    const struct task *task = query_task(core, id);
    const struct task *holder = query_task(core, reason->task);
    const struct pool *pool = query_pool(core, reason->pool);
    if (task == NULL || holder == NULL || pool == NULL || pool->reserved_count > 1 ||
        pool->policy == POLICY_FIFO || pool->order == QUEUE_SHORT_FIRST ||
        task->account.v != holder->account.v || task->priority != holder->priority) {
        return NULL;
    }
    return arena_fmt(arena, "weir task move %" PRIu64 " --ahead-of %" PRIu64, id.v, holder->id.v);
}

/* Returns the one command that helps with this code; NULL: there is none. */
static const char *command(const struct core *core, task_id id, const struct explanation *why,
                           struct arena *arena)
{
    static const char *const commands[REASON_COUNT] = {
        [REASON_STAGED] = "weir task start {task}",
        [REASON_PAUSED] = "weir task activate {task}",
        [REASON_POOL_PAUSED] = "weir pool resume {pool}",
        [REASON_POOL_EMPTY] = "weir agent --server URL --pool {pool} --join-token TOKEN",
        [REASON_NODES_AWAY] = "weir node resume {node}",
    };
    const enum reason_code code = why->reason.code;
    if (code == REASON_RESERVED) {
        return ahead(core, id, &why->reason, arena);
    }
    if (commands[code] == NULL || (code == REASON_NODES_AWAY && why->resume.v == 0)) {
        return NULL;
    }
    const struct reason about = {.task = id, .pool = why->reason.pool, .node = why->resume};
    return filled(core, &about, commands[code], arena);
}

/* Writes the command that sets a quota large enough for the task: the amount already held, which
 * may be above the bound, and the amount of the task. */
static const char *quota(const struct core *core, const struct explanation *why, bool limit,
                         struct arena *arena)
{
    const struct explain_account *account = &why->account;
    struct buf text;
    buf_init(&text, 256);
    reason_text_amount_bare(account->resource, account->held + why->reason.wanted, &text);
    const char *name = account->resource.v == RESOURCE_SLOTS
                           ? "gpu"
                           : query_resource_name(core, account->resource);
    const struct account *row = query_account(core, account->id);
    const bool department = row != NULL && row->kind == ACCOUNT_DEPARTMENT;
    const char *command =
        arena_fmt(arena, "weir quota set %s%s --pool %s %s%s=%s", department ? "--department " : "",
                  query_account_name(core, account->id), query_pool_name(core, why->reason.pool),
                  limit ? "--limit " : "", name, buf_text(&text));
    buf_done(&text);
    return command;
}

/* Suggests what helps a task that a bound of its accounts or its user holds back. */
static uint32_t bound_suggestions(const struct core *core, const struct explanation *why,
                                  struct arena *arena, const char **ret)
{
    uint32_t count = 0;
    if (why->reason.code == REASON_OVER_GUARANTEE) {
        ret[count++] = "submit the task with --preemptible";
        ret[count++] = quota(core, why, false, arena);
    } else if (why->reason.code == REASON_OVER_SHARE) {
        ret[count++] = quota(core, why, false, arena);
    } else if (why->reason.code == REASON_OVER_LIMIT) {
        ret[count++] = quota(core, why, true, arena);
    }
    if (why->reason.smallest > 0) {
        ret[count++] = filled(core, &why->reason, smaller, arena);
    }
    return count;
}

uint32_t reason_help_suggestions(const struct core *core, task_id id, const struct explanation *why,
                                 struct arena *arena, const char *ret[SUGGESTIONS_MAX])
{
    const enum reason_code code = why->reason.code;
    if (code == REASON_OVER_LIMIT || code == REASON_OVER_GUARANTEE || code == REASON_USER_CAP ||
        code == REASON_OVER_SHARE) {
        return bound_suggestions(core, why, arena, ret);
    }
    ret[0] = command(core, id, why, arena);
    return ret[0] != NULL ? 1 : room_suggestions(core, id, why, arena, ret);
}
