/* top_view.c - see top_view.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/top_internal.h"

#include "cli/item.h"
#include "cli/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4096, BAR_MIN = 8, BAR_MAX = 40 };

static void span_text(struct buf *out, const struct doc *doc, const char *path, int64_t now_ms)
{
    int64_t at;
    if (doc != NULL && item_time(doc, path, &at)) {
        text_span(out, now_ms > at ? now_ms - at : 0);
    }
}

/* Keeps the chosen row inside the list and on the screen. Returns how many rows are shown. */
static size_t list_frame(struct top_state *state, size_t count, size_t room)
{
    state->rows = count;
    if (state->chosen >= count) {
        state->chosen = count > 0 ? count - 1 : 0;
    }
    if (state->chosen < state->first) {
        state->first = state->chosen;
    } else if (room > 0 && state->chosen >= state->first + room) {
        state->first = state->chosen + 1 - room;
    }
    return count - state->first < room ? count - state->first : room;
}

/* ---- head and foot ---- */

static void head_draw(struct top_screen *screen, const struct top_state *state)
{
    const size_t columns = top_screen_columns(screen);
    struct buf line;
    double total = 0, used = 0, waiting = 0, running = 0;
    const struct doc *pools = top_doc_list(state->home, "pools");
    for (const struct doc *d = pools != NULL ? pools->first : NULL; d != NULL; d = d->next) {
        total += top_doc_number(d, "slots.total");
        used += top_doc_number(d, "slots.used");
        waiting += top_doc_number(d, "waiting");
        running += top_doc_number(d, "running");
    }
    buf_init(&line, TEXT_MAX);
    buf_addf(&line, " weir  %g of %g slots  %g running  %g waiting  ", used, total, running,
             waiting);
    top_screen_put(screen, 0, 0, columns, LOOK_BOLD, buf_text(&line));
    const size_t behind = line.len;
    if (behind < columns) {
        const size_t len = strlen(state->server);
        top_screen_put(screen, 0, columns > len + 1 + behind ? columns - len - 1 : behind, columns,
                       LOOK_PLAIN, state->server);
    }
    top_screen_mark(screen, 0, LOOK_REVERSE);
    if (state->lost != NULL) {
        buf_clear(&line);
        buf_add_str(&line, " connection lost: this is ");
        text_span(&line, state->lost_ms);
        buf_addf(&line, " old; %s", state->lost);
        top_screen_put(screen, 1, 0, columns, LOOK_YELLOW | LOOK_BOLD, buf_text(&line));
    } else if (state->at_ms != 0) {
        char at[TEXT_TIME_MAX];
        text_time(state->at_ms, at);
        buf_clear(&line);
        buf_addf(&line, state->unseen == NULL ? " as it was at %.19sZ" : " %.19sZ: %s", at,
                 state->unseen);
        top_screen_put(screen, 1, 0, columns, LOOK_YELLOW | LOOK_BOLD, buf_text(&line));
    }
    buf_done(&line);
}

static void foot_draw(struct top_screen *screen, const struct top_state *state)
{
    static const char *const names[TOP_PAGE_COUNT] = {"1 pools", "2 map", "3 queue", "4 mine",
                                                      NULL};
    const size_t row = top_screen_rows(screen) - 1;
    size_t column = 1;
    for (unsigned i = 0; names[i] != NULL; i++) {
        column = top_screen_put(screen, row, column, 20,
                                state->page == i ? LOOK_BOLD | LOOK_REVERSE : LOOK_PLAIN, names[i]);
        column += 2;
    }
    const char *keys = state->page == TOP_TASK ? "esc back  q quit"
                       : state->page == TOP_QUEUE || state->page == TOP_MINE
                           ? "j k choose  enter task  [ ] time  q quit"
                           : "j k scroll  [ ] time  q quit";
    top_screen_put(screen, row, column + 1, TEXT_MAX, LOOK_DIM, keys);
}

/* ---- pools ---- */

/* One part of the bar; each part that is not empty gets a cell at least while there is room. */
static size_t part_draw(struct top_screen *screen, size_t row, size_t column, size_t end,
                        double share, size_t width, const char *glyph, unsigned look)
{
    size_t cells = (size_t)(share * (double)width + 0.5);
    cells = share > 0 && cells == 0 ? 1 : cells;
    for (; cells > 0 && column < end; cells--) {
        column = top_screen_put(screen, row, column, 1, look, glyph);
    }
    return column;
}

static void bar_draw(struct top_screen *screen, size_t row, size_t column, size_t width,
                     const struct doc *pool)
{
    const double total = top_doc_number(pool, "slots.total") + top_doc_number(pool, "slots.coming");
    const size_t end = column + width;
    if (total <= 0) {
        top_screen_put(screen, row, column, width, LOOK_DIM, "no slots");
        return;
    }
    column = part_draw(screen, row, column, end, top_doc_number(pool, "slots.used") / total, width,
                       "█", LOOK_CYAN);
    column = part_draw(screen, row, column, end, top_doc_number(pool, "slots.reserved") / total,
                       width, "▒", LOOK_YELLOW);
    column = part_draw(screen, row, column, end, top_doc_number(pool, "slots.broken") / total,
                       width, "x", LOOK_RED);
    column = part_draw(screen, row, column, end, top_doc_number(pool, "slots.coming") / total,
                       width, "+", LOOK_BLUE);
    while (column < end) {
        column = top_screen_put(screen, row, column, 1, LOOK_DIM, "·");
    }
}

static void pool_draw(struct top_screen *screen, size_t row, const struct doc *pool, size_t bar,
                      int64_t now_ms)
{
    const char *health = top_doc_text(pool, "health");
    char amounts[96];
    (void)snprintf(amounts, sizeof amounts, "%g/%g", top_doc_number(pool, "slots.used"),
                   top_doc_number(pool, "slots.total"));
    top_screen_put(screen, row, 1, 16, LOOK_BOLD, top_doc_text(pool, "name"));
    bar_draw(screen, row, 18, bar, pool);
    size_t column = 18 + bar + 1;
    top_screen_put(screen, row, column, 11, LOOK_PLAIN, amounts);
    column += 12;
    top_screen_put(screen, row, column, 6, LOOK_PLAIN, top_doc_text(pool, "running"));
    top_screen_put(screen, row, column + 7, 6, LOOK_PLAIN, top_doc_text(pool, "waiting"));
    struct buf oldest;
    buf_init(&oldest, TEXT_MAX);
    span_text(&oldest, pool, "oldest_wait", now_ms);
    top_screen_put(screen, row, column + 14, 8, LOOK_YELLOW, buf_text(&oldest));
    buf_done(&oldest);
    const bool well = strcmp(health, "running") == 0;
    const bool paused = item_true(pool, "paused");
    top_screen_put(screen, row, column + 23, TEXT_MAX,
                   well && !paused                      ? LOOK_GREEN
                   : strcmp(health, "unavailable") == 0 ? LOOK_RED
                                                        : LOOK_YELLOW,
                   paused ? "paused"
                   : well ? "ok"
                          : top_doc_text(pool, "reason"));
}

static void pools_draw(struct top_screen *screen, struct top_state *state)
{
    const size_t columns = top_screen_columns(screen);
    const size_t last = top_screen_rows(screen) - 1;
    const size_t bar =
        columns > 72 + BAR_MIN ? (columns - 72 < BAR_MAX ? columns - 72 : BAR_MAX) : BAR_MIN;
    const struct doc *pools = top_doc_list(state->home, "pools");
    const struct doc *notes = top_doc_list(state->home, "attention");
    const size_t noted =
        notes != NULL && notes->count > 0 ? (notes->count < 5 ? notes->count : 5) + 2 : 0;
    static const char *const titles[] = {"USED/SLOTS", "RUN", "WAIT", "OLDEST", "STATE"};
    static const size_t at[] = {0, 12, 19, 26, 35};
    top_screen_put(screen, HEAD_ROWS, 1, 16, LOOK_DIM, "POOL");
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        top_screen_put(screen, HEAD_ROWS, 18 + bar + 1 + at[i], 12, LOOK_DIM, titles[i]);
    }
    const size_t room = last > HEAD_ROWS + 2 + noted ? last - HEAD_ROWS - 1 - noted : 1;
    const size_t shown = list_frame(state, pools != NULL ? pools->count : 0, room);
    for (size_t i = 0; i < shown; i++) {
        pool_draw(screen, HEAD_ROWS + 1 + i, top_doc_nth(pools, state->first + i), bar,
                  state->now_ms);
    }
    size_t row = HEAD_ROWS + 2 + shown;
    if (noted > 0 && row < last) {
        top_screen_put(screen, row++, 1, columns, LOOK_DIM, "WHAT NEEDS ATTENTION");
    }
    for (size_t i = 0; i + 2 < noted && row < last; i++) {
        const struct doc *note = top_doc_nth(notes, i);
        const bool error = strcmp(top_doc_text(note, "level"), "error") == 0;
        top_screen_put(screen, row, 1, 2, error ? LOOK_RED | LOOK_BOLD : LOOK_YELLOW,
                       error ? "!!" : "!");
        top_screen_put(screen, row++, 4, columns, LOOK_PLAIN, top_doc_text(note, "message"));
    }
}

/* ---- lists of tasks ---- */

static const char *name_of(const struct doc *task, struct buf *scratch)
{
    buf_clear(scratch);
    const char *name = top_doc_text(task, "name");
    const struct doc *command = top_doc_list(task, "command");
    buf_add_str(scratch, name);
    for (const struct doc *d = name[0] == '\0' && command != NULL ? command->first : NULL;
         d != NULL; d = d->next) {
        buf_addf(scratch, "%s%s", scratch->len > 0 ? " " : "", item_text(d, ""));
    }
    return buf_text(scratch);
}

static unsigned state_look(const char *task_state)
{
    static const char *const waits[] = {"pending", "paused", "staged"};
    static const char *const ends[] = {"failed", "unknown", "unavailable", "killed"};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        if (strcmp(task_state, waits[i]) == 0) {
            return LOOK_YELLOW;
        }
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (strcmp(task_state, ends[i]) == 0) {
            return LOOK_RED;
        }
    }
    return LOOK_GREEN;
}

static void task_row_draw(struct top_screen *screen, size_t row, const struct doc *task,
                          const struct top_state *state, size_t name_width)
{
    const char *task_state = top_doc_text(task, "state");
    struct buf text;
    buf_init(&text, TEXT_MAX);
    top_screen_put(screen, row, 1, 8, LOOK_BOLD, top_doc_text(task, "id"));
    top_screen_put(screen, row, 10, name_width, LOOK_PLAIN, name_of(task, &text));
    size_t column = 10 + name_width + 1;
    top_screen_put(screen, row, column, 9, LOOK_PLAIN, top_doc_text(task, "user"));
    top_screen_put(screen, row, column + 10, 9, LOOK_PLAIN, top_doc_text(task, "pool"));
    top_screen_put(screen, row, column + 20, 9, state_look(task_state), task_state);
    buf_clear(&text);
    span_text(&text, task, "submitted_at", state->now_ms);
    top_screen_put(screen, row, column + 30, 7, LOOK_DIM, buf_text(&text));
    top_screen_put(screen, row, column + 38, TEXT_MAX, LOOK_PLAIN,
                   top_doc_text(task, "reason.message"));
    buf_done(&text);
}

static void tasks_draw(struct top_screen *screen, struct top_state *state, const struct doc *list,
                       const char *empty)
{
    const size_t columns = top_screen_columns(screen);
    const size_t last = top_screen_rows(screen) - 1;
    const size_t name_width = columns >= 120 ? 28 : 14;
    static const char *const titles[] = {"USER", "POOL", "STATE", "AGE", "REASON"};
    static const size_t at[] = {0, 10, 20, 30, 38};
    top_screen_put(screen, HEAD_ROWS, 1, 8, LOOK_DIM, "TASK");
    top_screen_put(screen, HEAD_ROWS, 10, 10, LOOK_DIM, "NAME");
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        top_screen_put(screen, HEAD_ROWS, 10 + name_width + 1 + at[i], 12, LOOK_DIM, titles[i]);
    }
    /* The sentence of the chosen task stands below the list in full. */
    const size_t room = last > HEAD_ROWS + 5 ? last - HEAD_ROWS - 4 : 1;
    const size_t shown = list_frame(state, list != NULL ? list->count : 0, room);
    state->task = 0;
    if (shown == 0) {
        top_screen_put(screen, HEAD_ROWS + 1, 1, columns, LOOK_DIM,
                       list != NULL            ? empty
                       : state->unseen != NULL ? "nothing to show of that time"
                                               : "asking the server …");
    }
    for (size_t i = 0; i < shown; i++) {
        const struct doc *task = top_doc_nth(list, state->first + i);
        task_row_draw(screen, HEAD_ROWS + 1 + i, task, state, name_width);
        if (state->first + i == state->chosen) {
            top_screen_mark(screen, HEAD_ROWS + 1 + i, LOOK_REVERSE);
            state->task = (uint64_t)item_number(task, "id", 0);
            struct buf wrapped;
            buf_init(&wrapped, TEXT_MAX);
            text_wrap(&wrapped, str_of(top_doc_text(task, "reason.message")), columns - 2, 0);
            struct str rest = {buf_text(&wrapped), wrapped.len};
            for (size_t k = 0; k < 2 && rest.p != NULL; k++) {
                const struct str line = str_cut(rest, '\n', &rest);
                char text[TOP_COLUMNS_MAX * 4];
                (void)snprintf(text, sizeof text, "%.*s", (int)line.len, line.p);
                top_screen_put(screen, last - 2 + k, 1, columns, LOOK_YELLOW, text);
            }
            buf_done(&wrapped);
        }
    }
}

/* ---- one task ---- */

static size_t lines_put(struct top_screen *screen, size_t row, size_t end, unsigned look,
                        const char *text)
{
    const size_t columns = top_screen_columns(screen);
    struct buf wrapped;
    buf_init(&wrapped, TEXT_MAX * 4);
    text_wrap(&wrapped, str_of(text), columns - 2, 2);
    struct str rest = {buf_text(&wrapped), wrapped.len};
    while (rest.p != NULL && row < end) {
        const struct str line = str_cut(rest, '\n', &rest);
        char piece[TOP_COLUMNS_MAX * 4];
        (void)snprintf(piece, sizeof piece, "%.*s", (int)line.len, line.p);
        if (line.len > 0) {
            top_screen_put(screen, row++, 1, columns, look, piece);
        }
    }
    buf_done(&wrapped);
    return row;
}

/* The last lines of the output that fit. */
static void log_draw(struct top_screen *screen, size_t row, size_t end, struct str log)
{
    size_t from = log.len;
    size_t lines = 0;
    while (from > 0 && lines <= end - row) {
        from--;
        lines += log.p[from] == '\n' && from + 1 < log.len;
        if (lines == end - row) {
            from++;
            break;
        }
    }
    struct str rest = {log.p + from, log.len - from};
    while (rest.p != NULL && row < end) {
        const struct str line = str_cut(rest, '\n', &rest);
        char text[TOP_COLUMNS_MAX * 4];
        (void)snprintf(text, sizeof text, "%.*s", (int)line.len, line.p);
        if (line.len > 0 || rest.p != NULL) {
            top_screen_put(screen, row++, 1, TEXT_MAX, LOOK_PLAIN, text);
        }
    }
}

static void task_draw(struct top_screen *screen, const struct top_state *state)
{
    const size_t last = top_screen_rows(screen) - 1;
    struct buf text;
    struct buf name;
    if (state->shown == NULL) {
        top_screen_put(screen, HEAD_ROWS, 1, TEXT_MAX, LOOK_DIM, "asking the server …");
        return;
    }
    buf_init(&text, TEXT_MAX);
    buf_init(&name, TEXT_MAX);
    buf_addf(&text, "task %s  %s", top_doc_text(state->shown, "id"), name_of(state->shown, &name));
    top_screen_put(screen, HEAD_ROWS, 1, TEXT_MAX, LOOK_BOLD, buf_text(&text));
    buf_clear(&text);
    buf_addf(&text, "%s of project %s in pool %s, submitted ", top_doc_text(state->shown, "user"),
             top_doc_text(state->shown, "project"), top_doc_text(state->shown, "pool"));
    span_text(&text, state->shown, "submitted_at", state->now_ms);
    buf_add_str(&text, " ago");
    top_screen_put(screen, HEAD_ROWS + 1, 1, TEXT_MAX, LOOK_PLAIN, buf_text(&text));
    buf_clear(&text);
    buf_addf(&text, "%s%s%s", top_doc_text(state->shown, "state"),
             top_doc_text(state->shown, "exit_code")[0] != '\0' ? ", exit code " : "",
             top_doc_text(state->shown, "exit_code"));
    top_screen_put(screen, HEAD_ROWS + 2, 1, TEXT_MAX,
                   state_look(top_doc_text(state->shown, "state")) | LOOK_BOLD, buf_text(&text));
    size_t row = HEAD_ROWS + 3;
    row = lines_put(screen, row, last, LOOK_YELLOW, top_doc_text(state->why, "reason.message"));
    const struct doc *tips = top_doc_list(state->why, "suggestions");
    for (const struct doc *d = tips != NULL ? tips->first : NULL; d != NULL && row < HEAD_ROWS + 8;
         d = d->next) {
        buf_clear(&text);
        buf_addf(&text, "- %s", item_text(d, ""));
        row = lines_put(screen, row, last, LOOK_PLAIN, buf_text(&text));
    }
    top_screen_put(screen, row + 1, 1, TEXT_MAX, LOOK_DIM,
                   state->log.len > 0 ? "OUTPUT" : "NO OUTPUT YET");
    if (row + 2 < last) {
        log_draw(screen, row + 2, last, state->log);
    }
    buf_done(&text);
    buf_done(&name);
}

void top_view_draw(struct top_screen *screen, struct top_state *state)
{
    top_screen_clear(screen);
    if (top_screen_rows(screen) < 8 || top_screen_columns(screen) < 40) {
        top_screen_put(screen, 0, 0, TEXT_MAX, LOOK_BOLD, "weir top needs 40 columns and 8 rows");
        return;
    }
    switch (state->page) {
    case TOP_POOLS:
        pools_draw(screen, state);
        break;
    case TOP_MAP:
        top_map_draw(screen, state);
        break;
    case TOP_QUEUE:
        tasks_draw(screen, state, top_doc_list(state->queue, "items"), "nothing waits");
        break;
    case TOP_MINE:
        tasks_draw(screen, state, top_doc_list(state->home, "mine.items"),
                   "none of yours is alive; `weir run -- echo hello` submits one");
        break;
    case TOP_TASK:
        task_draw(screen, state);
        break;
    }
    head_draw(screen, state);
    foot_draw(screen, state);
}
