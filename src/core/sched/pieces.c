/* pieces.c - pieces of running tasks, made when they are asked for.
 *
 * Surprising: in a line of equal losers the youngest is the one allocated last, and what a piece loses counts from its
 * allocation: resources are held from then on, and the state can keep that order without knowing the time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/pieces.h"

#include "base/hash.h"
#include "base/must.h"
#include "core/core_internal.h"

#include <stdlib.h>

enum { BOOK_FIRST = 64, LINES_FIRST = 8, ORDER_FIRST = 16 };

/* The pieces of a gang lie together, under index GANG_INDEX; other instances have one each. */
enum { GANG_INDEX = UINT32_MAX };

struct piece_entry {
    uint64_t task; /* 0: free */
    uint32_t index;
    uint32_t count; /* of its pieces; 0: none of it may go */
    struct piece *first;
    bool listed; /* of a gang: in the order of its project */
};

const struct instance *piece_next(const struct core *core, const struct piece *piece,
                                  const struct instance *after)
{
    if (!piece->whole) {
        return after == NULL ? core_instance(core, piece->task->id, piece->index) : NULL;
    }
    for (uint32_t i = after == NULL ? 0 : after->index + 1; i <= piece->index; i++) {
        const struct instance *instance = core_instance(core, piece->task->id, i);
        if (instance_stays(instance)) {
            return instance;
        }
    }
    return NULL;
}

/* ---- making them ---- */

static void piece_count(const struct piece_book *book, const struct instance *instance,
                        struct piece *piece)
{
    const struct core *core = book->core;
    const int64_t since_ms =
        instance->state == INSTANCE_RUNNING ? instance->started_ms : instance->allocated_ms;
    const int64_t from_ms = instance->allocated_ms;
    const int64_t held_ms = book->now_ms > from_ms ? book->now_ms - from_ms : 0;
    const int64_t held = instance->slots_milli > 0 ? instance->slots_milli : instance->cpu_milli;
    struct vector amounts;
    core_grant_vector(core, instance_request(core, instance), instance->slots_milli,
                      instance->cpu_milli, instance->memory_bytes, &amounts);
    vector_add(&piece->amounts, &amounts);
    piece->loss += (unsigned __int128)(held + 1) * (uint64_t)(held_ms + EVICTION_COST_MS);
    piece->since_ms = since_ms > piece->since_ms ? since_ms : piece->since_ms;
}

/* Instances above the minimum are pieces by themselves, the highest first; what is left of a gang is one. */
static void gang_cut(const struct piece_book *book, const struct account_view *account,
                     const struct task *task, struct piece_entry *entry)
{
    const uint32_t grown = task_grown(task);
    const uint32_t extra = grown > task->min_count ? grown - task->min_count : 0;
    uint32_t left = task->active_count - task->stopping_count;
    const uint32_t least = extra < left ? left - extra : 0;
    const uint32_t count = left - least + (least > 0);
    struct piece *pieces = arena_new(book->arena, struct piece, count);
    struct piece *whole = &pieces[count - 1];
    unsigned __int128 loss =
        0; /* those above the minimum go one after the other, whatever each would lose */
    entry->first = pieces;
    for (uint32_t i = task->instance_count; i > 0 && left > 0; i--) {
        const struct instance *instance = core_instance(book->core, task->id, i - 1);
        if (!instance_stays(instance)) {
            continue;
        }
        struct piece *piece = left > least ? &pieces[entry->count++] : whole;
        piece->task = task;
        piece->account = account;
        piece->index = piece->index < i - 1 ? i - 1 : piece->index;
        piece->extra = left > least;
        piece->whole = !piece->extra;
        piece_count(book, instance, piece);
        if (piece->extra) {
            loss = loss > piece->loss ? loss : piece->loss;
            piece->loss = loss;
        }
        left--;
    }
    entry->count = count;
}

static void entry_fill(const struct piece_book *book, const struct account_view *account,
                       const struct instance *instance, struct piece_entry *entry)
{
    const struct task *task = core_task(book->core, instance->task);
    if (task->gang) {
        gang_cut(book, account, task, entry);
        return;
    }
    entry->first = arena_new(book->arena, struct piece, 1);
    entry->count = 1;
    *entry->first = (struct piece){.task = task, .account = account, .index = instance->index};
    piece_count(book, instance, entry->first);
}

/* ---- the book ---- */

static uint32_t entry_index(const struct piece_book *book, uint64_t task, uint32_t index)
{
    uint32_t at = (uint32_t)hash_u64(task << 20 ^ index) & (book->room - 1);
    while (book->at[at].task != 0 && (book->at[at].task != task || book->at[at].index != index)) {
        at = (at + 1) & (book->room - 1);
    }
    return at;
}

static void book_grow(struct piece_book *book)
{
    const struct piece_entry *old = book->at;
    const uint32_t old_room = book->room;
    book->room = old_room == 0 ? BOOK_FIRST : old_room * 2;
    book->at = arena_new(book->arena, struct piece_entry, book->room);
    for (uint32_t i = 0; i < old_room; i++) {
        if (old[i].task != 0) {
            book->at[entry_index(book, old[i].task, old[i].index)] = old[i];
        }
    }
}

static int id_order(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* What has just been started of it cannot be told to stop yet, and a gang goes whole. */
static bool gang_busy(const struct piece_book *book, const struct task *task)
{
    return task->stopping_count > 0 ||
           (book->growing_count > 0 && bsearch(&task->id.v, book->growing, book->growing_count,
                                               sizeof(uint64_t), id_order) != NULL);
}

static struct piece_entry *book_get(struct piece_book *book, const struct account_view *account,
                                    const struct instance *instance)
{
    const struct task *task = core_task(book->core, instance->task);
    const uint32_t index = task->gang ? GANG_INDEX : instance->index;
    if ((book->count + 1) * 2 > book->room) {
        book_grow(book);
    }
    struct piece_entry *entry = &book->at[entry_index(book, task->id.v, index)];
    if (entry->task == 0) {
        *entry = (struct piece_entry){.task = task->id.v, .index = index};
        book->count++;
        if (task->preemptible && instance_stays(instance) &&
            !(task->gang && gang_busy(book, task))) {
            entry_fill(book, account, instance, entry);
        }
    }
    return entry;
}

struct piece *piece_of(struct piece_book *book, const struct account_view *account,
                       const struct instance *instance)
{
    const struct piece_entry *entry = book_get(book, account, instance);
    bool others = false; /* above the minimum, and still there */
    for (uint32_t i = 0; i < entry->count; i++) {
        struct piece *piece = &entry->first[i];
        if (piece->whole) {
            return others ? NULL : piece;
        }
        if (piece->index == instance->index) {
            return piece;
        }
        others |= !piece->taken;
    }
    return NULL;
}

/* ---- comparing ---- */

/* Who goes first: less important, above a minimum, younger. Never 0 for two pieces. */
static int by_age(const struct piece *a, const struct piece *b)
{
    if (a->task->rank != b->task->rank) {
        return a->task->rank > b->task->rank ? -1 : 1;
    }
    if (a->task->id.v != b->task->id.v) {
        return a->task->id.v > b->task->id.v ? -1 : 1;
    }
    if (a->whole != b->whole) {
        return (int)a->whole - (int)b->whole;
    }
    return a->index > b->index ? -1 : a->index < b->index;
}

static int by_importance(const struct piece *a, const struct piece *b)
{
    if (a->task->priority != b->task->priority) {
        return a->task->priority < b->task->priority ? -1 : 1;
    }
    return (int)b->extra - (int)a->extra;
}

int pieces_compare(enum pool_victims by, const struct piece *a, const struct piece *b)
{
    const int importance = by_importance(a, b);
    if (importance != 0) {
        return importance;
    }
    if (by == VICTIMS_LEAST_LOSS && a->loss != b->loss) {
        return a->loss < b->loss ? -1 : 1;
    }
    return by_age(a, b);
}

/* ---- the heap of lines ---- */

static bool line_before(const struct pieces *pieces, uint32_t a, uint32_t b)
{
    return pieces_compare(pieces->book->by, pieces->lines[a].piece, pieces->lines[b].piece) < 0;
}

static void lines_swap(struct pieces *pieces, uint32_t a, uint32_t b)
{
    const struct piece_line moved = pieces->lines[a];
    pieces->lines[a] = pieces->lines[b];
    pieces->lines[b] = moved;
}

static void line_sink(struct pieces *pieces)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < pieces->line_count;
             child++) {
            least = line_before(pieces, child, least) ? child : least;
        }
        if (least == at) {
            return;
        }
        lines_swap(pieces, at, least);
        at = least;
    }
}

static void line_add(struct pieces *pieces, struct piece_line line)
{
    if (pieces->line_count == pieces->line_room) {
        pieces->line_room = pieces->line_room == 0 ? LINES_FIRST : pieces->line_room * 2;
        struct piece_line *grown =
            arena_new(pieces->book->arena, struct piece_line, pieces->line_room);
        for (uint32_t i = 0; i < pieces->line_count; i++) {
            grown[i] = pieces->lines[i];
        }
        pieces->lines = grown;
    }
    uint32_t at = pieces->line_count++;
    pieces->lines[at] = line;
    while (at > 0 && line_before(pieces, at, (at - 1) / 2)) {
        lines_swap(pieces, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

/* ---- lines of the state ---- */

static const struct instance *loss_instance(const struct pieces *pieces, struct okey key)
{
    return instance_row(pieces->book->core, ~key.at[3]);
}

/* The first piece at `*key` or behind it in its line that may go; false: the line is at its end. */
static bool loss_step(struct pieces *pieces, struct piece_line *line, bool more)
{
    const struct oindex *order = &pieces->book->core->orders[ORDER_ACCOUNT_LOSS];
    const uint64_t class = line->key.at[1];
    for (; more && line->key.at[0] == pieces->first && line->key.at[1] == class;
         more = oindex_next(order, line->key, &line->key)) {
        line->piece = piece_of(pieces->book, pieces->account, loss_instance(pieces, line->key));
        if (line->piece != NULL) {
            return true;
        }
    }
    return false;
}

/* The gangs of the line at `key`: all pieces of each. */
static void gangs_add(struct pieces *pieces, struct okey key)
{
    const struct oindex *order = &pieces->book->core->orders[ORDER_ACCOUNT_LOSS];
    const struct okey at = key;
    do {
        struct piece_entry *entry =
            book_get(pieces->book, pieces->account, loss_instance(pieces, key));
        for (uint32_t i = 0; i < entry->count && !entry->listed; i++) {
            line_add(pieces, (struct piece_line){.kind = LINE_ONE, .piece = &entry->first[i]});
        }
        entry->listed = true;
    } while (oindex_next(order, key, &key) && key.at[0] == at.at[0] && key.at[1] == at.at[1]);
}

/* The next staying instance of the line's task, else of the next older task that is no gang. `below`: the instance asked for
 * last; of a task just met: its instance_count. */
static bool age_step(struct pieces *pieces, struct piece_line *line, uint32_t below)
{
    const struct core *core = pieces->book->core;
    const uint64_t priority = line->key.at[1];
    for (;;) {
        const struct task *task = core_task(core, (task_id){line->key.at[3]});
        for (uint32_t i = task->gang ? 0 : below; i > 0; i--) {
            line->piece =
                piece_of(pieces->book, pieces->account, core_instance(core, task->id, i - 1));
            if (line->piece != NULL) {
                return true;
            }
        }
        if (!oindex_prev(&core->orders[ORDER_ACCOUNT_HOLD], line->key, &line->key) ||
            line->key.at[0] != pieces->first || line->key.at[1] != priority) {
            return false;
        }
        below = core_task(core, (task_id){line->key.at[3]})->instance_count;
    }
}

/* The tasks of a priority by age: one line. */
static void age_add(struct pieces *pieces, uint64_t priority)
{
    const struct core *core = pieces->book->core;
    const struct okey end = {
        {pieces->first, PRIORITY_KEY((uint32_t)priority), UINT64_MAX, UINT64_MAX}};
    struct piece_line line = {.kind = LINE_BY_AGE};
    must(oindex_prev(&core->orders[ORDER_ACCOUNT_HOLD], end, &line.key));
    const struct task *task = core_task(core, (task_id){line.key.at[3]});
    if (age_step(pieces, &line, task->instance_count)) {
        line_add(pieces, line);
    }
}

/* Reads the lines of the next priority; false: there is none. */
static bool band_read(struct pieces *pieces)
{
    const struct oindex *order = &pieces->book->core->orders[ORDER_ACCOUNT_LOSS];
    const bool by_loss = pieces->book->by == VICTIMS_LEAST_LOSS;
    struct okey key = {{pieces->first, LOSS_KEY(pieces->band, 0, 0), 0, 0}};
    bool more = oindex_from(order, key, &key) && key.at[0] == pieces->first;
    if (!more) {
        return false;
    }
    const uint64_t priority = key.at[1] >> 32;
    const uint64_t end = LOSS_KEY(priority, 1, 0);
    while (more && key.at[0] == pieces->first && key.at[1] < end) {
        const uint64_t class = key.at[1];
        struct piece_line line = {.kind = LINE_BY_LOSS, .key = key};
        if ((uint32_t) class == LOSS_GANG) {
            gangs_add(pieces, key);
        } else if (by_loss && loss_step(pieces, &line, true)) {
            line_add(pieces, line);
        }
        more = oindex_from(order, (struct okey){{pieces->first, class + 1, 0, 0}}, &key);
    }
    if (!by_loss) {
        age_add(pieces, priority);
    }
    pieces->band = priority + 1;
    return true;
}

/* The first line goes on behind its first piece. */
static void line_go_on(struct pieces *pieces)
{
    struct piece_line *line = &pieces->lines[0];
    const struct oindex *order = &pieces->book->core->orders[ORDER_ACCOUNT_LOSS];
    bool more = false;
    switch (line->kind) {
    case LINE_ONE:
        break;
    case LINE_BY_LOSS: {
        struct piece_line next = *line;
        const uint64_t class = line->key.at[1];
        more = oindex_next(order, line->key, &next.key) && next.key.at[1] == class &&
               loss_step(pieces, &next, true);
        *line = next;
        break;
    }
    case LINE_BY_AGE:
        more = age_step(pieces, line, line->piece->index);
        break;
    }
    if (!more) {
        pieces->lines[0] = pieces->lines[--pieces->line_count];
    }
    line_sink(pieces);
}

/* ---- the order ---- */

void pieces_init(struct pieces *pieces, struct piece_book *book, const struct account_view *account,
                 account_id id)
{
    *pieces = (struct pieces){
        .book = book, .account = account, .first = ACCOUNT_KEY(book->pool, id), .slots_max = -1};
}

static void order_add(struct pieces *pieces, struct piece *piece)
{
    if (pieces->sorted == pieces->order_room) {
        pieces->order_room = pieces->order_room == 0 ? ORDER_FIRST : pieces->order_room * 2;
        struct piece **grown = arena_new(pieces->book->arena, struct piece *, pieces->order_room);
        for (uint32_t i = 0; i < pieces->sorted; i++) {
            grown[i] = pieces->order[i];
        }
        pieces->order = grown;
    }
    pieces->order[pieces->sorted++] = piece;
}

struct piece *pieces_get(struct pieces *pieces, uint32_t place)
{
    while (pieces->sorted <= place) {
        while (pieces->line_count == 0) {
            if (!band_read(pieces)) {
                return NULL;
            }
        }
        order_add(pieces, pieces->lines[0].piece);
        line_go_on(pieces);
    }
    return pieces->order[place];
}

/* ---- the largest ---- */

static int64_t higher(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t gangs_slots_max(struct pieces *pieces, struct okey key)
{
    const struct oindex *order = &pieces->book->core->orders[ORDER_ACCOUNT_LOSS];
    const uint64_t class = key.at[1];
    int64_t most = 0;
    do {
        const struct piece_entry *entry =
            book_get(pieces->book, pieces->account, loss_instance(pieces, key));
        for (uint32_t i = 0; i < entry->count; i++) {
            most = higher(most, entry->first[i].amounts.at[DIM_SLOTS]);
        }
    } while (oindex_next(order, key, &key) && key.at[0] == pieces->first && key.at[1] == class);
    return most;
}

/* The lines of one priority end with those that hold most slots. */
int64_t pieces_slots_max(struct pieces *pieces)
{
    const struct oindex *order = &pieces->book->core->orders[ORDER_ACCOUNT_LOSS];
    struct okey key = {{pieces->first, 0, 0, 0}};
    if (pieces->slots_max >= 0) {
        return pieces->slots_max;
    }
    pieces->slots_max = 0;
    while (oindex_from(order, key, &key) && key.at[0] == pieces->first) {
        const uint64_t priority = key.at[1] >> 32;
        const struct okey end = {{pieces->first, LOSS_KEY(priority, 1, 0), 0, 0}};
        if (key.at[1] == LOSS_KEY(priority, 0, LOSS_GANG)) {
            pieces->slots_max = higher(pieces->slots_max, gangs_slots_max(pieces, key));
        }
        struct okey last;
        if (okey_compare(key, end) < 0 && oindex_prev(order, end, &last) &&
            (uint32_t)last.at[1] >= LOSS_SLOTS) {
            pieces->slots_max = higher(pieces->slots_max, (uint32_t)last.at[1] - LOSS_SLOTS);
        }
        key = (struct okey){{pieces->first, LOSS_KEY(priority + 1, 0, 0), 0, 0}};
    }
    return pieces->slots_max;
}
