/* reason_names.c - see reason_names.h. Surprising: the tasks of a pool or an account are found by a
 * look at every task. A refusal of a deletion is rare, and an index for it alone would cost every
 * task. SPDX-License-Identifier: Apache-2.0 */
#include "wire/reason_names.h"

#include "base/must.h"
#include "base/name.h"
#include "base/suggest.h"

#include <inttypes.h>
#include <string.h>

enum {
    SHOWN_MAX = 8,     /* names in one list */
    LOOKED_MAX = 1000, /* nodes whose labels are read */
};

/* The first names of a list, as people sort them, and the one that was perhaps meant. */
struct first_names {
    const char *at[SHOWN_MAX];
    uint32_t shown;
    uint32_t all;
    struct suggest suggest;
};

static void names_add(struct first_names *names, const char *name)
{
    suggest_offer(&names->suggest, name);
    names->all++;
    uint32_t i = names->shown < SHOWN_MAX ? names->shown++ : SHOWN_MAX - 1;
    if (names->all > SHOWN_MAX && name_order(names->at[i], name) <= 0) {
        return;
    }
    for (; i > 0 && name_order(names->at[i - 1], name) > 0; i--) {
        names->at[i] = names->at[i - 1];
    }
    names->at[i] = name;
}

/* Ends a list of `shown` out of `all` names. */
static void rest_add(uint32_t shown, uint32_t all, struct buf *out)
{
    if (all > shown) {
        buf_addf(out, " and %u more", all - shown);
    }
}

static void names_list(const struct first_names *names, const char *before, struct buf *out)
{
    for (uint32_t i = 0; i < names->shown; i++) {
        buf_addf(out, "%s%s", i == 0 ? before : ", ", names->at[i]);
    }
    rest_add(names->shown, names->all, out);
}

static void count_add(uint32_t count, const char *what, struct buf *out)
{
    buf_addf(out, "%u %s%s", count, what, count == 1 ? "" : "s");
}

/* ---- in use ---- */

static bool task_uses(const struct task *task, const struct reason *reason)
{
    return reason->pool.v != 0 ? task->pool.v == reason->pool.v
                               : task->account.v == reason->account.v;
}

static void tasks_add(const struct core *core, const struct reason *reason, struct buf *out)
{
    uint32_t shown = 0;
    count_add(reason->need, "task", out);
    if (reason->task.v != 0) {
        buf_addf(out, ", the first of which is %" PRIu64, reason->task.v);
        return;
    }
    const struct task *task = query_task_next(core, (task_id){0});
    for (; task != NULL && shown < SHOWN_MAX; task = query_task_next(core, task->id)) {
        if (task_uses(task, reason)) {
            buf_addf(out, "%s%" PRIu64, shown == 0 ? ": " : ", ", task->id.v);
            shown++;
        }
    }
    rest_add(shown, reason->need, out);
}

static void nodes_add(const struct core *core, const struct reason *reason, struct buf *out)
{
    struct first_names names = {0};
    count_add(reason->need, "node", out);
    const struct node *node = query_pool_node_next(core, reason->pool, (node_id){0});
    for (; node != NULL; node = query_pool_node_next(core, reason->pool, node->id)) {
        names_add(&names, query_node_name(core, node->id));
    }
    names_list(&names, ": ", out);
}

static void instances_add(const struct core *core, const struct reason *reason, struct buf *out)
{
    uint32_t shown = 0;
    struct attempt_key cursor = {0};
    count_add(reason->need, "instance", out);
    const struct instance *instance = query_node_instance_next(core, reason->node, &cursor);
    for (; instance != NULL && shown < SHOWN_MAX;
         instance = query_node_instance_next(core, reason->node, &cursor)) {
        buf_addf(out, "%s%" PRIu64 ".%u", shown == 0 ? ": " : ", ", cursor.task.v, cursor.index);
        shown++;
    }
    rest_add(shown, reason->need, out);
}

void reason_names_uses(const struct core *core, const struct reason *reason, struct buf *out)
{
    const struct pool *pool = query_pool(core, reason->pool);
    if (reason->node.v != 0) {
        instances_add(core, reason, out);
    } else if (pool != NULL && pool->node_count > 0 && reason->task.v == 0 && reason->have == 0) {
        nodes_add(core, reason, out);
    } else if (pool != NULL && pool->task_count == 0) {
        count_add(reason->need, "node", out);
        buf_add_str(out, " that its provider was asked for");
    } else {
        tasks_add(core, reason, out);
    }
}

/* ---- what would be accepted ---- */

static void nodes_look(const struct core *core, struct first_names *names)
{
    const struct node *node = query_node_next(core, (node_id){0});
    for (; node != NULL; node = query_node_next(core, node->id)) {
        if (node->state != NODE_REMOVED) {
            names_add(names, query_node_name(core, node->id));
        }
    }
}

static void pools_look(const struct core *core, struct first_names *names)
{
    const struct pool *pool = query_pool_next(core, (pool_id){0});
    for (; pool != NULL; pool = query_pool_next(core, pool->id)) {
        if (!pool->deleted) {
            names_add(names, query_pool_name(core, pool->id));
        }
    }
}

static void accounts_look(const struct core *core, enum account_kind kind,
                          struct first_names *names)
{
    const struct account *account = query_account_next(core, (account_id){0});
    for (; account != NULL; account = query_account_next(core, account->id)) {
        if (account->kind == kind) {
            names_add(names, query_account_name(core, account->id));
        }
    }
}

static void flavors_look(const struct core *core, struct first_names *names)
{
    const struct flavor *flavor = query_flavor_next(core, (flavor_id){0});
    for (; flavor != NULL; flavor = query_flavor_next(core, flavor->id)) {
        names_add(names, query_flavor_name(core, flavor->id));
    }
}

static void networks_look(const struct core *core, struct first_names *names)
{
    const struct network *network = query_network_next(core, (network_id){0});
    for (; network != NULL; network = query_network_next(core, network->id)) {
        names_add(names, query_network_name(core, network->id));
    }
}

static struct first_names look(const struct core *core, enum reason_named kind, const char *asked)
{
    struct first_names names = {0};
    suggest_init(&names.suggest, str_of(asked));
    switch (kind) {
    case REASON_NAMED_NODE:
        nodes_look(core, &names);
        break;
    case REASON_NAMED_POOL:
        pools_look(core, &names);
        break;
    case REASON_NAMED_PROJECT:
        accounts_look(core, ACCOUNT_PROJECT, &names);
        break;
    case REASON_NAMED_DEPARTMENT:
        accounts_look(core, ACCOUNT_DEPARTMENT, &names);
        break;
    case REASON_NAMED_FLAVOR:
        flavors_look(core, &names);
        break;
    case REASON_NAMED_NETWORK:
        networks_look(core, &names);
        break;
    }
    return names;
}

void reason_names_all(const struct core *core, enum reason_named kind, const char *asked,
                      struct buf *out)
{
    const struct first_names names = look(core, kind, asked);
    names_list(&names, "; there are: ", out);
    if (names.all == 0) {
        buf_add_str(out,
                    kind == REASON_NAMED_NODE ? "; no node has joined yet" : "; there is none");
    }
    if (names.suggest.best != NULL) {
        buf_addf(out, "; did you mean '%s'?", names.suggest.best);
    }
}

const char *reason_names_meant(const struct core *core, enum reason_named kind, const char *asked)
{
    return look(core, kind, asked).suggest.best;
}

void reason_names_children(const struct core *core, const char *department, struct buf *out)
{
    struct first_names names = {0};
    const struct account *parent = query_account_named(core, ACCOUNT_DEPARTMENT, department);
    if (parent == NULL) {
        return;
    }
    const struct account *child = query_account_child_next(core, parent->id, (account_id){0});
    for (; child != NULL; child = query_account_child_next(core, parent->id, child->id)) {
        names_add(&names, query_account_name(core, child->id));
    }
    names_list(&names, ": ", out);
}

/* Adds a label to the list if it is not there yet; false: the list is full. */
static bool label_add(const struct label *label, struct arena *arena, const char **list,
                      uint32_t *count)
{
    const char *text = arena_fmt(arena, "%s=%s", label->key, label->value);
    uint32_t at = 0;
    while (at < *count && strcmp(list[at], text) != 0) {
        at++;
    }
    if (at == *count && at < SHOWN_MAX) {
        list[(*count)++] = text;
        return true;
    }
    return at < *count;
}

void reason_names_labels(const struct core *core, pool_id pool, struct buf *out)
{
    struct arena arena;
    const char *list[SHOWN_MAX];
    uint32_t count = 0;
    bool room = true;
    arena_init(&arena);
    const struct node *node = query_pool_node_next(core, pool, (node_id){0});
    for (uint32_t looked = 0; node != NULL && looked < LOOKED_MAX && room; looked++) {
        struct node_spec spec;
        query_node_spec(core, node->id, &arena, &spec);
        for (uint32_t i = 0; i < spec.label_count && room; i++) {
            room = label_add(&spec.labels[i], &arena, list, &count);
        }
        node = query_pool_node_next(core, pool, node->id);
    }
    struct first_names names = {0};
    for (uint32_t i = 0; i < count; i++) {
        names_add(&names, list[i]);
    }
    names_list(&names, "; its nodes have ", out);
    buf_add_str(out, count == 0 ? "; its nodes have no labels" : "");
    buf_add_str(out, room && node == NULL ? "" : " and others");
    arena_done(&arena);
}
