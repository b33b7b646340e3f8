/* guild_screen.c - see guild_screen.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/guild_screen.h"

#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* More output than this is shown at once. */
enum { HELD_BYTES_MAX = 1 << 20 };

enum phase { PHASE_OUTPUT, PHASE_LINES, PHASE_NEW_OUTPUT };

struct screen_item {
    enum phase phase;
    uint32_t order; /* of the run that has written, or whose end is the cause of the line */
    uint32_t number;
    int fd;
    char *text;
    size_t len;
};

/* One per process: there is one standard output. */
static struct {
    bool open;
    bool
        ended; /* a run has ended since the last flush: lines wait, because others may be about to end, too */
    VEC(struct screen_item) held;
    VEC(uint32_t) fresh; /* runs that started since the last flush */
    uint32_t cause;
    uint32_t next;
    size_t bytes;
    int64_t since_ms;
} screen;

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void all_write(int fd, const char *text, size_t len)
{
    while (len > 0) {
        const ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return; /* nobody reads: the runs go on */
        }
        text += n;
        len -= (size_t)n;
    }
}

void guild_screen_open(void)
{
    screen.open = true;
}

void guild_screen_close(void)
{
    guild_screen_flush();
    vec_done(&screen.held);
    vec_done(&screen.fresh);
    screen.open = false;
}

static bool is_fresh(uint32_t order)
{
    for (size_t i = 0; i < screen.fresh.count; i++) {
        if (screen.fresh.at[i] == order) {
            return true;
        }
    }
    return false;
}

static void hold(enum phase phase, uint32_t order, int fd, struct str text)
{
    if (screen.held.count == 0) {
        screen.since_ms = now_ms();
    }
    screen.bytes += text.len;
    vec_push(&screen.held, ((struct screen_item){phase, order, screen.next++, fd,
                                                 xmemdup(text.p, text.len), text.len}));
    if (screen.bytes > HELD_BYTES_MAX) {
        guild_screen_flush();
    }
}

void guild_screen_output(uint32_t order, int stream, struct str text)
{
    if (text.len > 0) {
        hold(is_fresh(order) ? PHASE_NEW_OUTPUT : PHASE_OUTPUT, order,
             stream == 0 ? STDOUT_FILENO : STDERR_FILENO, text);
    }
}

void guild_screen_line(struct str line)
{
    if (!screen.open || (screen.held.count == 0 && !screen.ended)) {
        all_write(STDERR_FILENO, line.p, line.len);
    } else {
        hold(PHASE_LINES, screen.cause, STDERR_FILENO, line);
    }
}

void guild_screen_ended(uint32_t order)
{
    if (is_fresh(order)) {
        guild_screen_flush();
    }
    screen.cause = order;
    screen.ended = true;
}

void guild_screen_started(uint32_t order)
{
    if (screen.held.count > 0 || screen.ended) {
        vec_push(&screen.fresh, order);
    }
}

int guild_screen_due_ms(void)
{
    if (screen.held.count == 0) {
        return -1;
    }
    const int64_t left_ms = screen.since_ms + SCREEN_HOLD_MS - now_ms();
    return left_ms < 0 ? 0 : (int)left_ms;
}

static int held_compare(const void *a, const void *b)
{
    const struct screen_item *x = a;
    const struct screen_item *y = b;
    if (x->phase != y->phase) {
        return x->phase < y->phase ? -1 : 1;
    }
    if (x->order != y->order) {
        return x->order < y->order ? -1 : 1;
    }
    return x->number < y->number ? -1 : 1;
}

void guild_screen_flush(void)
{
    sort_items(screen.held.at, screen.held.count, sizeof *screen.held.at, held_compare);
    for (size_t i = 0; i < screen.held.count; i++) {
        all_write(screen.held.at[i].fd, screen.held.at[i].text, screen.held.at[i].len);
        free(screen.held.at[i].text);
    }
    vec_clear(&screen.held);
    vec_clear(&screen.fresh);
    screen.ended = false;
    screen.bytes = 0;
}
