/* guild_start.c - see guild_start.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/guild/guild_start.h"

#include "base/inert.h"
#include "base/vec.h"
#include "compat/guild/guild_attrs.h"
#include "compat/guild/guild_guard.h"
#include "compat/guild/guild_home.h"
#include "compat/guild/guild_pump.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    EXIT_NOT_STARTED = 127,
    GUILD_BEGIN_MS = 60000, /* for Guild to take the run after it was started */
    LOOK_MS = 5,
    END_TRIES = 30,
    END_PAUSE_S = 1,
    ENV_MAX = 16384,
};

/* What the child does: filled in before fork(), read after. */
struct start_child {
    const char *const *argv;
    const char *const *env;
    const char *dir;    /* where the command runs; NULL: here */
    const char *staged; /* the marker that the child removes; NULL: Guild removes it */
    int streams[2];     /* write ends; -1: ours */
    int gate;           /* a byte: go on; the end: the starter is gone */
    int trouble;        /* errno is written here when the command cannot be run; closed by exec */
};

struct guild_told guild_start_tell(const struct guild_start *start, struct guild_told told)
{
    if (start->shared != NULL) {
        start->shared->said = told;
    }
    if (start->told >= 0) {
        (void)!write(start->told, &told, sizeof told);
    }
    return told;
}

static struct guild_told failed(const struct guild_start *start, const struct error *e)
{
    struct guild_told told = {.kind = GUILD_TOLD_FAILED, .value = (int32_t)e->code};
    (void)str_copy(told.text, sizeof told.text, e->text);
    return guild_start_tell(start, told);
}

/* ---- the child ---- */

static void child_trouble(const struct start_child *child, int number)
{
    (void)!write(child->trouble, &number, sizeof number);
    _exit(EXIT_NOT_STARTED);
}

static void child_run(const struct start_child *child)
{
    char go;
    sigset_t none;
    (void)setpgid(0, 0);
    if (read(child->gate, &go, 1) != 1) {
        _exit(EXIT_NOT_STARTED); /* nothing was done: the run is still staged */
    }
    for (int i = 0; i < 2; i++) {
        if (child->streams[i] >= 0) {
            (void)dup2(child->streams[i], i + 1);
        }
    }
    const int null = open("/dev/null", O_RDONLY);
    (void)dup2(null, STDIN_FILENO);
    (void)close(null);
    if (child->dir != NULL && chdir(child->dir) != 0) {
        child_trouble(child, errno);
    }
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (child->staged != NULL && unlink(child->staged) != 0) {
        child_trouble(child, errno);
    }
    environ = (char **)(uintptr_t)child->env; /* the command is searched on the run's own PATH */
    (void)execvp(child->argv[0], (char *const *)(uintptr_t)child->argv);
    child_trouble(child, errno);
}

struct spawned {
    struct guild_process process;
    int gate;
    int trouble;
};

/* `streams`: the pipes of the run. Their write ends are closed here once the child has them. */
static enum err spawn(struct start_child *child, const struct guild_start *start, int streams[2][2],
                      struct spawned *ret, struct error *e)
{
    int gate[2];
    int trouble[2];
    if (pipe2(gate, O_CLOEXEC) != 0 || pipe2(trouble, O_CLOEXEC) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make a pipe");
    }
    child->streams[0] = streams[0][1];
    child->streams[1] = streams[1][1];
    child->gate = gate[0];
    child->trouble = trouble[1];
    const pid_t pid = fork();
    if (pid == 0) {
        (void)close(gate[1]); /* or the child would keep its own gate open */
        (void)close(trouble[0]);
        child_run(child);
    }
    if (pid < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot start a process");
    }
    if (start->shared != NULL) {
        start->shared->child = pid;
    }
    (void)close(gate[0]);
    (void)close(trouble[1]);
    for (int i = 0; i < 2; i++) {
        if (child->streams[i] >= 0) {
            (void)close(child->streams[i]);
        }
    }
    *ret = (struct spawned){
        .process = {.pid = pid,
                    .pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
                    .streams = {streams[0][0], streams[1][0]},
                    .records = child->staged != NULL},
        .gate = gate[1],
        .trouble = trouble[0],
    };
    return ERR_OK;
}

/* Lets the child go on. Returns 0 once the command runs, or the errno of what failed. */
static int gate_open(struct spawned *spawned)
{
    int number = 0;
    (void)!write(spawned->gate, "g", 1);
    (void)close(spawned->gate);
    const ssize_t n = read(spawned->trouble, &number, sizeof number);
    (void)close(spawned->trouble);
    return n == (ssize_t)sizeof number ? number : 0;
}

/* ---- taking the run ---- */

/* Takes the lock and looks whether the run is still to be had. ERR_CONFLICT: it is not. ERR_BUSY: other runs run, and this run must be
 * alone; the error's text names the other runs. */
static enum err lock_take(const struct guild_run *run, const struct guild_start *start,
                          struct arena *arena, int *ret_lock, struct error *e)
{
    int lock;
    enum err r = guild_home_lock(arena, start->home, &lock, e);
    if (r != ERR_OK) {
        return r;
    }
    if (!guild_home_is_run(arena, run->dir) || guild_home_status(arena, run->dir) != GUILD_STAGED) {
        guild_home_unlock(lock);
        return fail(e, ERR_CONFLICT, "run %.60s is not staged any more", run->id);
    }
    const char *others = start->alone ? guild_run_others(arena, start->home) : "";
    if (*others != '\0') {
        guild_home_unlock(lock);
        return fail(e, ERR_BUSY, "%.200s", others);
    }
    *ret_lock = lock;
    return ERR_OK;
}

/* Tells why the run was not taken. */
static struct guild_told not_taken(const struct guild_start *start, const struct error *e)
{
    struct guild_told told = {.kind = GUILD_TOLD_GONE};
    if (e->code == ERR_CONFLICT) {
        return guild_start_tell(start, told);
    }
    if (e->code == ERR_BUSY) {
        told.kind = GUILD_TOLD_BUSY;
        (void)str_copy(told.text, sizeof told.text, e->text);
        return guild_start_tell(start, told);
    }
    return failed(start, e);
}

/* Writes what Guild writes before a start. */
static enum err attributes_begin(const struct guild_run *run, const char *const *env,
                                 struct arena *arena, struct error *e)
{
    enum err r = guild_attrs_remove(arena, run->dir, "attrs/exit_status", e);
    r = r == ERR_OK ? guild_attrs_remove(arena, run->dir, "attrs/stopped", e) : r;
    r = r == ERR_OK ? guild_attrs_put_env(arena, run->dir, env, e) : r;
    return r == ERR_OK ? guild_attrs_put_number(arena, run->dir, "started", guild_attrs_now_us(), e)
                       : r;
}

static bool is_gone(const char *dir)
{
    return access(dir, F_OK) != 0 && errno == ENOENT;
}

/* Writes what Guild writes at the end of a run. */
static enum err attributes_end(const struct guild_run *run, int code, struct arena *arena,
                               struct error *e)
{
    enum err r = guild_attrs_put_number(arena, run->dir, "exit_status", code, e);
    r = r == ERR_OK ? guild_attrs_put_number(arena, run->dir, "stopped", guild_attrs_now_us(), e)
                    : r;
    return r == ERR_OK ? guild_attrs_remove(arena, run->dir, "LOCK", e) : r;
}

struct guild_told guild_start_ended(const struct guild_run *run, const struct guild_start *start,
                                    int status, bool record, struct arena *arena)
{
    const int code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    if (record) {
        struct error e;
        enum err r = attributes_end(run, code, arena, &e);
        /* A full disk or a file server that restarts must not cost the run its exit status. */
        for (int tries = 0; r != ERR_OK && tries < END_TRIES && !is_gone(run->dir); tries++) {
            const struct timespec pause = {.tv_sec = END_PAUSE_S};
            (void)nanosleep(&pause, NULL);
            r = attributes_end(run, code, arena, &e);
        }
        if (r != ERR_OK) {
            inert_print_error("weir guild", &e);
        }
    }
    return guild_start_tell(start,
                            (struct guild_told){.kind = GUILD_TOLD_ENDED, .value = code & 0xFF});
}

static struct guild_told native_run(const struct guild_run *run, const struct guild_start *start,
                                    int streams[2][2], struct arena *arena)
{
    struct error e;
    int lock;
    const char **env = NULL;
    struct spawned spawned;
    struct start_child child = {.argv = run->cmd, .dir = run->dir};
    child.staged = arena_fmt(arena, "%s/.guild/STAGED", run->dir);
    enum err r = guild_run_env(run, start->home, NULL, start->devices, arena, &env, &e);
    r = r == ERR_OK ? lock_take(run, start, arena, &lock, &e) : r;
    if (r != ERR_OK) {
        return not_taken(start, &e);
    }
    child.env = env;
    r = attributes_begin(run, env, arena, &e);
    r = r == ERR_OK ? spawn(&child, start, streams, &spawned, &e) : r;
    if (r != ERR_OK) {
        guild_home_unlock(lock);
        return failed(start, &e);
    }
    const char *pid = arena_fmt(arena, "%d", (int)spawned.process.pid);
    r = guild_attrs_put(arena, run->dir, "LOCK", str_of(pid), &e);
    if (r != ERR_OK) {
        (void)close(spawned.gate); /* the child ends without having done anything */
        (void)waitpid(spawned.process.pid, NULL, 0);
        guild_home_unlock(lock);
        return failed(start, &e);
    }
    const int trouble = gate_open(&spawned);
    guild_home_unlock(lock);
    (void)guild_start_tell(
        start, (struct guild_told){.kind = GUILD_TOLD_STARTED, .value = spawned.process.pid});
    const int status = guild_pump_run(run, &spawned.process, arena);
    if (trouble != 0) {
        const char *words =
            arena_fmt(arena, "weir: cannot run '%s': %s\n", run->cmd[0], strerror(trouble));
        if (guild_attrs_put(arena, run->dir, "output", str_of(words), &e) != ERR_OK) {
            inert_print_error("weir guild", &e);
        }
        (void)!write(STDERR_FILENO, words, strlen(words));
    }
    return guild_start_ended(run, start, status, true, arena);
}

/* ---- the start by Guild ---- */

/* The program that was staged with is the one that starts: `python -um guild.op_main …` tells where Guild is. */
static const char **guild_argv(const struct guild_run *run, const struct guild_start *start,
                               struct arena *arena)
{
    static const char module[] = "guild.";
    VEC(const char *) argv = {0};
    const char **cmd = run->cmd;
    if (start->guild != NULL) {
        vec_push(&argv, start->guild);
    } else if (cmd[0] != NULL && cmd[1] != NULL && cmd[2] != NULL && strcmp(cmd[1], "-um") == 0 &&
               strncmp(cmd[2], module, sizeof module - 1) == 0) {
        vec_push(&argv, cmd[0]);
        vec_push(&argv, "-um");
        vec_push(&argv, "guild.main_bootstrap");
    } else {
        vec_push(&argv, "guild");
    }
    vec_push(&argv, "run");
    vec_push(&argv, "-y");
    vec_push(&argv, "--start");
    vec_push(&argv, run->id);
    if (start->gpus != NULL) {
        vec_push(&argv, "--gpus");
        vec_push(&argv, start->gpus);
    }
    vec_push(&argv, NULL);
    const char **copy = arena_dup(arena, argv.at, argv.count * sizeof *argv.at);
    vec_done(&argv);
    return copy;
}

/* Guild gets the environment of the staging, so that `guild` and its packages are found also where our own environment is empty. */
static enum err guild_env(const struct guild_run *run, const struct guild_start *start,
                          struct arena *arena, const char ***ret, struct error *e)
{
    const char **staged;
    enum err r = guild_run_env(run, start->home, start->gpus, start->devices, arena, &staged, e);
    if (r != ERR_OK) {
        return r;
    }
    static const char *const dropped[] = {"RUN_ID=", "RUN_DIR="};
    VEC(const char *) env = {0};
    for (; *staged != NULL && env.count < ENV_MAX; staged++) {
        bool drop = false;
        for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
            drop |= strncmp(*staged, dropped[i], strlen(dropped[i])) == 0;
        }
        if (!drop) {
            vec_push(&env, *staged);
        }
    }
    vec_push(&env, "NO_RESTARTING_MSG=1");
    vec_push(&env, "NO_IMPORT_FLAGS_PROGRESS=1");
    vec_push(&env, NULL);
    *ret = arena_dup(arena, env.at, env.count * sizeof *env.at);
    vec_done(&env);
    return ERR_OK;
}

/* Waits until Guild has taken the run, or has ended. The lock is held until then, so that no queue takes the run, too. */
static void guild_await(const struct guild_run *run, pid_t pid, struct arena *arena)
{
    for (int waited = 0; waited < GUILD_BEGIN_MS; waited += LOOK_MS) {
        siginfo_t info = {0};
        const bool over =
            waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
        if (over || guild_home_status(arena, run->dir) != GUILD_STAGED) {
            return;
        }
        const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
        (void)nanosleep(&pause, NULL);
    }
}

static struct guild_told guild_run(const struct guild_run *run, const struct guild_start *start,
                                   int streams[2][2], struct arena *arena)
{
    struct error e;
    int lock;
    const char **env = NULL;
    struct spawned spawned;
    enum err r = guild_env(run, start, arena, &env, &e);
    r = r == ERR_OK ? lock_take(run, start, arena, &lock, &e) : r;
    if (r != ERR_OK) {
        return not_taken(start, &e);
    }
    struct start_child child = {.argv = guild_argv(run, start, arena), .env = env};
    if (spawn(&child, start, streams, &spawned, &e) != ERR_OK) {
        guild_home_unlock(lock);
        return failed(start, &e);
    }
    const int trouble = gate_open(&spawned);
    if (trouble != 0) {
        guild_home_unlock(lock);
        (void)waitpid(spawned.process.pid, NULL, 0);
        (void)fail_errno(&e, ERR_IO, trouble,
                         "only Guild can start this run, because %s, and '%s' cannot be run; "
                         "guild=PATH names it",
                         run->why_guild == NULL ? "gpus= is given" : run->why_guild, child.argv[0]);
        return failed(start, &e);
    }
    guild_await(run, spawned.process.pid, arena);
    const bool taken = guild_home_status(arena, run->dir) != GUILD_STAGED;
    guild_home_unlock(lock);
    if (!taken) {
        (void)kill(-spawned.process.pid, SIGTERM);
        (void)guild_pump_run(run, &spawned.process, arena); /* Guild's own words */
        (void)fail(&e, ERR_IO, "'%s' ended without starting the run", child.argv[0]);
        return failed(start, &e);
    }
    (void)guild_start_tell(
        start, (struct guild_told){.kind = GUILD_TOLD_STARTED, .value = spawned.process.pid});
    const int status = guild_pump_run(run, &spawned.process, arena);
    return guild_start_ended(run, start, status, false, arena);
}

struct guild_told guild_start_run(const struct guild_run *run, const struct guild_start *start,
                                  struct arena *arena)
{
    (void)signal(SIGPIPE, SIG_IGN);
    /* Guild keeps what `--gpus` says in the run's attributes, so Guild starts a run whose devices we choose. */
    return run->why_guild != NULL || start->gpus != NULL
               ? guild_guard_run(run, start, guild_run, false, arena)
               : guild_guard_run(run, start, native_run, true, arena);
}
