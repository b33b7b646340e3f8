/* use_table.c - see use_table.h. SPDX-License-Identifier: Apache-2.0 */
#include "wire/use_table.h"

#include "base/map.h"
#include "base/mem.h"

struct use_table {
    struct map *uses; /* by attempt key */
};

struct use_table *use_table_new(void)
{
    struct use_table *table = xcalloc(1, sizeof *table);
    table->uses = map_new();
    return table;
}

void use_table_free(struct use_table *table)
{
    if (table == NULL) {
        return;
    }
    size_t cursor = 0;
    for (void *use = map_next(table->uses, &cursor); use != NULL;
         use = map_next(table->uses, &cursor)) {
        free(use);
    }
    map_free(table->uses);
    free(table);
}

/* Drops what was not renewed: attempts of nodes that are gone. */
static void stale_drop(struct use_table *table, int64_t now_ms)
{
    size_t cursor = 0;
    for (struct attempt_use *use = map_next(table->uses, &cursor); use != NULL;
         use = map_next(table->uses, &cursor)) {
        if (now_ms - use->heard_ms > USE_STALE_MS) {
            (void)map_remove(table->uses, &use->key, sizeof use->key);
            free(use);
        }
    }
}

void use_table_put(struct use_table *table, const struct attempt_use *sample)
{
    struct attempt_use *use = map_get(table->uses, &sample->key, sizeof sample->key);
    if (use == NULL) {
        if (map_count(table->uses) >= USE_TABLE_MAX) {
            stale_drop(table, sample->heard_ms);
        }
        if (map_count(table->uses) >= USE_TABLE_MAX) {
            return;
        }
        use = xcalloc(1, sizeof *use);
        *use = *sample;
        use->cpu_milli = -1;
        use->busy_ms = sample->heard_ms;
        (void)map_put(table->uses, &use->key, sizeof use->key, use);
        return;
    }
    const int64_t ms = sample->at_ms - use->at_ms;
    const int64_t cpu_ms = sample->cpu_ms - use->cpu_ms;
    const int64_t before = use->cpu_milli;
    const struct attempt_use last = *use;
    *use = *sample;
    use->cpu_milli = ms > 0 && cpu_ms >= 0 ? cpu_ms * 1000 / ms : before;
    const bool works = use->cpu_milli >= USE_BUSY_MILLI || use->gpu_milli >= USE_BUSY_MILLI;
    use->busy_ms = works ? sample->heard_ms : last.busy_ms;
    use->warned_ms = works ? 0 : last.warned_ms;
    use->told_ms = last.told_ms;
}

void use_table_told(struct use_table *table, struct attempt_key key, int64_t now_ms)
{
    struct attempt_use *use = map_get(table->uses, &key, sizeof key);
    if (use != NULL) {
        use->told_ms = now_ms;
    }
}

void use_table_warned(struct use_table *table, struct attempt_key key, int64_t now_ms)
{
    struct attempt_use *use = map_get(table->uses, &key, sizeof key);
    if (use != NULL) {
        use->warned_ms = now_ms;
    }
}

void use_table_drop(struct use_table *table, struct attempt_key key)
{
    free(map_remove(table->uses, &key, sizeof key));
}

const struct attempt_use *use_table_get(const struct use_table *table, struct attempt_key key)
{
    return table == NULL ? NULL : map_get(table->uses, &key, sizeof key);
}

const struct attempt_use *use_table_next(const struct use_table *table, size_t *cursor)
{
    return table == NULL ? NULL : map_next(table->uses, cursor);
}
