/* pieces.c - the order in which the pieces of a project leave, read as far as a search asks for pieces.
 *
 * Surprising: the loss of a piece counts from its allocation or its last checkpoint, not from its start. Resources are held from
 * the allocation on. So the state can keep the order of a line without knowing the time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/take/pieces.h"

#include "base/must.h"
#include "core/model/instance.h"
#include "core/sched/take/pieces_internal.h"
#include "core/state/key.h"
#include "core/state/query.h"

enum { LINES_FIRST = 8, ORDER_FIRST = 16 };

/* ---- the heap of lines ---- */

/* Is the order by loss? Else the order is by age. An order for a need is always by loss, because the state keeps the pieces of each size
 * in the order of loss only. */
static bool pieces_by_loss(const struct pieces *pieces)
{
    return pieces->cache->by == VICTIMS_LEAST_LOSS || pieces->need_milli > 0;
}

/* Does line `a` come before line `b`, if at least one of them is a line of gangs? A line of gangs has no pieces above a minimum:
 * gangs that have such pieces are read at once. */
static bool gangs_before(const struct pieces *pieces, const struct piece_line *a,
                         const struct piece_line *b)
{
    const bool both = a->kind == b->kind;
    must(a->kind == LINE_GANGS || b->kind == LINE_GANGS);
    must(a->piece->task->priority == b->piece->task->priority); /* one band at a time is read */
    if (!both && (a->piece->extra || b->piece->extra)) {
        return a->piece->extra;
    }
    const uint64_t parts_a = pieces_cache_parts(a->piece, pieces->need_milli);
    const uint64_t parts_b = pieces_cache_parts(b->piece, pieces->need_milli);
    if (parts_a != parts_b) {
        return parts_a < parts_b;
    }
    if (a->piece->loss != b->piece->loss) {
        return a->piece->loss < b->piece->loss;
    }
    return both ? oindex_key_compare(a->key, b->key) < 0 : a->kind == LINE_GANGS;
}

static bool line_before(const struct pieces *pieces, uint32_t a, uint32_t b)
{
    must(a < pieces->line_count);
    must(b < pieces->line_count);
    const struct piece_line *left = &pieces->lines[a];
    const struct piece_line *right = &pieces->lines[b];
    const bool gangs = left->kind == LINE_GANGS || right->kind == LINE_GANGS;
    if (gangs) { /* a tie goes to the line of gangs, so that its first gang is read and compared */
        return gangs_before(pieces, left, right);
    }
    return pieces_cache_compare(pieces_by_loss(pieces) ? VICTIMS_LEAST_LOSS : VICTIMS_YOUNGEST,
                                pieces->need_milli, left->piece, right->piece) < 0;
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
    must(pieces->line_count <= pieces->line_room);
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
    must(line.piece != NULL); /* a line in the heap is compared by its first piece */
    if (pieces->line_count == pieces->line_room) {
        pieces->line_room = pieces->line_room == 0 ? LINES_FIRST : pieces->line_room * 2;
        struct piece_line *grown =
            arena_new(pieces->cache->arena, struct piece_line, pieces->line_room);
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

/* The instance of a key of ORDER_ACCOUNT_LOSS. */
static const struct instance *loss_instance(const struct pieces *pieces, struct okey key)
{
    const struct instance *instance = query_instance_row(pieces->cache->core, ~key.at[3]);
    must(instance != NULL);
    return instance;
}

/* Finds the first piece of the line, at `line->key` or behind it, that may leave. `more`: `line->key` is in the order. False: the
 * line is at its end. */
static bool loss_step(struct pieces *pieces, struct piece_line *line, bool more)
{
    const struct oindex *order = &pieces->cache->core->orders[ORDER_ACCOUNT_LOSS];
    const uint64_t class = line->key.at[1];
    must(line->kind == LINE_BY_LOSS);
    for (; more && line->key.at[0] == pieces->first && line->key.at[1] == class;
         more = oindex_next(order, line->key, &line->key)) {
        line->piece =
            pieces_cache_of(pieces->cache, pieces->account, loss_instance(pieces, line->key));
        if (line->piece != NULL) {
            return true;
        }
    }
    return false;
}

/* Adds all pieces of the gang at `key`, unless this order has them. */
static void gang_add(struct pieces *pieces, struct okey key)
{
    struct piece_entry *entry =
        pieces_cache_get(pieces->cache, pieces->account, loss_instance(pieces, key));
    must(entry->count == 0 || entry->first->task->gang);
    uint32_t *listed = &entry->listed[pieces->need_milli > 0];
    for (uint32_t i = 0; i < entry->count && *listed != pieces->number; i++) {
        line_add(pieces, (struct piece_line){.kind = LINE_ONE, .piece = &entry->first[i]});
    }
    *listed = pieces->number;
}

/* Adds the pieces of all gangs of the line at `key`. */
static void gangs_add(struct pieces *pieces, struct okey key)
{
    const struct oindex *order = &pieces->cache->core->orders[ORDER_ACCOUNT_LOSS];
    const struct okey at = key;
    do {
        gang_add(pieces, key);
    } while (oindex_next(order, key, &key) && key.at[0] == at.at[0] && key.at[1] == at.at[1]);
}

/* Fills the stand-in of a line of gangs from the instance at `line->key`. Each gang of the line, from there on, loses at least as
 * much as this instance. */
static void gangs_stand_in(const struct pieces *pieces, struct piece_line *line)
{
    const struct instance *instance = loss_instance(pieces, line->key);
    const uint64_t held = line->key.at[1] >> LOSS_GANG_HELD_SHIFT & LOSS_GANG_HELD_MAX;
    const int64_t held_ms = pieces->cache->now_ms - instance_unsaved_ms(instance);
    must(line->kind == LINE_GANGS);
    line->piece->amounts.at[DIM_SLOTS] = instance->slots_milli;
    line->piece->task = query_task(pieces->cache->core, instance->task);
    line->piece->loss =
        (unsigned __int128)(held + 1) * (uint64_t)((held_ms > 0 ? held_ms : 0) + EVICTION_COST_MS);
}

/* Adds the line of gangs at `key`. The gangs of the line are read one by one, when their turn comes. */
static void gangs_begin(struct pieces *pieces, struct okey key)
{
    struct piece_line line = {.kind = LINE_GANGS, .key = key};
    line.piece = arena_new(pieces->cache->arena, struct piece, 1);
    gangs_stand_in(pieces, &line);
    line_add(pieces, line);
}

/* Reads the first gang of the first line, which is a line of gangs. */
static void gangs_read(struct pieces *pieces)
{
    const struct oindex *order = &pieces->cache->core->orders[ORDER_ACCOUNT_LOSS];
    struct piece_line *line = &pieces->lines[0];
    const struct okey at = line->key;
    must(pieces->line_count > 0);
    must(line->kind == LINE_GANGS);
    if (oindex_next(order, at, &line->key) && line->key.at[0] == at.at[0] &&
        line->key.at[1] == at.at[1]) {
        gangs_stand_in(pieces, line);
    } else {
        pieces->lines[0] = pieces->lines[--pieces->line_count];
    }
    line_sink(pieces);
    gang_add(pieces, at);
}

/* Finds the next piece of a line by age: of the line's task the next lower instance that may leave, else of the next older task
 * that is no gang. Only instances below number `below` of the line's task are looked at. False: the line is at its end. */
static bool age_step(struct pieces *pieces, struct piece_line *line, uint32_t below)
{
    const struct core *core = pieces->cache->core;
    const uint64_t priority = line->key.at[1];
    for (;;) {
        const struct task *task = query_task(core, (task_id){line->key.at[3]});
        must(task != NULL);
        must(below <= task->instance_count);
        for (uint32_t i = task->gang ? 0 : below; i > 0; i--) {
            line->piece = pieces_cache_of(pieces->cache, pieces->account,
                                          query_instance(core, task->id, i - 1));
            if (line->piece != NULL) {
                return true;
            }
        }
        if (!oindex_prev(&core->orders[ORDER_ACCOUNT_RUNNING], line->key, &line->key) ||
            line->key.at[0] != pieces->first || line->key.at[1] != priority) {
            return false;
        }
        below = query_task(core, (task_id){line->key.at[3]})->instance_count;
    }
}

/* Adds the line of pieces by age for the tasks of one priority. The caller knows that a task of this priority runs. */
static void age_add(struct pieces *pieces, uint64_t priority)
{
    const struct core *core = pieces->cache->core;
    const struct okey end = {
        {pieces->first, PRIORITY_KEY((uint32_t)priority), UINT64_MAX, UINT64_MAX}};
    struct piece_line line = {.kind = LINE_BY_AGE};
    must(oindex_prev(&core->orders[ORDER_ACCOUNT_RUNNING], end, &line.key));
    const struct task *task = query_task(core, (task_id){line.key.at[3]});
    if (age_step(pieces, &line, task->instance_count)) {
        line_add(pieces, line);
    }
}

/* Adds the lines of the next priority, upwards. False: no task of a higher priority runs. */
static bool band_read(struct pieces *pieces)
{
    const struct oindex *order = &pieces->cache->core->orders[ORDER_ACCOUNT_LOSS];
    const bool by_loss = pieces_by_loss(pieces);
    struct okey key = {{pieces->first, LOSS_KEY(pieces->band, 0, 0), 0, 0}};
    bool more = oindex_from(order, key, &key) && key.at[0] == pieces->first;
    if (!more) {
        return false;
    }
    const uint64_t priority = key.at[1] >> 32;
    must(priority >= pieces->band);
    const uint64_t end = LOSS_KEY(priority, 1, 0);
    while (more && key.at[0] == pieces->first && key.at[1] < end) {
        const uint64_t class = key.at[1];
        struct piece_line line = {.kind = LINE_BY_LOSS, .key = key};
        if ((class & (LOSS_SLOTS | LOSS_CPU)) == 0) {
            const bool whole = (class >> LOSS_WHOLE_SHIFT & 1) != 0;
            (by_loss && whole ? gangs_begin : gangs_add)(pieces, key);
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

/* Removes the first piece of the first line. A line without a further piece leaves the heap. */
static void line_go_on(struct pieces *pieces)
{
    must(pieces->line_count > 0);
    struct piece_line *line = &pieces->lines[0];
    const struct oindex *order = &pieces->cache->core->orders[ORDER_ACCOUNT_LOSS];
    bool more = false;
    switch (line->kind) {
    case LINE_ONE:
    case LINE_GANGS:
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

void pieces_init(struct pieces *pieces, struct piece_cache *cache,
                 const struct account_view *account, account_id id, int64_t need_milli)
{
    must(need_milli >= 0);
    *pieces = (struct pieces){.cache = cache,
                              .account = account,
                              .need_milli = need_milli,
                              .first = ACCOUNT_KEY(cache->pool, id),
                              .number = ++cache->orders,
                              .slots_max = -1};
}

static void order_add(struct pieces *pieces, struct piece *piece)
{
    must(pieces->sorted == 0 ||
         pieces->order[pieces->sorted - 1]->task->priority <= piece->task->priority);
    if (pieces->sorted == pieces->order_room) {
        pieces->order_room = pieces->order_room == 0 ? ORDER_FIRST : pieces->order_room * 2;
        struct piece **grown = arena_new(pieces->cache->arena, struct piece *, pieces->order_room);
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
        must(pieces->lines[0].piece != NULL);
        if (pieces->lines[0].kind == LINE_GANGS) {
            gangs_read(pieces);
        } else {
            order_add(pieces, pieces->lines[0].piece);
            line_go_on(pieces);
        }
    }
    return pieces->order[place];
}

/* ---- the largest piece ---- */

static int64_t higher(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* An upper bound on the slots of the gangs whose instances are in a line. The class of the line has the slots of one instance and a
 * power of two that is at least the size of the gang. */
static int64_t gangs_slots_max(uint64_t class)
{
    const int64_t held = (int64_t)(class >> LOSS_GANG_HELD_SHIFT & LOSS_GANG_HELD_MAX);
    if ((class >> LOSS_GANG_SLOTS_SHIFT & 1) == 0) {
        return 0;
    }
    return held < LOSS_GANG_HELD_MAX ? held << (class & LOSS_GANG_SIZE_MASK) : QUOTA_SUM_MAX;
}

/* Lines of gangs come first in a priority, and each is asked. The other lines are in the order of their slots, so the last line of
 * the priority has the largest instances. */
int64_t pieces_slots_max(struct pieces *pieces)
{
    const struct oindex *order = &pieces->cache->core->orders[ORDER_ACCOUNT_LOSS];
    struct okey key = {{pieces->first, 0, 0, 0}};
    if (pieces->slots_max >= 0) {
        return pieces->slots_max;
    }
    pieces->slots_max = 0;
    while (oindex_from(order, key, &key) && key.at[0] == pieces->first) {
        const uint64_t priority = key.at[1] >> 32;
        const struct okey end = {{pieces->first, LOSS_KEY(priority, 1, 0), 0, 0}};
        if (key.at[1] < LOSS_KEY(priority, 0, LOSS_CPU)) {
            pieces->slots_max = higher(pieces->slots_max, gangs_slots_max(key.at[1]));
            key = (struct okey){{pieces->first, key.at[1] + 1, 0, 0}};
            continue;
        }
        struct okey last;
        if (oindex_key_compare(key, end) < 0 && oindex_prev(order, end, &last) &&
            (uint32_t)last.at[1] >= LOSS_SLOTS) {
            must(last.at[0] == pieces->first);
            pieces->slots_max = higher(pieces->slots_max, (uint32_t)last.at[1] - LOSS_SLOTS);
        }
        key = (struct okey){{pieces->first, LOSS_KEY(priority + 1, 0, 0), 0, 0}};
    }
    return pieces->slots_max;
}
