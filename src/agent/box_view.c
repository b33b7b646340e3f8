/* box_view.c - see box_view.h.
 *
 * /job is a directory of this view alone: an empty file system in memory with the job directory and each entry of the
 * pool's directory bound into it. Where the node has no /job, the view gets a root of its own that binds every entry
 * of the node's root: nothing is written to the node. SPDX-License-Identifier: Apache-2.0 */
#include "agent/box_view.h"

#include "agent/taskenv.h"
#include "base/name.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define JOB "/job"
enum { POOL_ENTRIES_MAX = 4096, ROOT_ENTRIES_MAX = 256 };

static const char *after(const char *text, const char *start)
{
    const size_t len = strlen(start);
    return strncmp(text, start, len) == 0 ? text + len : NULL;
}

bool box_view_word(const char *mount)
{
    return after(mount, "job:") != NULL || after(mount, "pool:") != NULL ||
           after(mount, "buckets:") != NULL;
}

/* /job, or /job/NAME. */
static bool place_ok(const char *place)
{
    const char *name = after(place, JOB);
    return name != NULL &&
           (*name == '\0' || (*name == '/' && name[1] != '\0' && name[1] != '.' &&
                              strchr(name + 1, '/') == NULL && strlen(name) <= NAME_LEN_MAX));
}

enum err box_view_read(struct box *box, struct error *e)
{
    box->view = (struct box_view){.job = "", .pool = "", .buckets = ""};
    for (size_t i = 0; i < box->order.mount_count; i++) {
        const char *word = box->order.mounts[i];
        const char *job = after(word, "job:");
        const char *pool = after(word, "pool:");
        const char *buckets = after(word, "buckets:");
        if ((job != NULL && !place_ok(job)) || (pool != NULL && strcmp(pool, JOB) != 0) ||
            (buckets != NULL && *buckets != '/')) {
            return fail(e, ERR_INVALID,
                        "the mount '%.120s' must be job:/job, job:/job/NAME, pool:/job or "
                        "buckets:/INTERFACE",
                        word);
        }
        box->view.job = job != NULL ? job : box->view.job;
        box->view.pool = pool != NULL ? pool : box->view.pool;
        box->view.buckets = buckets != NULL ? buckets : box->view.buckets;
    }
    if (*box->view.pool != '\0' && strlen(box->view.job) <= strlen(JOB)) {
        return fail(e, ERR_INVALID, "pool:/job needs job:/job/NAME beside it");
    }
    return ERR_OK;
}

const char *box_view_pool_dir(struct box *box)
{
    const char *pool = taskenv_get((char *const *)(uintptr_t)box->start.env, "WEIR_POOL");
    return *box->view.pool == '\0' || pool == NULL
               ? ""
               : arena_fmt(&box->arena, "%s/pools/%s", box->dir, pool);
}

/* ---- the view ---- */

static bool bind(const char *source, const char *place)
{
    return mount(source, place, NULL, MS_BIND | MS_REC, NULL) == 0;
}

/* Makes a place that is a directory or a file, as the source is, and binds the source there. */
static bool bind_made(const char *source, const char *place)
{
    struct stat info;
    if (stat(source, &info) != 0) {
        return false;
    }
    if (S_ISDIR(info.st_mode)) {
        return (mkdir(place, 0755) == 0 || errno == EEXIST) && bind(source, place);
    }
    const int fd = open(place, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return fd >= 0 && close(fd) == 0 && bind(source, place);
}

/* Puts an entry of the node's root into the new root. Links stay links. */
static bool root_entry(struct box *box, const char *root, const char *name)
{
    struct stat info;
    char target[TASK_PATH_MAX];
    const char *from = arena_fmt(&box->arena, "/%s", name);
    const char *to = arena_fmt(&box->arena, "%s/%s", root, name);
    if (lstat(from, &info) != 0) {
        return true;
    }
    if (S_ISLNK(info.st_mode)) {
        const ssize_t len = readlink(from, target, sizeof target - 1);
        target[len > 0 ? len : 0] = '\0';
        return len > 0 && symlink(target, to) == 0;
    }
    return (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)) || bind_made(from, to);
}

/* A root that has /job and all that the node's root has. */
static bool root_make(struct box *box)
{
    const char *root = arena_fmt(&box->arena, "%s/box/%s/root", box->dir, box->name);
    const struct dirent *entry;
    bool well = (mkdir(root, 0755) == 0 || errno == EEXIST) &&
                mount("weir", root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") == 0;
    DIR *dir = well ? opendir("/") : NULL;
    unsigned count = 0;
    while (dir != NULL && well && (entry = readdir(dir)) != NULL) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, "job") != 0) {
            well = ++count <= ROOT_ENTRIES_MAX && root_entry(box, root, name);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return well && count > 0 && mkdir(arena_fmt(&box->arena, "%s" JOB, root), 0755) == 0 &&
           chdir(root) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 &&
           umount2(".", MNT_DETACH) == 0 && chdir("/") == 0;
}

/* Calls `mount` for each entry of the pool's directory. */
static void pool_each(struct box *box, box_view_fn mount, void *ctx)
{
    const char *pool = box_view_pool_dir(box);
    const char *own = strrchr(box->view.job, '/') + 1;
    const struct dirent *entry;
    DIR *dir = *pool == '\0' ? NULL : opendir(pool);
    unsigned count = 0;
    while (dir != NULL && (entry = readdir(dir)) != NULL && count < POOL_ENTRIES_MAX) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            strcmp(entry->d_name, own) != 0) {
            mount(ctx, arena_fmt(&box->arena, JOB "/%s", entry->d_name),
                  arena_fmt(&box->arena, "%s/%s", pool, entry->d_name));
            count++;
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
}

struct binding {
    bool well;
};

static void binding_add(void *ctx, const char *place, const char *source)
{
    struct binding *binding = ctx;
    binding->well = binding->well && bind_made(source, place);
}

/* The new root binds what the node's root has, so the sources have the same paths in it. */
static bool places_fill(struct box *box)
{
    struct binding binding = {true};
    if (strcmp(box->view.job, JOB) == 0) {
        return bind(box->start.job_dir, JOB);
    }
    if (mount("weir", JOB, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=4m") != 0) {
        return false;
    }
    binding_add(&binding, box->view.job, box->start.job_dir);
    pool_each(box, binding_add, &binding);
    return binding.well && mount(NULL, JOB, NULL, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV,
                                 "mode=755,size=4m") == 0;
}

bool box_view_enter(struct box *box)
{
    struct stat info;
    if (*box->view.job == '\0' || !box->start.switch_user || unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) != 0) {
        return false;
    }
    const bool there = lstat(JOB, &info) == 0 && S_ISDIR(info.st_mode);
    return (there || root_make(box)) && places_fill(box);
}

void box_view_mounts(struct box *box, box_view_fn mount, void *ctx)
{
    if (*box->view.job == '\0') {
        return;
    }
    if (strcmp(box->view.job, JOB) != 0) {
        mount(ctx, JOB, "");
    }
    mount(ctx, box->view.job, box->start.job_dir);
    if (*box->view.pool != '\0') {
        pool_each(box, mount, ctx);
    }
}

/* ---- the variables ---- */

void box_view_name(struct box *box, bool entered)
{
    struct box_start *start = &box->start;
    const char *from = start->job_dir;
    const char *pool = *box->view.pool == '\0' ? "" : entered ? JOB : box_view_pool_dir(box);
    const char **env = arena_new(&box->arena, const char *, start->env_count + 2);
    if (*box->view.job == '\0') {
        return;
    }
    for (size_t i = 0; i < start->env_count; i++) {
        const char *value = strchr(start->env[i], '=');
        const char *rest = value == NULL || !entered ? NULL : after(value + 1, from);
        env[i] = rest != NULL && (*rest == '\0' || *rest == '/')
                     ? arena_fmt(&box->arena, "%.*s=%s%s", (int)(value - start->env[i]),
                                 start->env[i], box->view.job, rest)
                     : start->env[i];
    }
    if (*pool != '\0') {
        (void)mkdir(arena_fmt(&box->arena, "%s/pools", box->dir), 0755);
        (void)mkdir(box_view_pool_dir(box), 0755);
        env[start->env_count++] = arena_fmt(&box->arena, "WEIR_POOL_DIR=%s", pool);
    }
    env[start->env_count] = NULL;
    start->env = env;
    start->job_dir = entered ? box->view.job : from;
}
