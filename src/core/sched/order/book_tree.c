/* book_tree.c - the places of views in a book, and the tree of accounts: parents, children from the oldest to the youngest, and what a
 * parent has promised.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/must.h"
#include "core/sched/order/book.h"
#include "core/sched/order/book_internal.h"

enum { ROOM_FIRST = 16 };

/* ---- memory ---- */

static void levels_free(struct book_entry *entry)
{
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX && entry->levels != NULL; dim++) {
        level_done(&entry->levels[dim]);
    }
    free(entry->levels);
    entry->levels = NULL;
}

/* Removes all accounts. The memory of views stays. */
void book_tree_clear(struct book *book)
{
    for (uint32_t i = 0; i < book->shares.count; i++) {
        levels_free(&book->entries[i]);
    }
    levels_free(&book->top);
    book->top = (struct book_entry){.child_last = SHARES_NONE};
    book->shares.count = 0;
    book->shares.top_first = SHARES_NONE;
    vec_clear(&book->spare);
    vec_clear(&book->dirty);
    vec_clear(&book->accounts);
    for (uint32_t depth = 0; depth <= ACCOUNT_DEPTH_MAX; depth++) {
        vec_clear(&book->stale[depth]);
    }
}

void book_tree_free(struct book *book)
{
    book_tree_clear(book);
    free(book->shares.views);
    free(book->shares.links);
    free(book->shares.held);
    free(book->shares.keys);
    free(book->shares.rich);
    free(book->now);
    free(book->entries);
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        free(book->seats[dim]);
    }
    vec_done(&book->spare);
    vec_done(&book->dirty);
    vec_done(&book->changed);
    vec_done(&book->accounts);
    for (uint32_t depth = 0; depth <= ACCOUNT_DEPTH_MAX; depth++) {
        vec_done(&book->stale[depth]);
    }
    free(book);
}

struct book *book_tree_new(pool_id pool)
{
    struct book *book = xcalloc(1, sizeof *book);
    book->pool = pool;
    book->shares.book = book;
    book_tree_clear(book);
    return book;
}

/* Doubles the room. Views refer to their parents by address, so the addresses are set anew. */
static void book_grow(struct book *book)
{
    struct shares *shares = &book->shares;
    const uint32_t room = book->room == 0 ? ROOM_FIRST : book->room * 2;
    struct account_view *views = xcalloc(room, sizeof *views);
    struct account_view *now = xcalloc(room, sizeof *now);
    for (uint32_t i = 0; i < book->room; i++) {
        views[i] = shares->views[i];
        now[i] = book->now[i];
        if (views[i].parent != NULL) {
            const uint32_t above = views[i].parent->index;
            views[i].parent = &views[above];
            now[i].parent = &now[above];
        }
    }
    free(shares->views);
    free(book->now);
    shares->views = views;
    book->now = now;
    shares->links = xrealloc(shares->links, room, sizeof *shares->links);
    shares->held = xrealloc(shares->held, room, sizeof *shares->held);
    shares->keys = xrealloc(shares->keys, room, sizeof *shares->keys);
    shares->rich = xrealloc(shares->rich, room, sizeof *shares->rich);
    book->entries = xrealloc(book->entries, room, sizeof *book->entries);
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        book->seats[dim] = xrealloc(book->seats[dim], room, sizeof *book->seats[dim]);
    }
    book->room = room;
}

static uint32_t place_new(struct book *book)
{
    uint32_t index = book->shares.count;
    if (book->spare.count > 0) {
        index = book->spare.at[--book->spare.count];
    } else {
        if (index == book->room) {
            book_grow(book);
        }
        book->shares.count++;
    }
    book->entries[index] = (struct book_entry){.child_last = SHARES_NONE};
    book->shares.views[index] = (struct account_view){.index = index};
    book->shares.keys[index] = (struct account_order_kept){.known = false};
    book->shares.rich[index] = false;
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        book->seats[dim][index] = (struct level_seat){.taken = false};
    }
    return index;
}

static struct book_account *account_at(struct book *book, uint32_t id)
{
    while (book->accounts.count <= id) {
        vec_push(&book->accounts, ((struct book_account){.place = 0}));
    }
    return &book->accounts.at[id];
}

struct account_view *book_tree_view(const struct book *book, account_id account)
{
    const uint32_t place =
        account.v < book->accounts.count ? book->accounts.at[account.v].place : 0;
    return place == 0 ? NULL : &book->shares.views[place - 1];
}

void book_tree_touch(struct book *book, uint32_t id)
{
    struct book_account *account = account_at(book, id);
    if (!account->dirty) {
        account->dirty = true;
        vec_push(&book->dirty, id);
    }
}

/* ---- the tree ---- */

struct book_entry *book_tree_above(struct book *book, const struct account_view *view)
{
    return view->parent == NULL ? &book->top : &book->entries[view->parent->index];
}

static uint32_t *child_first(struct book *book, const struct account_view *view)
{
    return view->parent == NULL ? &book->shares.top_first
                                : &book->shares.links[view->parent->index].child_first;
}

/* The oldest sibling that is younger than the account; SHARES_NONE: there is none. Mostly the new account is the youngest, or the next
 * account of the pool is a sibling. */
static uint32_t sibling_younger(struct book *book, const struct account_view *view)
{
    const struct shares_link *links = book->shares.links;
    const uint32_t last = book_tree_above(book, view)->child_last;
    const account_id id = links[view->index].id;
    if (last == SHARES_NONE || links[last].id.v < id.v) {
        return SHARES_NONE;
    }
    for (uint32_t at = id.v + 1; at < book->accounts.count; at++) {
        const uint32_t place = book->accounts.at[at].place;
        if (place != 0 && book->shares.views[place - 1].parent == view->parent) {
            return place - 1;
        }
    }
    must(false); /* the youngest sibling is younger, so the loop meets a sibling */
    return SHARES_NONE;
}

static void siblings_link(struct book *book, const struct account_view *view)
{
    struct shares_link *links = book->shares.links;
    struct book_entry *above = book_tree_above(book, view);
    const uint32_t younger = sibling_younger(book, view);
    const uint32_t older =
        younger == SHARES_NONE ? above->child_last : book->entries[younger].sibling_before;
    links[view->index].sibling_next = younger;
    book->entries[view->index].sibling_before = older;
    *(younger == SHARES_NONE ? &above->child_last : &book->entries[younger].sibling_before) =
        view->index;
    *(older == SHARES_NONE ? child_first(book, view) : &links[older].sibling_next) = view->index;
}

static void siblings_unlink(struct book *book, const struct account_view *view)
{
    struct shares_link *links = book->shares.links;
    const uint32_t younger = links[view->index].sibling_next;
    const uint32_t older = book->entries[view->index].sibling_before;
    *(younger == SHARES_NONE ? &book_tree_above(book, view)->child_last
                             : &book->entries[younger].sibling_before) = older;
    *(older == SHARES_NONE ? child_first(book, view) : &links[older].sibling_next) = younger;
}

/* Adds the guarantee of an account to what its parent has promised, or subtracts it. */
static void promise_move(struct book *book, const struct account_view *view, int sign)
{
    if (view->parent == NULL) {
        return;
    }
    const uint32_t above = view->parent->index;
    struct book_entry *entry = &book->entries[above];
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        const int64_t more = view->guaranteed.at[dim];
        if (more == VECTOR_UNLIMITED) {
            entry->unlimited[dim] = (uint32_t)((int64_t)entry->unlimited[dim] + sign);
        } else {
            entry->promised[dim] += sign * (__int128)more;
        }
        const bool unlimited = entry->unlimited[dim] > 0 || entry->promised[dim] > INT64_MAX;
        const int64_t sum = unlimited ? VECTOR_UNLIMITED : (int64_t)entry->promised[dim];
        book->shares.views[above].promised.at[dim] = sum;
        book->now[above].promised.at[dim] = sum;
    }
}

/* ---- views ---- */

struct account_view *book_tree_place(struct book *book, const struct account *account)
{
    const uint32_t index = place_new(book);
    struct account_view *view = &book->shares.views[index];
    account_at(book, account->id.v)->place = index + 1;
    view->parent = account->parent.v == 0 ? NULL : book_tree_view(book, account->parent);
    must(view->parent != NULL || account->parent.v == 0);
    must(account->depth > 0);
    must(account->depth <= ACCOUNT_DEPTH_MAX);
    view->depth = account->depth - 1;
    view->order = account->id.v;
    book->shares.links[index] =
        (struct shares_link){account->id, account->parent, SHARES_NONE, SHARES_NONE};
    return view;
}

void book_tree_link(struct book *book, const struct account_view *view)
{
    siblings_link(book, view);
    promise_move(book, view, 1);
}

void book_tree_remove(struct book *book, const struct account_view *view)
{
    must(book->shares.links[view->index].child_first == SHARES_NONE);
    promise_move(book, view, -1);
    siblings_unlink(book, view);
    levels_free(&book->entries[view->index]);
    book->entries[view->index].stale = 0;
    account_at(book, book->shares.links[view->index].id.v)->place = 0;
    vec_push(&book->spare, view->index);
}
