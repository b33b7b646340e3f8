/* keyring.c - a ring of attempt keys with an index. SPDX-License-Identifier: Apache-2.0 */
#include "agent/keyring.h"

#include "agent/limits.h"
#include "base/map.h"
#include "base/mem.h"

struct keyring {
    struct map *index;
    size_t next;
    size_t count;
    struct attempt_key keys[RECENT_KEYS_MAX];
};

struct keyring *keyring_new(void)
{
    struct keyring *ring = xcalloc(1, sizeof *ring);
    ring->index = map_new();
    return ring;
}

void keyring_free(struct keyring *ring)
{
    if (ring != NULL) {
        map_free(ring->index);
        free(ring);
    }
}

void keyring_add(struct keyring *ring, const struct attempt_key *key)
{
    if (keyring_has(ring, key)) {
        return;
    }
    struct attempt_key *slot = &ring->keys[ring->next];
    if (ring->count == RECENT_KEYS_MAX) {
        (void)map_remove(ring->index, slot, sizeof *slot);
    } else {
        ring->count++;
    }
    *slot = *key;
    (void)map_put(ring->index, slot, sizeof *slot, slot);
    ring->next = (ring->next + 1) % RECENT_KEYS_MAX;
}

bool keyring_has(const struct keyring *ring, const struct attempt_key *key)
{
    return map_get(ring->index, key, sizeof *key) != NULL;
}
