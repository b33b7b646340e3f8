/* local.c - see local.h.
 *
 *   DIR/KEY/node/        the directory of the agent: agent.lock and supervisor.lock are locked while the two run
 *   DIR/KEY/join.token   with which the agent joins
 *   DIR/KEY/agent.log    what the agent prints
 *   DIR/KEY/ending       there: the machine is to end
 *
 * A machine is up while one of the two locks is held. Nothing else is remembered, so a server that was killed finds all
 * machines again. A machine that is to end is gone once both locks are free and its directory is removed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provider/local/local.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/str.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PATH_LEN_MAX = 4096,
    REMOVE_DESCRIPTORS = 16,
    REMOVE_ENTRIES_MAX = 2000, /* files of one node that are removed without another process */
    PID_TEXT_MAX = 32,
};

static const char *const locks[] = {"agent.lock", "supervisor.lock"};
enum { LOCK_AGENT, LOCK_SUPERVISOR, LOCK_COUNT };

/* A process that this process has started and that has not ended: an agent, or one that removes a directory. */
struct local_child {
    pid_t pid;
    bool removes;
    char key[PROVIDER_KEY_MAX];
};

struct local {
    struct provider provider;
    char dir[PATH_LEN_MAX];
    VEC(struct local_child) children;
};

static struct local *local_of(struct provider *provider)
{
    return (struct local *)(void *)provider;
}

/* DIR/KEY or DIR/KEY/name, in the arena. */
static const char *path_of(const struct local *local, struct arena *arena, const char *key,
                           const char *name)
{
    return name == NULL ? arena_fmt(arena, "%s/%s", local->dir, key)
                        : arena_fmt(arena, "%s/%s/%s", local->dir, key, name);
}

static void tell(struct local *local, const char *key, enum provider_says says, const char *words)
{
    const struct provider_report report = {
        .key = key, .says = says, .name = "", .node = "", .words = words};
    local->provider.sink.report(local->provider.sink.ctx, &report);
}

/* ---- is the machine up? ---- */

/* The process that holds the lock; 0: no process does. */
static pid_t holder_of(const struct local *local, struct arena *arena, const char *key,
                       unsigned lock)
{
    const char *path = arena_fmt(arena, "%s/%s/node/%s", local->dir, key, locks[lock]);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    char text[PID_TEXT_MAX] = "";
    uint64_t pid = 0;
    if (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
        pread(fd, text, sizeof text - 1, 0) > 0) {
        text[strcspn(text, "\n")] = '\0';
        (void)str_to_u64(str_of(text), &pid);
    }
    (void)close(fd);
    return (pid_t)pid;
}

/* Forgets the processes that have ended. */
static void children_collect(struct local *local)
{
    size_t kept = 0;
    for (size_t i = 0; i < local->children.count; i++) {
        if (waitpid(local->children.at[i].pid, NULL, WNOHANG) == 0) {
            local->children.at[kept++] = local->children.at[i];
        }
    }
    local->children.count = kept;
}

/* An agent that has just been started does not hold its lock yet. */
static bool is_child(const struct local *local, const char *key)
{
    for (size_t i = 0; i < local->children.count; i++) {
        if (!local->children.at[i].removes && strcmp(local->children.at[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* What is up of a machine. */
static enum provider_says look(const struct local *local, struct arena *arena, const char *key)
{
    if (is_child(local, key) || holder_of(local, arena, key, LOCK_AGENT) > 0) {
        return PROVIDER_RUNNING;
    }
    /* Tasks outlive their agent. Another agent takes them over. */
    return holder_of(local, arena, key, LOCK_SUPERVISOR) > 0 ? PROVIDER_REQUESTED : PROVIDER_GONE;
}

static bool is_ending(const struct local *local, struct arena *arena, const char *key)
{
    return access(path_of(local, arena, key, "ending"), F_OK) == 0;
}

/* ---- launch ---- */

static enum err file_write(const char *path, const char *text, struct error *e)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make '%s'", path);
    }
    const size_t len = strlen(text);
    const bool whole = write(fd, text, len) == (ssize_t)len;
    const int number = errno;
    (void)close(fd);
    return whole ? ERR_OK : fail_errno(e, ERR_IO, number, "cannot write '%s'", path);
}

static enum err dirs_make(const struct local *local, struct arena *arena, const char *key,
                          struct error *e)
{
    /* Tasks may run as another user, who must be able to pass through. */
    const char *const paths[] = {path_of(local, arena, key, NULL),
                                 path_of(local, arena, key, "node")};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (mkdir(paths[i], 0711) != 0 && errno != EEXIST) {
            return fail_errno(e, ERR_IO, errno, "cannot make '%s'", paths[i]);
        }
    }
    return ERR_OK;
}

/* The command line of the agent, in the arena. */
static char **agent_words(const struct local *local, struct arena *arena,
                          const struct provider_order *order)
{
    char resources[PROVIDER_RESOURCES_MAX];
    provider_resources(order, resources);
    const char *data = arena_fmt(arena, "%.*s", (int)(strrchr(local->dir, '/') - local->dir),
                                 local->dir); /* of the server: no task reads it */
    const char *const words[] = {
        "weir",
        "agent",
        "--dir",
        path_of(local, arena, order->key, "node"),
        "--hide",
        data,
        "--server",
        order->server,
        "--pool",
        order->pool,
        "--name",
        order->node,
        "--join-token-file",
        path_of(local, arena, order->key, "join.token"),
        /* The machine's own GPUs belong to the node that somebody started there. */
        order->gpus > 0 ? "--fake-gpus" : "--slots",
        arena_fmt(arena, "%" PRIu32, order->slots),
        "--resources",
        resources,
        "--replace", /* the agent of a server that was killed may still be ending */
        "--parent",
        arena_fmt(arena, "%d", (int)getpid()),
        "--label", /* left out where there is no zone */
        arena_fmt(arena, "zone=%s", order->zone),
    };
    const size_t count = sizeof words / sizeof words[0] - (order->zone[0] == '\0' ? 2 : 0);
    char **argv = arena_new(arena, char *, count + 1);
    for (size_t i = 0; i < count; i++) {
        argv[i] = arena_str(arena, words[i]);
    }
    argv[count] = NULL;
    return argv;
}

static enum err agent_start(struct local *local, struct arena *arena,
                            const struct provider_order *order, struct error *e)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    const char *log = path_of(local, arena, order->key, "agent.log");
    (void)sigemptyset(&none);
    must(posix_spawn_file_actions_init(&actions) == 0);
    must(posix_spawnattr_init(&attributes) == 0);
    must(posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0);
    must(posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0600) ==
         0);
    must(posix_spawn_file_actions_adddup2(&actions, 1, 2) == 0);
    must(posix_spawnattr_setsigmask(&attributes, &none) == 0);
    must(posix_spawnattr_setpgroup(&attributes, 0) == 0);
    must(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP) ==
         0);
    pid_t pid;
    const int number = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes,
                                   agent_words(local, arena, order), environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    if (number != 0) {
        return fail_errno(e, ERR_IO, number, "cannot start an agent");
    }
    struct local_child child = {.pid = pid};
    must(str_copy(child.key, sizeof child.key, order->key));
    vec_push(&local->children, child);
    return ERR_OK;
}

static void local_launch(struct provider *provider, const struct provider_order *order)
{
    struct local *local = local_of(provider);
    struct error e;
    struct arena arena;
    arena_init(&arena);
    enum err r = ERR_OK;
    children_collect(local);
    if (!is_child(local, order->key)) {
        r = dirs_make(local, &arena, order->key, &e);
        r = r == ERR_OK ? file_write(path_of(local, &arena, order->key, "join.token"),
                                     order->join_token, &e)
                        : r;
        r = r == ERR_OK ? agent_start(local, &arena, order, &e) : r;
    }
    tell(local, order->key, r == ERR_OK ? PROVIDER_REQUESTED : PROVIDER_FAILED,
         r == ERR_OK ? "" : e.text);
    arena_done(&arena);
}

/* ---- terminate ---- */

/* Tasks may leave directories that nobody may write. */
static int entry_open(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)at;
    if (type == FTW_D || type == FTW_DNR) {
        (void)chmod(path, 0700);
    }
    return 0;
}

static int entry_remove(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

/* Entries that were looked at; nftw() has no place for a context. Only the thread that owns the provider uses this. */
static unsigned entries_seen;

static int entry_count(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)path;
    (void)info;
    (void)type;
    (void)at;
    return ++entries_seen > REMOVE_ENTRIES_MAX;
}

/* Are there so few files that removing them does not keep the caller waiting? */
static bool is_small(const char *path)
{
    entries_seen = 0;
    return nftw(path, entry_count, REMOVE_DESCRIPTORS, FTW_PHYS) == 0;
}

/* Opens all directories, then removes everything. True: nothing is left. */
static bool tree_remove(const char *path)
{
    (void)nftw(path, entry_open, REMOVE_DESCRIPTORS, FTW_PHYS);
    return nftw(path, entry_remove, REMOVE_DESCRIPTORS, FTW_DEPTH | FTW_PHYS) == 0;
}

static bool is_removing(const struct local *local, const char *key)
{
    for (size_t i = 0; i < local->children.count; i++) {
        if (local->children.at[i].removes && strcmp(local->children.at[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* Another process removes the directory. It counts as removed once it is gone. */
static void remover_start(struct local *local, const char *key, const char *path)
{
    char program[] = "sh";
    char flag[] = "-c";
    char script[] = "chmod -R u+rwx -- \"$0\" 2>/dev/null; exec rm -rf -- \"$0\"";
    char target[PATH_LEN_MAX + PROVIDER_KEY_MAX];
    struct local_child child = {.removes = true};
    must(str_copy(target, sizeof target, path));
    must(str_copy(child.key, sizeof child.key, key));
    char *const words[] = {program, flag, script, target, NULL};
    if (posix_spawn(&child.pid, "/bin/sh", NULL, NULL, words, environ) == 0) {
        vec_push(&local->children, child);
    }
}

/* True: nothing is left of the directory. A directory with many files is removed by another process. */
static bool dir_remove(struct local *local, struct arena *arena, const char *key)
{
    const char *path = path_of(local, arena, key, NULL);
    children_collect(local);
    if (access(path, F_OK) != 0) {
        return true;
    }
    if (is_removing(local, key)) {
        return false;
    }
    if (is_small(path)) {
        return tree_remove(path);
    }
    remover_start(local, key, path);
    return false;
}

/* Tells the processes of a machine to end, or, when all have ended, removes its directory. */
static void end_further(struct local *local, struct arena *arena, const char *key)
{
    bool up = false;
    for (size_t i = 0; i < local->children.count; i++) {
        if (!local->children.at[i].removes && strcmp(local->children.at[i].key, key) == 0) {
            up |= kill(local->children.at[i].pid, SIGTERM) == 0;
        }
    }
    for (unsigned i = 0; i < LOCK_COUNT; i++) {
        const pid_t pid = holder_of(local, arena, key, i);
        up |= pid > 0 && kill(pid, SIGTERM) == 0;
    }
    if (up || !dir_remove(local, arena, key)) {
        tell(local, key, PROVIDER_RUNNING, "");
    } else {
        tell(local, key, PROVIDER_GONE, "");
    }
}

static void local_terminate(struct provider *provider, const char *key)
{
    struct local *local = local_of(provider);
    struct error e;
    struct arena arena;
    arena_init(&arena);
    if (access(path_of(local, &arena, key, NULL), F_OK) != 0) {
        tell(local, key, PROVIDER_GONE, "");
    } else {
        (void)file_write(path_of(local, &arena, key, "ending"), "", &e);
        end_further(local, &arena, key);
    }
    arena_done(&arena);
}

/* ---- list ---- */

static void local_list(struct provider *provider, void (*done)(void *ctx, const char *problem),
                       void *ctx)
{
    struct local *local = local_of(provider);
    struct arena arena;
    arena_init(&arena);
    children_collect(local);
    DIR *dir = opendir(local->dir);
    const struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char key[PROVIDER_KEY_MAX];
        arena_clear(&arena);
        if (entry->d_name[0] == '.' || !str_copy(key, sizeof key, entry->d_name)) {
            continue;
        }
        if (is_ending(local, &arena, key)) {
            end_further(local, &arena, key);
        } else {
            const enum provider_says says = look(local, &arena, key);
            tell(local, key, says, says == PROVIDER_GONE ? "its agent has ended" : "");
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    arena_done(&arena);
    done(ctx, "");
}

static void local_free(struct provider *provider)
{
    struct local *local = local_of(provider);
    vec_done(&local->children);
    free(local);
}

enum err local_provider_new(const char *dir, struct provider_sink sink, struct provider **ret,
                            struct error *e)
{
    static const struct provider_ops ops = {.launch = local_launch,
                                            .list = local_list,
                                            .terminate = local_terminate,
                                            .free = local_free};
    struct local *local = xcalloc(1, sizeof *local);
    local->provider = (struct provider){.ops = &ops, .sink = sink};
    if (!str_copy(local->dir, sizeof local->dir, dir)) {
        free(local);
        return fail(e, ERR_LIMIT, "'%.60s…' is too long", dir);
    }
    if (mkdir(dir, 0711) != 0 && errno != EEXIST) {
        free(local);
        return fail_errno(e, ERR_IO, errno, "cannot make '%s'", dir);
    }
    *ret = &local->provider;
    return ERR_OK;
}
