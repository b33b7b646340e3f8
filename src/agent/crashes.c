/* crashes.c - see crashes.h. Each line of D/crashes is a time in ms and the tasks that were
 * present, lowest task first. SPDX-License-Identifier: Apache-2.0 */
#include "agent/crashes.h"

#include "agent/dirs.h"
#include "agent/open_attempts.h"
#include "agent/spool.h"
#include "agent/spool_reader.h"
#include "base/log.h"
#include "base/str.h"

#include <inttypes.h>

#define FILE_CRASHES "crashes"
enum { LINES_MAX = 16, LINE_BYTES_MAX = 256, CRASH_FILE_MAX = LINES_MAX * LINE_BYTES_MAX };

/* The attempts without an end in the newest segment of the spool. */
static struct open_attempts *open_of(const char *dir)
{
    uint64_t low;
    uint64_t high;
    struct open_attempts *open = open_attempts_new();
    spool_range(dir, &low, &high);
    struct spool_reader *reader = spool_reader_new(dir, high);
    struct record record;
    while (high != 0 && spool_reader_next(reader, &record)) {
        open_attempts_note(open, &record);
    }
    spool_reader_free(reader);
    return open;
}

/* Writes the tasks of the open attempts to `out`, each once, with a space before it. Returns the
 * number of attempts. */
static size_t tasks_list(struct open_attempts *open, char *out, size_t size)
{
    uint64_t tasks[CRASH_TASKS_MAX];
    size_t named = 0;
    size_t count = 0;
    struct attempt_key key;
    for (; open_attempts_take(open, &key); count++) {
        size_t at = named;
        while (at > 0 && tasks[at - 1] > key.task.v) {
            at--;
        }
        if ((at > 0 && tasks[at - 1] == key.task.v) || at == CRASH_TASKS_MAX) {
            continue;
        }
        named += named < CRASH_TASKS_MAX;
        memmove(tasks + at + 1, tasks + at, (named - at - 1) * sizeof *tasks);
        tasks[at] = key.task.v;
    }
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < named && len < size; i++) {
        int more = snprintf(out + len, size - len, " %" PRIu64, tasks[i]);
        len += more > 0 ? (size_t)more : 0;
    }
    return count;
}

/* Takes the next line of the text. The line has no line end. */
static bool line_next(struct str *text, struct str *ret)
{
    if (text->len == 0) {
        return false;
    }
    const char *end = memchr(text->p, '\n', text->len);
    size_t len = end == NULL ? text->len : (size_t)(end - text->p);
    *ret = (struct str){text->p, len};
    size_t skip = end == NULL ? len : len + 1;
    *text = (struct str){text->p + skip, text->len - skip};
    return true;
}

/* The time at the front of a line, or -1; `ret_tasks` is the rest of the line. */
static int64_t line_time(struct str line, struct str *ret_tasks)
{
    const char *space = memchr(line.p, ' ', line.len);
    size_t len = space == NULL ? line.len : (size_t)(space - line.p);
    uint64_t at_ms;
    *ret_tasks = (struct str){line.p + len, line.len - len};
    if (!str_to_u64((struct str){line.p, len}, &at_ms) || at_ms > INT64_MAX) {
        return -1;
    }
    return (int64_t)at_ms;
}

static struct str file_read(const char *dir, struct arena *arena)
{
    struct str text;
    if (dirs_read(dir, FILE_CRASHES, arena, &text, NULL) != ERR_OK) {
        return (struct str){"", 0};
    }
    return text;
}

/* Is a death at `at_ms` recent? A time ahead of the clock counts as recent for as long. */
static bool recent(int64_t at_ms, int64_t now_ms)
{
    return at_ms >= 0 && at_ms > now_ms - CRASH_WINDOW_MS && at_ms < now_ms + CRASH_WINDOW_MS;
}

void crashes_note(const char *dir, int64_t now_ms)
{
    char tasks[LINE_BYTES_MAX - 32];
    struct open_attempts *open = open_of(dir);
    size_t count = tasks_list(open, tasks, sizeof tasks);
    open_attempts_free(open);
    if (count == 0) {
        return;
    }
    log_error("a supervisor died under its tasks", kv_u64("attempts", count),
              kv_str("tasks", tasks + 1));
    struct arena arena;
    struct buf out;
    struct str text;
    struct str line;
    struct str rest;
    struct error e;
    arena_init(&arena);
    buf_init(&out, CRASH_FILE_MAX + LINE_BYTES_MAX);
    text = file_read(dir, &arena);
    buf_addf(&out, "%" PRId64 "%s\n", now_ms, tasks); /* the newest first */
    for (size_t i = 1; i < LINES_MAX && line_next(&text, &line); i++) {
        if (line.len < LINE_BYTES_MAX && recent(line_time(line, &rest), now_ms)) {
            buf_add(&out, line.p, line.len);
            buf_add_char(&out, '\n');
        }
    }
    if (dirs_write(dir, FILE_CRASHES, (struct str){out.data, out.len}, &e) != ERR_OK) {
        log_warn("cannot remember the death of the supervisor", kv_error(&e));
    }
    buf_done(&out);
    arena_done(&arena);
}

int64_t crashes_rest_ms(const char *dir, int64_t now_ms, char *why, size_t size)
{
    struct arena arena;
    arena_init(&arena);
    struct str text = file_read(dir, &arena);
    struct str line;
    struct str tasks = {"", 0};
    struct str last = {"", 0};
    int64_t newest_ms = 0;
    unsigned count = 0;
    while (line_next(&text, &line)) {
        int64_t at_ms = line_time(line, &tasks);
        if (!recent(at_ms, now_ms)) {
            continue;
        }
        count++;
        if (at_ms > newest_ms) {
            newest_ms = at_ms;
            last = tasks;
        }
    }
    int64_t rest_ms = count < CRASHES_MAX ? 0 : newest_ms + CRASH_REST_MS - now_ms;
    rest_ms = rest_ms < 0 ? 0 : rest_ms > CRASH_REST_MS ? CRASH_REST_MS : rest_ms;
    if (rest_ms > 0) {
        (void)snprintf(why, size,
                       "the supervisor died %u times within 10 minutes under its tasks; last under "
                       "task%.*s; the node takes no tasks for a minute",
                       count, (int)last.len, last.p);
    }
    arena_done(&arena);
    return rest_ms;
}
