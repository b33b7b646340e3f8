/* guild_orphans.c - see guild_orphans.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/guild/guild_orphans.h"

#include "compat/guild/guild_attrs.h"
#include "compat/guild/guild_run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool queue_runs(const char *home, struct arena *arena)
{
    struct guild_ids running;
    if (guild_home_runs(home, 1U << GUILD_RUNNING, arena, &running, NULL) != ERR_OK) {
        return true;
    }
    for (size_t i = 0; i < running.count; i++) {
        if (guild_run_is_queue(arena, guild_home_run_dir(arena, home, running.at[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_orphan(const char *run_dir, struct arena *arena)
{
    struct stat pending;
    const char *marker = arena_fmt(arena, "%s/.guild/PENDING", run_dir);
    const char *staged_env = arena_fmt(arena, "%s/.guild/ENV", run_dir);
    return stat(marker, &pending) == 0 && time(NULL) - pending.st_mtime >= GUILD_ORPHAN_AGE_S &&
           access(staged_env, F_OK) == 0 && guild_attrs_lock_pid(arena, run_dir) == 0;
}

enum err guild_orphans_find(const char *home, struct arena *arena, struct guild_ids *ret,
                            struct error *e)
{
    struct guild_ids pending;
    *ret = (struct guild_ids){0};
    enum err r = guild_home_runs(home, 1U << GUILD_PENDING, arena, &pending, e);
    if (r != ERR_OK || pending.count == 0 || queue_runs(home, arena)) {
        return r;
    }
    size_t count = 0;
    for (size_t i = 0; i < pending.count; i++) {
        if (is_orphan(guild_home_run_dir(arena, home, pending.at[i]), arena)) {
            pending.at[count++] = pending.at[i];
        }
    }
    *ret = (struct guild_ids){pending.at, count};
    return ERR_OK;
}

/* STAGED is there before PENDING goes: killed between the two, the run is pending as before. */
static enum err restage(const char *run_dir, struct arena *arena, struct error *e)
{
    enum err r = guild_attrs_put(arena, run_dir, "STAGED", str_of(""), e);
    return r == ERR_OK ? guild_attrs_remove(arena, run_dir, "PENDING", e) : r;
}

enum err guild_orphans_restage(const char *home, struct arena *arena, struct guild_ids *ret,
                               struct error *e)
{
    int lock;
    enum err r = guild_home_lock(arena, home, &lock, e);
    if (r != ERR_OK) {
        return r;
    }
    r = guild_orphans_find(home, arena, ret, e);
    for (size_t i = 0; r == ERR_OK && i < ret->count; i++) {
        r = restage(guild_home_run_dir(arena, home, ret->at[i]), arena, e);
    }
    guild_home_unlock(lock);
    return r;
}
