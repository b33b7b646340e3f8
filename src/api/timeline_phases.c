/* timeline_phases.c - see timeline.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/timeline.h"

#include "base/doc.h"
#include "base/map.h"
#include "base/time_text.h"
#include "core/state/query.h"

enum { TIMELINE_PHASE_BYTES_MAX = 16 * 1024 * 1024 };

struct phases {
    struct store_reader *reader;
    struct map *bars;  /* task, instance and attempt -> its bar */
    struct map *tasks; /* those that were read */
    struct arena arena;
    size_t bytes;
    enum err err;
    struct error *error;
};

struct bar_key {
    uint64_t task, index, attempt;
};

/* An attempt as the API shows it. */
static void attempt_take(struct phases *p, uint64_t task, const struct doc *attempt)
{
    struct bar_key key = {.task = task};
    const char *text;
    struct bar *bar = doc_u64(doc_get(attempt, "index"), &key.index) &&
                              doc_u64(doc_get(attempt, "attempt"), &key.attempt)
                          ? map_get(p->bars, &key, sizeof key)
                          : NULL;
    if (bar == NULL) {
        return;
    }
    if (doc_text(doc_get(attempt, "started_at"), &text)) {
        (void)time_text_parse(str_of(text), &bar->started_ms);
    }
    const struct doc *devices = doc_get(attempt, "devices");
    uint64_t device;
    for (const struct doc *one = devices == NULL ? NULL : devices->first; one != NULL;
         one = one->next) {
        if (doc_u64(one, &device) && device < 64) {
            bar->devices |= UINT64_C(1) << device;
        }
    }
}

static const struct doc *json_read(struct phases *p, struct str json)
{
    struct doc *doc;
    p->bytes += json.len;
    p->err = p->err == ERR_OK ? doc_json_parse(&p->arena, json, &doc, p->error) : p->err;
    return p->err == ERR_OK ? doc : NULL;
}

static void earlier_take(void *ctx, const struct store_attempt *attempt)
{
    struct phases *p = ctx;
    const struct doc *doc = json_read(p, attempt->json);
    if (doc != NULL) {
        attempt_take(p, attempt->task, doc);
    }
}

/* The newest attempts of a task that has ended. */
static void history_take(struct phases *p, uint64_t task)
{
    struct str json;
    const enum err r = store_history_get(p->reader, task, &p->arena, &json, p->error);
    if (r == ERR_NOT_FOUND) {
        return;
    }
    p->err = r;
    const struct doc *doc = r == ERR_OK ? json_read(p, json) : NULL;
    const struct doc *attempts = doc == NULL ? NULL : doc_get(doc, "attempts");
    for (const struct doc *one = attempts == NULL ? NULL : attempts->first; one != NULL;
         one = one->next) {
        attempt_take(p, task, one);
    }
}

/* The newest attempt of an instance whose task goes on. */
static bool instance_take(const struct core *copy, struct bar *bar)
{
    const struct instance *instance = query_instance(copy, (task_id){bar->task}, bar->index);
    if (instance == NULL || instance->attempt != bar->attempt) {
        return false;
    }
    bar->started_ms = instance->started_ms;
    bar->devices = instance->devices;
    return true;
}

enum err timeline_phases(const struct core *copy, struct store_reader *reader, struct bar *bars,
                         size_t count, struct error *e)
{
    struct phases p = {.reader = reader, .bars = map_new(), .tasks = map_new(), .error = e};
    for (size_t i = 0; i < count; i++) {
        const struct bar_key key = {bars[i].task, bars[i].index, bars[i].attempt};
        (void)map_put(p.bars, &key, sizeof key, &bars[i]);
    }
    for (size_t i = 0; i < count && p.err == ERR_OK && p.bytes < TIMELINE_PHASE_BYTES_MAX; i++) {
        struct bar *bar = &bars[i];
        if (bar->end_ms == 0 || instance_take(copy, bar) ||
            map_get(p.tasks, &bar->task, sizeof bar->task) != NULL) {
            continue;
        }
        (void)map_put(p.tasks, &bar->task, sizeof bar->task, bar);
        arena_init(&p.arena);
        if (query_task(copy, (task_id){bar->task}) == NULL) {
            history_take(&p, bar->task);
        }
        if (p.err == ERR_OK && bar->started_ms == 0) {
            p.err = store_history_attempts(reader, bar->task, earlier_take, &p, e);
        }
        arena_done(&p.arena);
    }
    map_free(p.bars);
    map_free(p.tasks);
    return p.err;
}
