/* reason_text.c - one sentence for every reason.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/reason_text.h"

#include "base/amount.h"
#include "base/must.h"
#include "core/state/elastic.h"
#include "wire/flavor_json.h"
#include "wire/part_json.h"
#include "wire/reason_names.h"

#include <inttypes.h>
#include <string.h>

void reason_text_amount_bare(resource_id resource, int64_t amount, struct buf *out)
{
    const bool bytes = resource.v == RESOURCE_MEMORY || resource.v == RESOURCE_GPU_MEMORY;
    char text[AMOUNT_TEXT_MAX];
    (bytes ? amount_bytes_text : amount_milli_text)(amount, text);
    buf_add_str(out, text);
}

void reason_text_amount(const struct core *core, resource_id resource, int64_t amount,
                        struct buf *out)
{
    reason_text_amount_bare(resource, amount, out);
    if (resource.v == RESOURCE_MEMORY) {
        buf_add_str(out, " of memory");
    } else if (resource.v == RESOURCE_GPU_MEMORY) {
        buf_add_str(out, " of GPU memory");
    } else if (resource.v == RESOURCE_SLOTS) {
        buf_add_str(out, amount == SLOT_MILLI ? " slot" : " slots");
    } else {
        buf_addf(out, " %s", query_resource_name(core, resource));
    }
}

/* What the sentence of a reason says. */
enum { PLAIN = 0, AMOUNT = 1, ACTS = 2, AMOUNT_ACTS = AMOUNT | ACTS };

static const struct {
    const char *sentence;
    const char *path;
    enum err failure;
    unsigned traits;
} reasons[REASON_COUNT] = {
    [REASON_NONE] = {"", "", ERR_CONFLICT, PLAIN},
#define REASON(code, traits, failure, path, sentence)                                              \
    [REASON_##code] = {(sentence), (path), ERR_##failure, (traits)},
#include "wire/reasons.def"
};

bool reason_text_has_amount(enum reason_code code)
{
    return (reasons[code].traits & AMOUNT) != 0;
}

enum err reason_text_err(enum reason_code code)
{
    must((unsigned)code < REASON_COUNT);
    return reasons[code].failure;
}

const char *reason_text_path(const struct core *core, const struct reason *reason,
                             struct arena *arena)
{
    must((unsigned)reason->code < REASON_COUNT);
    const char *path = reasons[reason->code].path;
    return strcmp(path, "resources.") != 0
               ? path
               : arena_fmt(arena, "resources.%s", reason_text_resource(core, reason));
}

const char *reason_text_resource(const struct core *core, const struct reason *reason)
{
    bool unknown = reason->code == REASON_UNKNOWN_RESOURCE && reason->text[0] != '\0';
    return unknown ? reason->text : query_resource_name(core, reason->resource);
}

/* Why a rollout stopped, in words. */
static const char *rollout_words(const char *why)
{
    if (strcmp(why, names_rollout_why(ROLLOUT_NO_PLACE)) == 0) {
        return "its next instance found no place in time (an update with --old-first needs no room "
               "for "
               "one more instance)";
    }
    return strcmp(why, names_rollout_why(ROLLOUT_FAILED)) == 0
               ? "an instance of the new task failed for good"
               : "its next instance was not ready in time";
}

/* Writes the value of one placeholder, the word between the braces. */
static void word_add(const struct core *core, const struct reason *reason, struct str word,
                     struct buf *out)
{
    if (str_is(word, "pool")) {
        buf_add_str(out, query_pool_name(core, reason->pool));
    } else if (str_is(word, "of_pool")) {
        if (reason->pool.v != 0) {
            buf_addf(out, " of pool '%s'", query_pool_name(core, reason->pool));
        }
    } else if (str_is(word, "the_pool")) {
        const bool named = reason->pool.v != 0;
        buf_addf(out, named ? "pool '%s'" : "the pool%s",
                 named ? query_pool_name(core, reason->pool) : "");
    } else if (str_is(word, "account")) {
        const struct account *account = query_account(core, reason->account);
        buf_addf(out, "%s '%s'", account != NULL ? names_account_kind(account->kind) : "account",
                 query_account_name(core, reason->account));
    } else if (str_is(word, "node")) {
        buf_add_str(out, query_node_name(core, reason->node));
    } else if (str_is(word, "text")) {
        buf_add_str(out, reason->text);
    } else if (str_is(word, "task")) {
        buf_addf(out, "%" PRIu64, reason->task.v);
    } else if (str_is(word, "of_project")) {
        const struct task *task = query_task(core, reason->task);
        if (task != NULL) {
            buf_addf(out, " of project '%s'", query_account_name(core, task->account));
        }
    } else if (str_is(word, "rollout")) {
        buf_add_str(out, rollout_words(reason->text));
    } else if (str_is(word, "provider")) {
        const char *said = query_pool_refusal(query_pool(core, reason->pool));
        buf_add_str(out, said[0] != '\0' ? said : "it gave no reason");
    } else if (str_is(word, "market")) {
        flavor_json_text(core, query_pool(core, reason->pool), out);
    } else if (str_is(word, "have")) {
        buf_addf(out, "%u", reason->have);
    } else if (str_is(word, "are")) {
        buf_add_str(out, reason->have == 1 ? "is" : "are");
    } else if (str_is(word, "need")) {
        buf_addf(out, "%u", reason->need);
    } else if (str_is(word, "uses")) {
        reason_names_uses(core, reason, out);
    } else if (str_is(word, "count")) {
        buf_addf(out, "%" PRId64, reason->available);
    } else if (str_is(word, "resource")) {
        buf_add_str(out, reason_text_resource(core, reason));
    } else if (str_is(word, "wanted")) {
        reason_text_amount(core, reason->resource, reason->wanted, out);
    } else if (str_is(word, "smallest")) {
        reason_text_amount(core, reason->resource, reason->smallest, out);
    } else if (str_is(word, "free")) {
        reason_text_amount(core, reason->resource, reason->available, out);
    } else {
        must(str_is(word, "available"));
        reason_text_amount_bare(reason->resource, reason->available, out);
    }
}

void reason_text_fill(const struct core *core, const struct reason *reason, const char *sentence,
                      struct buf *out)
{
    struct str rest = str_of(sentence);
    while (rest.p != NULL) {
        struct str plain = str_cut(rest, '{', &rest);
        buf_add(out, plain.p, plain.len);
        if (rest.p != NULL) {
            word_add(core, reason, str_cut(rest, '}', &rest), out);
        }
    }
}

/* True when two names differ by one letter: added, dropped or changed. */
static bool name_near(const char *a, const char *b)
{
    size_t a_len = strlen(a);
    size_t b_len = strlen(b);
    size_t same = 0;
    while (a[same] != '\0' && a[same] == b[same]) {
        same++;
    }
    return (a_len == b_len && strcmp(a + same + 1, b + same + 1) == 0) ||
           (a_len == b_len + 1 && strcmp(a + same + 1, b + same) == 0) ||
           (a_len + 1 == b_len && strcmp(a + same, b + same + 1) == 0);
}

enum { NAMES_SHOWN_MAX = 10 };

/* Lists the existing resources, and the one that was perhaps meant. */
static void resources_add(const struct core *core, const struct reason *reason, struct buf *out)
{
    const char *asked = reason_text_resource(core, reason);
    const char *meant = NULL;
    uint32_t shown = 0;
    for (uint32_t i = RESOURCE_NAMED_FIRST; i < query_resource_count(core); i++) {
        const char *name = query_resource_name(core, (resource_id){(uint16_t)i});
        if (strcmp(name, asked) == 0) {
            continue;
        }
        meant = meant == NULL && name_near(asked, name) ? name : meant;
        if (shown < NAMES_SHOWN_MAX) {
            buf_addf(out, "%s%s", shown == 0 ? "; there are: " : ", ", name);
        } else if (shown == NAMES_SHOWN_MAX) {
            buf_add_str(out, " and more");
        }
        shown++;
    }
    if (meant != NULL) {
        buf_addf(out, "; did you mean '%s'?", meant);
    }
}

/* A refusal of an unknown name lists the names that there are. */
static void unknown_add(const struct core *core, const struct reason *reason, struct buf *out)
{
    static const struct {
        enum reason_code code;
        enum reason_named kind;
    } kinds[] = {
        {REASON_UNKNOWN_NODE, REASON_NAMED_NODE},
        {REASON_UNKNOWN_POOL, REASON_NAMED_POOL},
        {REASON_UNKNOWN_PROJECT, REASON_NAMED_PROJECT},
        {REASON_UNKNOWN_DEPARTMENT, REASON_NAMED_DEPARTMENT},
        {REASON_UNKNOWN_FLAVOR, REASON_NAMED_FLAVOR},
        {REASON_UNKNOWN_NETWORK, REASON_NAMED_NETWORK},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (reason->code == kinds[i].code && reason->text[0] != '\0') {
            reason_names_all(core, kinds[i].kind, reason->text, out);
        }
    }
    if (reason->code == REASON_UNKNOWN_RESOURCE) {
        resources_add(core, reason, out);
    } else if (reason->code == REASON_NOT_EMPTY) {
        reason_names_children(core, reason->text, out);
    }
}

/* Why a node takes no new work, in one word or two. */
static const char *away_word(const struct node *node)
{
    if (node->draining) {
        return "draining";
    }
    if (node->state == NODE_UP && node->pool_next.v != 0) {
        return "on its way to another pool";
    }
    const bool troubled = node->state == NODE_UP && node->troubled;
    if (node->state == NODE_UP && node->spare && !troubled) {
        return "spare";
    }
    return troubled ? "out of service" : names_node_state((enum node_state)node->state);
}

/* Writes which devices of the node are out of service: "has GPU 1 and GPU 3 out of service". */
static void devices_out_add(const struct node *node, struct buf *out)
{
    const char *before = "has";
    for (uint64_t bits = node->devices_out; bits != 0; bits &= bits - 1) {
        buf_addf(out, "%s GPU %d", before, __builtin_ctzll(bits));
        before = " and";
    }
    buf_add_str(out, " out of service");
}

/* Lists the nodes of the pool that take no new work, and the nodes with devices out of service,
 * each with what is so: ": n1 is draining, n2 has GPU 1 out of service". */
static void away_add(const struct core *core, const struct reason *reason, struct buf *out)
{
    uint32_t shown = 0;
    for (const struct node *node = query_pool_node_next(core, reason->pool, (node_id){0});
         node != NULL; node = query_pool_node_next(core, reason->pool, node->id)) {
        if (node_takes_work(node) && node->devices_out == 0) {
            continue;
        }
        if (shown == NAMES_SHOWN_MAX) {
            buf_add_str(out, " and more");
            return;
        }
        buf_addf(out, "%s%s ", shown == 0 ? ": " : ", ", query_node_name(core, node->id));
        if (node_takes_work(node)) {
            devices_out_add(node, out);
        } else {
            buf_addf(out, "is %s", away_word(node));
        }
        shown++;
    }
}

/* A task that waits for room in a pool whose provider may bring up no more nodes: says so. */
static void full_add(const struct core *core, const struct reason *reason, struct buf *out)
{
    const struct pool *pool = query_pool(core, reason->pool);
    const bool room = reason->code == REASON_NO_ROOM || reason->code == REASON_GANG_SHORT ||
                      reason->code == REASON_POOL_EMPTY;
    if (room && pool != NULL && elastic_pool(pool) && pool->launch_live >= pool->nodes_max) {
        buf_addf(out, "; the pool is at its maximum of %u node%s", pool->nodes_max,
                 pool->nodes_max == 1 ? "" : "s");
    }
}

/* Returns the sentence of the code, or the sentence of a special case. */
static const char *sentence_of(const struct reason *reason)
{
    if (reason->code == REASON_LOST_AGAIN && reason->need == 0) {
        return "was lost with its node or supervisor {have} times within an hour, and waits before "
               "the next try";
    }
    if (reason->code == REASON_RESTARTS && reason->text[0] != '\0') {
        return reason->need == 0
                   ? "its health check failed too often; waits before start {have} in a row"
                   : "its health check failed too often; waits before start {have} of {need} in a "
                     "row";
    }
    if (reason->code == REASON_RESTARTS && reason->need == 0) {
        return "its program ended; waits before start {have} in a row";
    }
    if (reason->code == REASON_TOO_LARGE && reason->have > 0) {
        return "asks for {wanted}; the nodes of pool '{pool}' together have {available}";
    }
    if (reason->code == REASON_UNKNOWN_TASK && reason->text[0] != '\0') {
        return "depends on task '{text}', which was refused";
    }
    if (reason->code == REASON_NODES_AWAY && reason->need == 1 && reason->have == 0) {
        return "the only node that could take the task is silent, lost, draining or out of service";
    }
    if (reason->code == REASON_NO_DEVICES && reason->need > 0 && reason->have > 0) {
        return "asks for parts of {need} devices of one node; no node{of_pool} has more than "
               "{have}";
    }
    if (reason->code == REASON_POOL_DELETED && reason->text[0] != '\0') {
        return "pool '{pool}' was deleted, and its name is kept; `weir pool restore {pool}` brings "
               "it back, `weir pool delete {pool} --now` frees the name";
    }
    return reasons[reason->code].sentence;
}

void reason_text(const struct core *core, const struct reason *reason, struct buf *out)
{
    must((unsigned)reason->code < REASON_COUNT);
    if (reason->code == REASON_WRONG_STATE && (reason->pool.v != 0 || reason->account.v != 0)) {
        const bool pool = reason->pool.v != 0;
        const bool own = pool && strcmp(reason->text, query_pool_name(core, reason->pool)) == 0;
        reason_text_fill(
            core, reason,
            own    ? "pool '{pool}' cannot be closed or deleted: it takes the tasks and nodes that "
                     "name no pool"
            : pool ? "pool '{pool}' is {text}: its nodes are the agents that were started by hand"
                   : "{account} cannot be moved or deleted: tasks and projects that name no other "
                     "are in it",
            out);
        return;
    }
    if (reason->running > 0) {
        buf_addf(out, "%u of %u instances run%s; ", reason->running, reason->all,
                 reason->running == 1 ? "s" : "");
    }
    if (reason->group[0] != '\0') {
        const bool does = (reasons[reason->code].traits & ACTS) != 0;
        buf_addf(out, "%s '%s'%s ", does ? "its group" : "group", reason->group, does ? "" : ":");
    }
    reason_text_fill(core, reason, sentence_of(reason), out);
    bool amount = reason->code == REASON_TOO_LARGE || reason->code == REASON_COMBINATION;
    if (amount && reason->smallest > 0) {
        reason_text_fill(core, reason, "; with {smallest} it would be accepted", out);
    }
    if (reason->code == REASON_IN_USE && reason->have == 1) {
        buf_add_str(out, "; --force makes the tasks unavailable");
    }
    unknown_add(core, reason, out);
    if (reason->code == REASON_NODES_AWAY) {
        away_add(core, reason, out);
    } else if (reason->code == REASON_OTHER_LABELS) {
        reason_names_labels(core, reason->pool, out);
    } else if (reason->code == REASON_NO_DEVICES && reason->have > 0 && reason->need == 0) {
        buf_addf(out, "; the highest index there is %u", reason->have - 1);
    }
    if (reason->away.v != 0) {
        buf_addf(out, "; node %s has room, but is %s", query_node_name(core, reason->away),
                 away_word(query_node(core, reason->away)));
    }
    full_add(core, reason, out);
    if (reason->code == REASON_DEPENDENCY && reason->need > 1) {
        buf_addf(out, ", and for %u more", reason->need - 1);
    }
}

/* Writes an amount in its unit, or a plain count. */
static void amount_json(struct json_out *j, const char *key, const struct reason *reason,
                        int64_t amount)
{
    if (reason_text_has_amount(reason->code)) {
        part_json_amount(j, key, reason->resource, amount);
    } else {
        json_out_kv_i64(j, key, amount);
    }
}

void reason_text_json(struct json_out *j, const struct core *core, const struct reason *reason)
{
    if (reason->code == REASON_NONE) {
        json_out_null(j);
        return;
    }
    struct buf message;
    buf_init(&message, REASON_TEXT_MAX);
    reason_text(core, reason, &message);
    json_out_put(j, "{code:%s,message:%s", names_reason(reason->code), buf_text(&message));
    json_out_kv_text(j, "resource",
                     reason_text_has_amount(reason->code) ? reason_text_resource(core, reason)
                                                          : NULL);
    amount_json(j, "wanted", reason, reason->wanted);
    amount_json(j, "available", reason, reason->available);
    if (reason->smallest < 0) {
        json_out_kv_text(j, "smallest", NULL);
    } else {
        amount_json(j, "smallest", reason, reason->smallest);
    }
    json_out_kv_text(j, "node", reason->node.v != 0 ? query_node_name(core, reason->node) : NULL);
    json_out_kv_text(j, "away", reason->away.v != 0 ? query_node_name(core, reason->away) : NULL);
    json_out_put(j, "task:%zu,have:%u,need:%u,until:%td", reason->task.v, reason->have,
                 reason->need, reason->until_ms);
    if (reason->group[0] != '\0') {
        json_out_kv_text(j, "group", reason->group);
    }
    json_out_end(j);
    buf_done(&message);
}
