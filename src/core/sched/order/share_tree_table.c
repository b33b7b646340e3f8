/* share_tree_table.c - the places of views in a share tree, and the tree of accounts: parents, children from the oldest to the youngest, and what a
 * parent has promised.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/must.h"
#include "core/sched/order/share_tree.h"
#include "core/sched/order/share_tree_internal.h"

enum { ROOM_FIRST = 16 };

/* ---- memory ---- */

static void levels_free(struct share_tree_entry *entry)
{
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX && entry->levels != NULL; dim++) {
        level_done(&entry->levels[dim]);
    }
    free(entry->levels);
    entry->levels = NULL;
}

/* Removes all accounts. The memory of views stays. */
void share_tree_table_clear(struct share_tree *tree)
{
    for (uint32_t i = 0; i < tree->shares.count; i++) {
        levels_free(&tree->entries[i]);
    }
    levels_free(&tree->top);
    tree->top = (struct share_tree_entry){.child_last = SHARES_NONE};
    tree->shares.count = 0;
    tree->shares.top_first = SHARES_NONE;
    vec_clear(&tree->spare);
    vec_clear(&tree->dirty);
    vec_clear(&tree->accounts);
    for (uint32_t depth = 0; depth <= ACCOUNT_DEPTH_MAX; depth++) {
        vec_clear(&tree->stale[depth]);
    }
}

void share_tree_table_free(struct share_tree *tree)
{
    share_tree_table_clear(tree);
    free(tree->shares.views);
    free(tree->shares.links);
    free(tree->shares.held);
    free(tree->shares.keys);
    free(tree->shares.rich);
    free(tree->now);
    free(tree->entries);
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        free(tree->seats[dim]);
    }
    vec_done(&tree->spare);
    vec_done(&tree->dirty);
    vec_done(&tree->changed);
    vec_done(&tree->accounts);
    for (uint32_t depth = 0; depth <= ACCOUNT_DEPTH_MAX; depth++) {
        vec_done(&tree->stale[depth]);
    }
    free(tree);
}

struct share_tree *share_tree_table_new(pool_id pool)
{
    struct share_tree *tree = xcalloc(1, sizeof *tree);
    tree->pool = pool;
    tree->shares.tree = tree;
    share_tree_table_clear(tree);
    return tree;
}

/* Doubles the room. Views refer to their parents by address, so the addresses are set anew. */
static void tree_grow(struct share_tree *tree)
{
    struct shares *shares = &tree->shares;
    const uint32_t room = tree->room == 0 ? ROOM_FIRST : tree->room * 2;
    struct account_view *views = xcalloc(room, sizeof *views);
    struct account_view *now = xcalloc(room, sizeof *now);
    for (uint32_t i = 0; i < tree->room; i++) {
        views[i] = shares->views[i];
        now[i] = tree->now[i];
        if (views[i].parent != NULL) {
            const uint32_t above = views[i].parent->index;
            views[i].parent = &views[above];
            now[i].parent = &now[above];
        }
    }
    free(shares->views);
    free(tree->now);
    shares->views = views;
    tree->now = now;
    shares->links = xrealloc(shares->links, room, sizeof *shares->links);
    shares->held = xrealloc(shares->held, room, sizeof *shares->held);
    shares->keys = xrealloc(shares->keys, room, sizeof *shares->keys);
    shares->rich = xrealloc(shares->rich, room, sizeof *shares->rich);
    tree->entries = xrealloc(tree->entries, room, sizeof *tree->entries);
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        tree->seats[dim] = xrealloc(tree->seats[dim], room, sizeof *tree->seats[dim]);
    }
    tree->room = room;
}

static uint32_t place_new(struct share_tree *tree)
{
    uint32_t index = tree->shares.count;
    if (tree->spare.count > 0) {
        index = tree->spare.at[--tree->spare.count];
    } else {
        if (index == tree->room) {
            tree_grow(tree);
        }
        tree->shares.count++;
    }
    tree->entries[index] = (struct share_tree_entry){.child_last = SHARES_NONE};
    tree->shares.views[index] = (struct account_view){.index = index};
    tree->shares.keys[index] = (struct account_order_kept){.known = false};
    tree->shares.rich[index] = false;
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        tree->seats[dim][index] = (struct level_seat){.taken = false};
    }
    return index;
}

static struct share_tree_account *account_at(struct share_tree *tree, uint32_t id)
{
    while (tree->accounts.count <= id) {
        vec_push(&tree->accounts, ((struct share_tree_account){.place = 0}));
    }
    return &tree->accounts.at[id];
}

struct account_view *share_tree_table_view(const struct share_tree *tree, account_id account)
{
    const uint32_t place =
        account.v < tree->accounts.count ? tree->accounts.at[account.v].place : 0;
    return place == 0 ? NULL : &tree->shares.views[place - 1];
}

void share_tree_table_touch(struct share_tree *tree, uint32_t id)
{
    struct share_tree_account *account = account_at(tree, id);
    if (!account->dirty) {
        account->dirty = true;
        vec_push(&tree->dirty, id);
    }
}

/* ---- the tree ---- */

struct share_tree_entry *share_tree_table_above(struct share_tree *tree,
                                                const struct account_view *view)
{
    return view->parent == NULL ? &tree->top : &tree->entries[view->parent->index];
}

static uint32_t *child_first(struct share_tree *tree, const struct account_view *view)
{
    return view->parent == NULL ? &tree->shares.top_first
                                : &tree->shares.links[view->parent->index].child_first;
}

/* The oldest sibling that is younger than the account; SHARES_NONE: there is none. Mostly the new account is the youngest, or the next
 * account of the pool is a sibling. */
static uint32_t sibling_younger(struct share_tree *tree, const struct account_view *view)
{
    const struct shares_link *links = tree->shares.links;
    const uint32_t last = share_tree_table_above(tree, view)->child_last;
    const account_id id = links[view->index].id;
    if (last == SHARES_NONE || links[last].id.v < id.v) {
        return SHARES_NONE;
    }
    for (uint32_t at = id.v + 1; at < tree->accounts.count; at++) {
        const uint32_t place = tree->accounts.at[at].place;
        if (place != 0 && tree->shares.views[place - 1].parent == view->parent) {
            return place - 1;
        }
    }
    must(false); /* the youngest sibling is younger, so the loop meets a sibling */
    return SHARES_NONE;
}

static void siblings_link(struct share_tree *tree, const struct account_view *view)
{
    struct shares_link *links = tree->shares.links;
    struct share_tree_entry *above = share_tree_table_above(tree, view);
    const uint32_t younger = sibling_younger(tree, view);
    const uint32_t older =
        younger == SHARES_NONE ? above->child_last : tree->entries[younger].sibling_before;
    links[view->index].sibling_next = younger;
    tree->entries[view->index].sibling_before = older;
    *(younger == SHARES_NONE ? &above->child_last : &tree->entries[younger].sibling_before) =
        view->index;
    *(older == SHARES_NONE ? child_first(tree, view) : &links[older].sibling_next) = view->index;
}

static void siblings_unlink(struct share_tree *tree, const struct account_view *view)
{
    struct shares_link *links = tree->shares.links;
    const uint32_t younger = links[view->index].sibling_next;
    const uint32_t older = tree->entries[view->index].sibling_before;
    *(younger == SHARES_NONE ? &share_tree_table_above(tree, view)->child_last
                             : &tree->entries[younger].sibling_before) = older;
    *(older == SHARES_NONE ? child_first(tree, view) : &links[older].sibling_next) = younger;
}

/* Adds the guarantee of an account to what its parent has promised, or subtracts it. */
static void promise_move(struct share_tree *tree, const struct account_view *view, int sign)
{
    if (view->parent == NULL) {
        return;
    }
    const uint32_t above = view->parent->index;
    struct share_tree_entry *entry = &tree->entries[above];
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        const int64_t more = view->guaranteed.at[dim];
        if (more == VECTOR_UNLIMITED) {
            entry->unlimited[dim] = (uint32_t)((int64_t)entry->unlimited[dim] + sign);
        } else {
            entry->promised[dim] += sign * (__int128)more;
        }
        const bool unlimited = entry->unlimited[dim] > 0 || entry->promised[dim] > INT64_MAX;
        const int64_t sum = unlimited ? VECTOR_UNLIMITED : (int64_t)entry->promised[dim];
        tree->shares.views[above].promised.at[dim] = sum;
        tree->now[above].promised.at[dim] = sum;
    }
}

/* ---- views ---- */

struct account_view *share_tree_table_place(struct share_tree *tree, const struct account *account)
{
    const uint32_t index = place_new(tree);
    struct account_view *view = &tree->shares.views[index];
    account_at(tree, account->id.v)->place = index + 1;
    view->parent = account->parent.v == 0 ? NULL : share_tree_table_view(tree, account->parent);
    must(view->parent != NULL || account->parent.v == 0);
    must(account->depth > 0);
    must(account->depth <= ACCOUNT_DEPTH_MAX);
    view->depth = account->depth - 1;
    view->order = account->id.v;
    tree->shares.links[index] =
        (struct shares_link){account->id, account->parent, SHARES_NONE, SHARES_NONE};
    return view;
}

void share_tree_table_link(struct share_tree *tree, const struct account_view *view)
{
    siblings_link(tree, view);
    promise_move(tree, view, 1);
}

void share_tree_table_remove(struct share_tree *tree, const struct account_view *view)
{
    must(tree->shares.links[view->index].child_first == SHARES_NONE);
    promise_move(tree, view, -1);
    siblings_unlink(tree, view);
    levels_free(&tree->entries[view->index]);
    tree->entries[view->index].stale = 0;
    account_at(tree, tree->shares.links[view->index].id.v)->place = 0;
    vec_push(&tree->spare, view->index);
}
