/* guild_home.c - see guild_home.h. Everything here only reads, apart from the lock file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/guild/guild_home.h"

#include "base/sort.h"
#include "base/vec.h"
#include "compat/guild/guild_attrs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRY_MS = 5, PATH_DEPTH_MAX = 256 };

/* ---- where the home is ---- */

static bool is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static const char *absolute(struct arena *arena, const char *path)
{
    char cwd[4096];
    if (path[0] == '/' || getcwd(cwd, sizeof cwd) == NULL) {
        return path;
    }
    return arena_fmt(arena, "%s/%s", cwd, path);
}

/* The nearest .guild from this directory upwards, not above the user's home; NULL: none. */
static const char *home_above(struct arena *arena, const char *user_home)
{
    char here[4096];
    if (getcwd(here, sizeof here) == NULL) {
        return NULL;
    }
    for (int depth = 0; depth < PATH_DEPTH_MAX; depth++) {
        const char *path = arena_fmt(arena, "%s/.guild", here);
        if (is_dir(path)) {
            return path;
        }
        char *slash = strrchr(here, '/');
        if (slash == NULL || slash == here || strcmp(here, user_home) == 0) {
            break;
        }
        *slash = '\0';
    }
    return NULL;
}

enum err guild_home_find(const char *named, struct arena *arena, const char **ret, struct error *e)
{
    const char *set = named != NULL ? named : getenv("GUILD_HOME");
    if (set != NULL && *set != '\0') {
        if (!is_dir(set)) {
            return fail(e, ERR_NOT_FOUND, "directory '%.200s' does not exist", set);
        }
        *ret = absolute(arena, set);
        return ERR_OK;
    }
    static const char *const environments[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    for (size_t i = 0; i < sizeof environments / sizeof *environments; i++) {
        const char *prefix = getenv(environments[i]);
        const char *path = prefix == NULL ? NULL : arena_fmt(arena, "%s/.guild", prefix);
        if (path != NULL && is_dir(path)) {
            *ret = path;
            return ERR_OK;
        }
    }
    const char *user = getenv("HOME");
    user = user == NULL ? "/" : user;
    const char *above = home_above(arena, user);
    *ret = above != NULL ? above : arena_fmt(arena, "%s/.guild", user);
    return ERR_OK;
}

bool guild_home_id_ok(const char *id)
{
    const size_t len = strlen(id);
    return len > 0 && len <= GUILD_ID_MAX && id[0] != '.' && strchr(id, '/') == NULL;
}

const char *guild_home_run_dir(struct arena *arena, const char *home, const char *id)
{
    return arena_fmt(arena, "%s/runs/%s", home, id);
}

/* ---- the status of a run ---- */

static bool has(struct arena *arena, const char *run_dir, const char *name)
{
    return access(arena_fmt(arena, "%s/.guild/%s", run_dir, name), F_OK) == 0;
}

bool guild_home_is_run(struct arena *arena, const char *run_dir)
{
    return has(arena, run_dir, "opref");
}

enum guild_status guild_home_status(struct arena *arena, const char *run_dir)
{
    if (has(arena, run_dir, "LOCK.remote")) {
        return GUILD_RUNNING;
    }
    if (has(arena, run_dir, "PENDING")) {
        return GUILD_PENDING;
    }
    if (has(arena, run_dir, "STAGED")) {
        return GUILD_STAGED;
    }
    int64_t exit_status;
    if (guild_attrs_number(arena, run_dir, "exit_status", &exit_status)) {
        return exit_status == 0  ? GUILD_COMPLETED
               : exit_status < 0 ? GUILD_TERMINATED
                                 : GUILD_ERROR;
    }
    const int64_t pid = guild_attrs_lock_pid(arena, run_dir);
    const bool lives = pid > 0 && access(arena_fmt(arena, "/proc/%lld", (long long)pid), F_OK) == 0;
    return lives ? GUILD_RUNNING : GUILD_ERROR;
}

static int id_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Looks at one entry of the directory of runs. `scratch` holds the paths. */
static bool entry_wanted(const char *home, const char *name, unsigned statuses,
                         struct arena *scratch)
{
    if (!guild_home_id_ok(name)) {
        return false;
    }
    arena_clear(scratch);
    const char *dir = guild_home_run_dir(scratch, home, name);
    const bool only_staged = statuses == 1U << GUILD_STAGED;
    if (only_staged && !has(scratch, dir, "STAGED")) {
        return false; /* most runs of a home have ended: one look each */
    }
    return guild_home_is_run(scratch, dir) &&
           (statuses & 1U << guild_home_status(scratch, dir)) != 0;
}

enum err guild_home_runs(const char *home, unsigned statuses, struct arena *arena,
                         struct guild_ids *ret, struct error *e)
{
    const char *path = arena_fmt(arena, "%s/runs", home);
    DIR *dir = opendir(path);
    *ret = (struct guild_ids){0};
    if (dir == NULL) {
        return errno == ENOENT ? ERR_OK
                               : fail_errno(e, ERR_IO, errno, "cannot read '%.150s'", path);
    }
    VEC(const char *) ids = {0};
    struct arena scratch;
    arena_init(&scratch);
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL && ids.count < GUILD_RUNS_MAX) {
        if (entry_wanted(home, entry->d_name, statuses, &scratch)) {
            vec_push(&ids, arena_str(arena, entry->d_name));
        }
    }
    (void)closedir(dir);
    arena_done(&scratch);
    if (ids.count > 0) {
        sort_items(ids.at, ids.count, sizeof *ids.at, id_compare);
        *ret = (struct guild_ids){arena_dup(arena, ids.at, ids.count * sizeof *ids.at), ids.count};
    }
    vec_done(&ids);
    return ERR_OK;
}

/* ---- the lock ---- */

enum err guild_home_lock(struct arena *arena, const char *home, int *ret_fd, struct error *e)
{
    const char *dir = arena_fmt(arena, "%s/locks", home);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        return fail_errno(e, ERR_IO, errno, "cannot make '%.150s'", dir);
    }
    const char *path = arena_fmt(arena, "%s/run-status", dir);
    const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot open '%.150s'", path);
    }
    for (int waited = 0; waited < GUILD_LOCK_WAIT_MS; waited += LOCK_TRY_MS) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            *ret_fd = fd;
            return ERR_OK;
        }
        const struct timespec pause = {.tv_nsec = LOCK_TRY_MS * 1000000L};
        (void)nanosleep(&pause, NULL);
    }
    (void)close(fd);
    return fail(e, ERR_TIMEOUT,
                "could not acquire lock for reading staged runs\nIf this error persists, try "
                "stopping all queues and deleting %.120s",
                path);
}

void guild_home_unlock(int fd)
{
    (void)flock(fd, LOCK_UN);
    (void)close(fd);
}
