/* meter.c - see meter.h. A copy of a database is one call of a library, so a thread of its own looks
 * how large the copy is. SPDX-License-Identifier: Apache-2.0 */
#include "cli/meter.h"

#include "base/amount.h"
#include "base/bar.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/rest.h"
#include "cli/text.h"

#include <fts.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SHOW_AFTER_MS = 1000, /* shorter work shows nothing */
    DRAW_EVERY_MS = 200,
    LOOK_EVERY_MS = 250,
    TEXT_BYTES = 256,
    DIR_BYTES = 4096,
};

void meter_begin(struct meter *meter, const char *what, uint64_t total, bool bytes)
{
    *meter = (struct meter){.what = what,
                            .bytes = bytes,
                            .on = isatty(STDERR_FILENO) != 0,
                            .total = total,
                            .began_ms = text_now_ms()};
}

static void amount_add(struct buf *out, const struct meter *meter, uint64_t amount)
{
    if (meter->bytes) {
        char text[AMOUNT_TEXT_MAX];
        amount_bytes_text((int64_t)amount, text);
        buf_add_str(out, text);
    } else {
        text_thousands(out, amount);
    }
}

void meter_text(struct buf *out, const struct meter *meter, uint64_t done, int64_t passed_ms)
{
    const uint64_t passed = passed_ms > 0 ? (uint64_t)passed_ms : 1;
    const uint64_t left = meter->total > done ? meter->total - done : 0;
    buf_addf(out, "%s ", meter->what);
    amount_add(out, meter, done);
    buf_add_str(out, " of ");
    amount_add(out, meter, meter->total);
    buf_add_str(out, ", ");
    amount_add(out, meter, (uint64_t)((unsigned __int128)done * 1000 / passed));
    buf_add_str(out, "/s");
    if (done > 0) {
        buf_add_str(out, ", ");
        text_span(out, (int64_t)((unsigned __int128)left * passed / done));
        buf_add_str(out, " left");
    }
}

void meter_move(struct meter *meter, uint64_t done)
{
    const int64_t now_ms = text_now_ms();
    const int64_t passed_ms = now_ms - meter->began_ms;
    if (!meter->on || passed_ms < SHOW_AFTER_MS || now_ms - meter->drawn_ms < DRAW_EVERY_MS) {
        return;
    }
    struct buf text;
    const uint64_t part = done < meter->total ? done : meter->total;
    buf_init(&text, TEXT_BYTES);
    meter_text(&text, meter, part, passed_ms);
    bar_draw(meter->total > 0 ? (uint32_t)((unsigned __int128)part * 1000 / meter->total) : 1000,
             buf_text(&text));
    buf_done(&text);
    meter->drawn_ms = now_ms;
    meter->shown = true;
}

void meter_clear(struct meter *meter)
{
    if (meter->shown) {
        bar_clear();
        meter->shown = false;
        meter->drawn_ms = 0;
    }
}

/* ---- a directory that grows ---- */

struct meter_watch {
    struct meter meter;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool end;
    char dir[DIR_BYTES];
};

uint64_t meter_dir_bytes(const char *dir)
{
    char path[DIR_BYTES];
    uint64_t bytes = 0;
    if (!str_copy(path, sizeof path, dir)) {
        return 0;
    }
    char *const roots[] = {path, NULL};
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; walk != NULL && (entry = fts_read(walk)) != NULL;) {
        bytes += entry->fts_info == FTS_F ? (uint64_t)entry->fts_statp->st_size : 0;
    }
    if (walk != NULL) {
        (void)fts_close(walk);
    }
    return bytes;
}

static void *watch_run(void *ctx)
{
    struct meter_watch *watch = ctx;
    must(pthread_mutex_lock(&watch->lock) == 0);
    while (!watch->end) {
        rest_wait(&watch->ended, &watch->lock, LOOK_EVERY_MS);
        if (!watch->end) {
            meter_move(&watch->meter, meter_dir_bytes(watch->dir));
        }
    }
    must(pthread_mutex_unlock(&watch->lock) == 0);
    return NULL;
}

struct meter_watch *meter_watch_new(const char *dir, uint64_t total)
{
    struct meter_watch *watch = xcalloc(1, sizeof *watch);
    meter_begin(&watch->meter, "copied", total, true);
    must(pthread_mutex_init(&watch->lock, NULL) == 0);
    must(pthread_cond_init(&watch->ended, NULL) == 0);
    if (!watch->meter.on || !str_copy(watch->dir, sizeof watch->dir, dir) ||
        pthread_create(&watch->thread, NULL, watch_run, watch) != 0) {
        free(watch); /* the work goes on without a bar */
        return NULL;
    }
    return watch;
}

void meter_watch_free(struct meter_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    must(pthread_mutex_lock(&watch->lock) == 0);
    watch->end = true;
    must(pthread_cond_signal(&watch->ended) == 0);
    must(pthread_mutex_unlock(&watch->lock) == 0);
    must(pthread_join(watch->thread, NULL) == 0);
    meter_clear(&watch->meter);
    (void)pthread_cond_destroy(&watch->ended);
    (void)pthread_mutex_destroy(&watch->lock);
    free(watch);
}
