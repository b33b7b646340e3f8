/* disk_watch.c - see disk_watch.h. The thread looks at one attempt after the other. After each look
 * the thread rests nine times as long as the look took, so that it uses at most a tenth of one
 * processor, however many files there are. SPDX-License-Identifier: Apache-2.0 */
#include "agent/disk_watch.h"

#include "agent/disk_walk.h"
#include "agent/limits.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/rest.h"
#include "base/vec.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { REST_MS_MIN = 500, REST_OF_LOOK = 9, MS_PER_S = 1000, NS_PER_MS = 1000000 };

struct watched {
    struct attempt_key key;
    uid_t uid;
    bool over;
    char dir[AGENT_PATH_MAX];
};

struct disk_watch {
    uint64_t limit;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t ending;
    bool end;
    size_t next; /* the index in `all` of the attempt to look at next */
    VEC(struct watched *) all;
};

static int64_t now_ms(void)
{
    struct timespec now;
    must(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (int64_t)now.tv_sec * MS_PER_S + now.tv_nsec / NS_PER_MS;
}

static struct watched *find(const struct disk_watch *watch, const struct attempt_key *key)
{
    for (size_t i = 0; i < watch->all.count; i++) {
        if (memcmp(&watch->all.at[i]->key, key, sizeof *key) == 0) {
            return watch->all.at[i];
        }
    }
    return NULL;
}

/* Adds up the disk of the next attempt. The lock is free meanwhile, so the attempt may end during
 * the walk. */
static void look(struct disk_watch *watch)
{
    if (watch->all.count == 0) {
        return;
    }
    watch->next = watch->next >= watch->all.count ? 0 : watch->next;
    const struct watched one = *watch->all.at[watch->next++];
    must(pthread_mutex_unlock(&watch->lock) == 0);
    const struct disk_walk walk = {.dir = one.dir, .uid = one.uid, .limit = watch->limit};
    const bool over = disk_walk_bytes(&walk) > watch->limit;
    must(pthread_mutex_lock(&watch->lock) == 0);
    struct watched *still = find(watch, &one.key);
    if (still != NULL && over) {
        still->over = true;
    }
}

static void *run(void *ctx)
{
    struct disk_watch *watch = ctx;
    must(pthread_mutex_lock(&watch->lock) == 0);
    while (!watch->end) {
        const int64_t begin_ms = now_ms();
        look(watch);
        const int64_t rest_ms = (now_ms() - begin_ms) * REST_OF_LOOK;
        const int64_t least_ms = REST_MS_MIN / (int64_t)(watch->all.count + 1);
        if (!watch->end) {
            rest_wait(&watch->ending, &watch->lock, rest_ms > least_ms ? rest_ms : least_ms);
        }
    }
    must(pthread_mutex_unlock(&watch->lock) == 0);
    return NULL;
}

struct disk_watch *disk_watch_new(uint64_t limit)
{
    if (limit == 0) {
        return NULL;
    }
    struct disk_watch *watch = xcalloc(1, sizeof *watch);
    watch->limit = limit;
    must(pthread_mutex_init(&watch->lock, NULL) == 0);
    must(pthread_cond_init(&watch->ending, NULL) == 0);
    must(pthread_create(&watch->thread, NULL, run, watch) == 0);
    return watch;
}

void disk_watch_free(struct disk_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    must(pthread_mutex_lock(&watch->lock) == 0);
    watch->end = true;
    must(pthread_cond_signal(&watch->ending) == 0);
    must(pthread_mutex_unlock(&watch->lock) == 0);
    must(pthread_join(watch->thread, NULL) == 0);
    for (size_t i = 0; i < watch->all.count; i++) {
        free(watch->all.at[i]);
    }
    vec_done(&watch->all);
    must(pthread_cond_destroy(&watch->ending) == 0);
    must(pthread_mutex_destroy(&watch->lock) == 0);
    free(watch);
}

uint64_t disk_watch_limit(const struct disk_watch *watch)
{
    return watch == NULL ? 0 : watch->limit;
}

void disk_watch_add(struct disk_watch *watch, const struct attempt_key *key, const char *dir,
                    uid_t uid)
{
    if (watch == NULL) {
        return;
    }
    struct watched *one = xcalloc(1, sizeof *one);
    one->key = *key;
    one->uid = uid;
    (void)snprintf(one->dir, sizeof one->dir, "%s", dir);
    must(pthread_mutex_lock(&watch->lock) == 0);
    vec_push(&watch->all, one);
    must(pthread_mutex_unlock(&watch->lock) == 0);
}

void disk_watch_drop(struct disk_watch *watch, const struct attempt_key *key)
{
    if (watch == NULL) {
        return;
    }
    must(pthread_mutex_lock(&watch->lock) == 0);
    for (size_t i = 0; i < watch->all.count; i++) {
        if (memcmp(&watch->all.at[i]->key, key, sizeof *key) == 0) {
            free(watch->all.at[i]);
            watch->all.at[i] = watch->all.at[--watch->all.count];
            break;
        }
    }
    must(pthread_mutex_unlock(&watch->lock) == 0);
}

bool disk_watch_over(struct disk_watch *watch, const struct attempt_key *key)
{
    if (watch == NULL) {
        return false;
    }
    must(pthread_mutex_lock(&watch->lock) == 0);
    const struct watched *one = find(watch, key);
    const bool over = one != NULL && one->over;
    must(pthread_mutex_unlock(&watch->lock) == 0);
    return over;
}
