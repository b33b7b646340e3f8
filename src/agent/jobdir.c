/* jobdir.c - the pool of job directories.
 *
 * A ready job directory is an outer directory, called shell, with one directory in it, called
 * inside: .ready/17/0. For the first instance of a task the whole shell becomes job/TASK. For a
 * further instance only the inside moves, and the empty shell later takes a returned inside. So
 * neither a task nor an array makes directories while it runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/jobdir.h"

#include "agent/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MAX_LEN = 64, SHELLS_MAX = 4 * JOBDIR_READY };

struct jobdirs {
    char *dir;
    int job_fd;
    int ready_fd;
    struct runas_account account;
    uint64_t shell_next;
    VEC(uint64_t) full;  /* shells that have an inside */
    VEC(uint64_t) empty; /* shells without an inside */
    /* Task -> count of the task's instances on this node, stored as a pointer's value. */
    struct map *live;
    DIR *sweep; /* where jobdir_sweep() goes on; NULL: at the beginning */
    uint64_t gone;
};

void jobdir_path(const struct jobdirs *dirs, uint64_t task, uint64_t instance, char *out)
{
    (void)snprintf(out, AGENT_PATH_MAX, "%s/job/%" PRIu64 "/%" PRIu64, dirs->dir, task, instance);
}

static void pair_name(char *out, uint64_t outer, uint64_t inner)
{
    (void)snprintf(out, NAME_MAX_LEN, "%" PRIu64 "/%" PRIu64, outer, inner);
}

static void one_name(char *out, uint64_t number)
{
    (void)snprintf(out, NAME_MAX_LEN, "%" PRIu64, number);
}

bool jobdir_stat(const struct jobdirs *dirs, uint64_t task, uint64_t instance, const char *name,
                 struct stat *ret)
{
    char path[2 * NAME_MAX_LEN];
    (void)snprintf(path, sizeof path, "%" PRIu64 "/%" PRIu64 "/%s", task, instance, name);
    return fstatat(dirs->job_fd, path, ret, AT_SYMLINK_NOFOLLOW) == 0;
}

static uintptr_t live_count(const struct jobdirs *dirs, uint64_t task)
{
    return (uintptr_t)map_get(dirs->live, &task, sizeof task);
}

static void live_set(struct jobdirs *dirs, uint64_t task, uintptr_t count)
{
    if (count == 0) {
        (void)map_remove(dirs->live, &task, sizeof task);
    } else {
        (void)map_put(dirs->live, &task, sizeof task, (void *)count);
    }
}

/* Makes one inside and gives it to the account that runs tasks. */
static must_use enum err inside_make(struct jobdirs *dirs, int at_fd, const char *name,
                                     struct error *e)
{
    if (mkdirat(at_fd, name, 0700) != 0 && errno != EEXIST) {
        return fail_errno(e, ERR_IO, errno, "cannot make the job directory '%s'", name);
    }
    if (dirs->account.switch_user &&
        fchownat(at_fd, name, dirs->account.uid, dirs->account.gid, AT_SYMLINK_NOFOLLOW) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot give away the job directory '%s'", name);
    }
    return ERR_OK;
}

static must_use enum err shell_make(struct jobdirs *dirs, struct error *e)
{
    char name[NAME_MAX_LEN];
    uint64_t shell = ++dirs->shell_next;
    one_name(name, shell);
    if (mkdirat(dirs->ready_fd, name, 0711) != 0 && errno != EEXIST) {
        return fail_errno(e, ERR_IO, errno, "cannot make a job directory");
    }
    pair_name(name, shell, 0);
    enum err r = inside_make(dirs, dirs->ready_fd, name, e);
    if (r == ERR_OK) {
        vec_push(&dirs->full, shell);
    }
    return r;
}

/* Takes over the shells that an earlier supervisor left, with or without an inside. */
static void shells_find(struct jobdirs *dirs)
{
    int fd = openat(dirs->ready_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (entries == NULL) {
        return;
    }
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        uint64_t shell;
        char inside[NAME_MAX_LEN];
        struct stat info;
        if (!str_to_u64(str_of(entry->d_name), &shell)) {
            continue;
        }
        dirs->shell_next = shell > dirs->shell_next ? shell : dirs->shell_next;
        pair_name(inside, shell, 0);
        bool whole = fstatat(dirs->ready_fd, inside, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                     info.st_uid == dirs->account.uid;
        if (whole) {
            vec_push(&dirs->full, shell);
        } else if (dirs->empty.count < SHELLS_MAX) {
            vec_push(&dirs->empty, shell);
        }
    }
    (void)closedir(entries);
}

static must_use enum err open_dirs(struct jobdirs *dirs, struct error *e)
{
    char path[AGENT_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/job", dirs->dir);
    if (mkdir(path, 0711) != 0 && errno != EEXIST) {
        return fail_errno(e, ERR_IO, errno, "cannot make '%s'", path);
    }
    dirs->job_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dirs->job_fd >= 0 && mkdirat(dirs->job_fd, ".ready", 0700) != 0 && errno != EEXIST) {
        return fail_errno(e, ERR_IO, errno, "cannot make '%s/.ready'", path);
    }
    dirs->ready_fd = openat(dirs->job_fd, ".ready", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dirs->job_fd < 0 || dirs->ready_fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot open '%s'", path);
    }
    return ERR_OK;
}

static void close_dirs(struct jobdirs *dirs)
{
    if (dirs->job_fd >= 0) {
        (void)close(dirs->job_fd);
    }
    if (dirs->ready_fd >= 0) {
        (void)close(dirs->ready_fd);
    }
    dirs->job_fd = -1;
    dirs->ready_fd = -1;
}

/* Opens the directories anew and finds what is ready there. */
static must_use enum err renew(struct jobdirs *dirs, struct error *e)
{
    close_dirs(dirs);
    vec_clear(&dirs->full);
    vec_clear(&dirs->empty);
    enum err r = open_dirs(dirs, e);
    if (r == ERR_OK) {
        shells_find(dirs);
    }
    return r;
}

/* Does D/job still lead to the open directory, and job/.ready likewise? */
static bool in_place(const struct jobdirs *dirs)
{
    char path[AGENT_PATH_MAX];
    struct stat by_name;
    struct stat job;
    struct stat ready_name;
    struct stat ready;
    (void)snprintf(path, sizeof path, "%s/job", dirs->dir);
    return stat(path, &by_name) == 0 && fstat(dirs->job_fd, &job) == 0 &&
           by_name.st_ino == job.st_ino && by_name.st_dev == job.st_dev &&
           fstatat(dirs->job_fd, ".ready", &ready_name, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstat(dirs->ready_fd, &ready) == 0 && ready_name.st_ino == ready.st_ino &&
           ready_name.st_dev == ready.st_dev;
}

must_use enum err jobdir_hold(struct jobdirs *dirs, struct error *e)
{
    if (!in_place(dirs)) {
        enum err r = renew(dirs, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    if (faccessat(dirs->job_fd, ".", W_OK | X_OK, AT_EACCESS) != 0 ||
        faccessat(dirs->ready_fd, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make job directories in '%s/job'", dirs->dir);
    }
    return dirs->full.count == 0 ? shell_make(dirs, e) : ERR_OK;
}

must_use enum err jobdir_new(const char *dir, const struct runas_account *account,
                             struct jobdirs **ret, struct error *e)
{
    struct jobdirs *dirs = xcalloc(1, sizeof *dirs);
    dirs->dir = xstrdup(dir);
    dirs->job_fd = -1;
    dirs->ready_fd = -1;
    dirs->account = *account;
    dirs->live = map_new();
    enum err r = open_dirs(dirs, e);
    if (r == ERR_OK) {
        shells_find(dirs);
    }
    while (r == ERR_OK && dirs->full.count < JOBDIR_READY) {
        r = shell_make(dirs, e);
    }
    if (r != ERR_OK) {
        jobdir_free(dirs);
        return r;
    }
    *ret = dirs;
    return ERR_OK;
}

void jobdir_free(struct jobdirs *dirs)
{
    if (dirs == NULL) {
        return;
    }
    if (dirs->sweep != NULL) {
        (void)closedir(dirs->sweep);
    }
    close_dirs(dirs);
    vec_done(&dirs->full);
    vec_done(&dirs->empty);
    map_free(dirs->live);
    free(dirs->dir);
    free(dirs);
}

bool jobdir_refill(struct jobdirs *dirs)
{
    if (dirs->full.count >= JOBDIR_READY / 2) {
        return false;
    }
    return shell_make(dirs, NULL) == ERR_OK;
}

size_t jobdir_ready(const struct jobdirs *dirs)
{
    return dirs->full.count;
}

/* Renames the whole shell to the task's directory. False: the task has a directory already. */
static bool take_whole(struct jobdirs *dirs, uint64_t shell, uint64_t task, uint64_t instance)
{
    char from[NAME_MAX_LEN];
    char to[NAME_MAX_LEN];
    one_name(from, shell);
    one_name(to, task);
    if (renameat(dirs->ready_fd, from, dirs->job_fd, to) != 0) {
        return false;
    }
    if (instance == 0) {
        return true;
    }
    pair_name(from, task, 0);
    pair_name(to, task, instance);
    return renameat(dirs->job_fd, from, dirs->job_fd, to) == 0;
}

static must_use enum err take(struct jobdirs *dirs, uint64_t task, uint64_t instance,
                              struct error *e)
{
    if (dirs->full.count == 0) {
        enum err r = shell_make(dirs, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    uint64_t shell = dirs->full.at[dirs->full.count - 1];
    uintptr_t live = live_count(dirs, task);
    if (live == 0 && take_whole(dirs, shell, task, instance)) {
        dirs->full.count--;
        live_set(dirs, task, 1);
        return ERR_OK;
    }
    char from[NAME_MAX_LEN];
    char to[NAME_MAX_LEN];
    pair_name(from, shell, 0);
    pair_name(to, task, instance);
    if (renameat(dirs->ready_fd, from, dirs->job_fd, to) == 0) {
        dirs->full.count--;
        vec_push(&dirs->empty, shell);
        /* With these two errors the directory exists, with files of an earlier attempt. */
    } else if (errno != ENOTEMPTY && errno != EEXIST) {
        return fail_errno(e, ERR_IO, errno, "cannot make the job directory '%s'", to);
    }
    live_set(dirs, task, live + 1);
    return ERR_OK;
}

must_use enum err jobdir_take(struct jobdirs *dirs, uint64_t task, uint64_t instance,
                              struct error *e)
{
    enum err r = take(dirs, task, instance, e);
    if (r == ERR_OK) {
        return r;
    }
    /* A person may have removed the directories, or some of the ready ones. */
    r = renew(dirs, e);
    return r == ERR_OK ? take(dirs, task, instance, e) : r;
}

must_use enum err jobdir_own(struct jobdirs *dirs, uint64_t task, uint64_t instance, uid_t uid,
                             gid_t gid, struct error *e)
{
    char inside[NAME_MAX_LEN];
    pair_name(inside, task, instance);
    if (fchownat(dirs->job_fd, inside, uid, gid, AT_SYMLINK_NOFOLLOW) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot give away the job directory '%s'", inside);
    }
    return ERR_OK;
}

enum content { CONTENT_NONE, CONTENT_ONE, CONTENT_MORE };

/* Sets mode and owner of a job directory's inside again. The task that had the inside may have
 * changed its mode and may have been its owner. */
static bool inside_reset(const struct jobdirs *dirs, int fd)
{
    const struct runas_account *account = &dirs->account;
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return false;
    }
    if ((info.st_mode & 07777) != 0700) {
        (void)fchmod(fd, 0700);
    }
    const bool own = info.st_uid == account->uid && info.st_gid == account->gid;
    return own || !account->switch_user || fchown(fd, account->uid, account->gid) == 0;
}

/* Returns whether the directory has no entry, one or more. Makes an empty inside ready for the next
 * task. */
static enum content content_of(const struct jobdirs *dirs, const char *name, bool is_inside)
{
    int at_fd = dirs->job_fd;
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (entries == NULL) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return CONTENT_MORE;
    }
    unsigned count = 0;
    struct dirent *entry = readdir(entries);
    for (; entry != NULL && count < 2; entry = readdir(entries)) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    if (is_inside && count == 0 && !inside_reset(dirs, fd)) {
        count = 2; /* the directory stays with its task */
    }
    (void)closedir(entries);
    return count == 0 ? CONTENT_NONE : count == 1 ? CONTENT_ONE : CONTENT_MORE;
}

/* Renames job/TASK with its one empty inside back to a ready shell. */
static bool give_whole(struct jobdirs *dirs, uint64_t task, uint64_t instance)
{
    char from[NAME_MAX_LEN];
    char to[NAME_MAX_LEN];
    uint64_t shell = dirs->shell_next + 1;
    if (instance != 0) {
        pair_name(from, task, instance);
        pair_name(to, task, 0);
        if (renameat(dirs->job_fd, from, dirs->job_fd, to) != 0) {
            return false;
        }
    }
    one_name(from, task);
    one_name(to, shell);
    if (renameat(dirs->job_fd, from, dirs->ready_fd, to) != 0) {
        return false;
    }
    dirs->shell_next = shell;
    vec_push(&dirs->full, shell);
    return true;
}

/* Moves the inside to an empty shell, or removes the inside. */
static void give_inside(struct jobdirs *dirs, const char *inside)
{
    if (dirs->empty.count == 0 || dirs->full.count >= SHELLS_MAX) {
        (void)unlinkat(dirs->job_fd, inside, AT_REMOVEDIR);
        return;
    }
    uint64_t shell = dirs->empty.at[dirs->empty.count - 1];
    char to[NAME_MAX_LEN];
    pair_name(to, shell, 0);
    if (renameat(dirs->job_fd, inside, dirs->ready_fd, to) == 0) {
        dirs->empty.count--;
        vec_push(&dirs->full, shell);
    }
}

void jobdir_give(struct jobdirs *dirs, uint64_t task, uint64_t instance)
{
    char inside[NAME_MAX_LEN];
    char outer[NAME_MAX_LEN];
    pair_name(inside, task, instance);
    one_name(outer, task);
    uintptr_t live = live_count(dirs, task);
    must(live > 0);
    live_set(dirs, task, live - 1);
    if (content_of(dirs, inside, true) != CONTENT_NONE) {
        /* The time of the directory says when the task ended. */
        (void)utimensat(dirs->job_fd, inside, NULL, AT_SYMLINK_NOFOLLOW);
        return;
    }
    if (live == 1 && dirs->full.count < SHELLS_MAX &&
        content_of(dirs, outer, false) == CONTENT_ONE && give_whole(dirs, task, instance)) {
        return;
    }
    give_inside(dirs, inside);
    if (live == 1) {
        /* Fails when other instances left files there. */
        (void)unlinkat(dirs->job_fd, outer, AT_REMOVEDIR);
    }
}

/* Has anybody changed the task's directory, or one of its instances' directories, since `before_s`? */
static bool touched(const struct jobdirs *dirs, const char *task, int64_t before_s)
{
    const int fd = openat(dirs->job_fd, task, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    bool young = entries == NULL;
    const struct dirent *entry;
    while (!young && (entry = readdir(entries)) != NULL) {
        struct stat info;
        young = strcmp(entry->d_name, "..") != 0 &&
                fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                info.st_mtim.tv_sec >= before_s;
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return young;
}

void jobdir_sweep(struct jobdirs *dirs, int64_t before_s)
{
    if (dirs->sweep == NULL) {
        const int fd = openat(dirs->job_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        dirs->sweep = fd < 0 ? NULL : fdopendir(fd);
        (void)mkdirat(dirs->job_fd, ".gone", 0700);
    }
    for (unsigned i = 0; dirs->sweep != NULL && i < JOBDIR_SWEEP; i++) {
        const struct dirent *entry = readdir(dirs->sweep);
        uint64_t task;
        char to[NAME_MAX_LEN];
        if (entry == NULL) {
            (void)closedir(dirs->sweep);
            dirs->sweep = NULL;
            return;
        }
        if (!str_to_u64(str_of(entry->d_name), &task) || live_count(dirs, task) > 0 ||
            touched(dirs, entry->d_name, before_s)) {
            continue;
        }
        (void)snprintf(to, sizeof to, ".gone/%" PRIu64 "-%" PRIu64, task, ++dirs->gone);
        (void)renameat(dirs->job_fd, entry->d_name, dirs->job_fd, to);
    }
}
