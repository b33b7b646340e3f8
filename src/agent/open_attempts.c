/* open_attempts.c - attempts without a recorded end. SPDX-License-Identifier: Apache-2.0 */
#include "agent/open_attempts.h"

#include "base/map.h"
#include "base/mem.h"

struct open_attempts {
    struct map *open; /* key -> a copy of it */
    unsigned char id[SUPERVISOR_ID_LEN];
    bool known; /* `id` is */
};

struct open_attempts *open_attempts_new(void)
{
    struct open_attempts *open_attempts = xcalloc(1, sizeof *open_attempts);
    open_attempts->open = map_new();
    return open_attempts;
}

void open_attempts_free(struct open_attempts *open_attempts)
{
    if (open_attempts == NULL) {
        return;
    }
    struct attempt_key key;
    while (open_attempts_take(open_attempts, &key)) {
    }
    map_free(open_attempts->open);
    free(open_attempts);
}

static void open_add(struct open_attempts *open_attempts, const struct attempt_key *key)
{
    if (map_get(open_attempts->open, key, sizeof *key) == NULL) {
        (void)map_put(open_attempts->open, key, sizeof *key, xmemdup(key, sizeof *key));
    }
}

void open_attempts_note(struct open_attempts *open_attempts, const struct record *record)
{
    switch (record->type) {
    case RECORD_SEGMENT:
        memcpy(open_attempts->id, record->id, sizeof open_attempts->id);
        open_attempts->known = true;
        for (size_t i = 0; i < record->open_count; i++) {
            open_add(open_attempts, &record->open[i]);
        }
        break;
    case RECORD_ACCEPTED:
    case RECORD_STARTED:
        open_add(open_attempts, &record->key);
        break;
    case RECORD_ENDED:
    case RECORD_SPAWN_FAILED:
    case RECORD_LOST:
        free(map_remove(open_attempts->open, &record->key, sizeof record->key));
        break;
    case RECORD_CHECKPOINT:
    case RECORD_OUTPUT:
    case RECORD_NONE:
        break;
    }
}

bool open_attempts_crosses(const struct open_attempts *open_attempts, const struct record *record)
{
    return record->type == RECORD_SEGMENT && open_attempts->known &&
           memcmp(open_attempts->id, record->id, sizeof open_attempts->id) != 0;
}

void open_attempts_doubt(struct open_attempts *open_attempts, const struct attempt_key *key)
{
    open_add(open_attempts, key);
}

bool open_attempts_take(struct open_attempts *open_attempts, struct attempt_key *ret)
{
    size_t cursor = 0;
    struct attempt_key *key = map_next(open_attempts->open, &cursor);
    if (key == NULL) {
        return false;
    }
    *ret = *key;
    (void)map_remove(open_attempts->open, ret, sizeof *ret);
    free(key);
    return true;
}
