/* openbook.c - attempts without a recorded end. SPDX-License-Identifier: Apache-2.0 */
#include "agent/openbook.h"

#include "base/map.h"
#include "base/mem.h"

struct openbook {
    struct map *open; /* key -> a copy of it */
    unsigned char id[SUPERVISOR_ID_LEN];
    bool known; /* `id` is */
};

struct openbook *openbook_new(void)
{
    struct openbook *openbook = xcalloc(1, sizeof *openbook);
    openbook->open = map_new();
    return openbook;
}

void openbook_free(struct openbook *openbook)
{
    if (openbook == NULL) {
        return;
    }
    struct attempt_key key;
    while (openbook_take(openbook, &key)) {
    }
    map_free(openbook->open);
    free(openbook);
}

static void open_add(struct openbook *openbook, const struct attempt_key *key)
{
    if (map_get(openbook->open, key, sizeof *key) == NULL) {
        (void)map_put(openbook->open, key, sizeof *key, xmemdup(key, sizeof *key));
    }
}

void openbook_note(struct openbook *openbook, const struct record *record)
{
    switch (record->type) {
    case RECORD_SEGMENT:
        memcpy(openbook->id, record->id, sizeof openbook->id);
        openbook->known = true;
        for (size_t i = 0; i < record->open_count; i++) {
            open_add(openbook, &record->open[i]);
        }
        break;
    case RECORD_ACCEPTED:
    case RECORD_STARTED:
        open_add(openbook, &record->key);
        break;
    case RECORD_ENDED:
    case RECORD_SPAWN_FAILED:
    case RECORD_LOST:
        free(map_remove(openbook->open, &record->key, sizeof record->key));
        break;
    case RECORD_CHECKPOINT:
    case RECORD_OUTPUT:
    case RECORD_NONE:
        break;
    }
}

bool openbook_crosses(const struct openbook *openbook, const struct record *record)
{
    return record->type == RECORD_SEGMENT && openbook->known &&
           memcmp(openbook->id, record->id, sizeof openbook->id) != 0;
}

void openbook_doubt(struct openbook *openbook, const struct attempt_key *key)
{
    open_add(openbook, key);
}

bool openbook_take(struct openbook *openbook, struct attempt_key *ret)
{
    size_t cursor = 0;
    struct attempt_key *key = map_next(openbook->open, &cursor);
    if (key == NULL) {
        return false;
    }
    *ret = *key;
    (void)map_remove(openbook->open, ret, sizeof *ret);
    free(key);
    return true;
}
