/* cmd_guild.c - `weir guild run-once|watch`: schedules the runs that Guild AI staged. `weir guild start` is the command of the tasks that a
 * running Weir gets.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/guild_log.h"
#include "cli/guild_remote.h"
#include "cli/guild_look.h"
#include "cli/guild_pass.h"
#include "cli/guild_runner.h"
#include "cli/guild_screen.h"
#include "compat/guild/guild_home.h"
#include "compat/guild/guild_start.h"
#include "compat/guild/guild_words.h"
#include "io/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { REMOTE_WORKERS = 10000, REMOTE_LOOK_MS = 200, FDS_MAX = 16384 };

/* SIGTERM, SIGINT and SIGHUP arrive on a descriptor from now on. */
static void signals_block(void)
{
    sigset_t set;
    signals_ending(&set);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

static int signals_open(void)
{
    sigset_t set;
    signals_block();
    (void)sigprocmask(SIG_BLOCK, NULL, &set);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* ---- the loop ---- */

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* What one descriptor of session_wait() belongs to. */
struct waited {
    struct guild_entry *entry;
    int stream; /* -1: what the starter tells */
};

static size_t descriptors(const struct guild_session *session, struct pollfd *fds,
                          struct waited *of)
{
    size_t count = 1;
    for (size_t i = 0; i < session->entries.count && count + 3 < FDS_MAX; i++) {
        struct guild_entry *entry = session->entries.at[i];
        for (int stream = 0; stream < 2; stream++) {
            if (entry->streams[stream] >= 0) {
                of[count] = (struct waited){entry, stream};
                fds[count++] = (struct pollfd){.fd = entry->streams[stream], .events = POLLIN};
            }
        }
        if (entry->told >= 0) {
            of[count] = (struct waited){entry, -1};
            fds[count++] = (struct pollfd){.fd = entry->told, .events = POLLIN};
        }
    }
    return count;
}

static int wait_ms(const struct guild_session *session)
{
    int64_t ms = session->look_at_ms - now_ms();
    ms = session->ended || ms < 0 ? 0 : ms;
    const int due_ms = guild_screen_due_ms();
    ms = session->remote != NULL && ms > REMOTE_LOOK_MS ? REMOTE_LOOK_MS : ms;
    return (int)(due_ms >= 0 && due_ms < ms ? due_ms : ms);
}

/* Waits for a starter, a signal or the next look at the home. Returns false when a signal came. */
static bool session_wait(struct guild_session *session, int signals)
{
    const size_t room = session->entries.count * 3 + 1;
    auto_free(freep) struct pollfd *fds = xcalloc(room, sizeof *fds);
    auto_free(freep) struct waited *of = xcalloc(room, sizeof *of);
    fds[0] = (struct pollfd){.fd = signals, .events = POLLIN};
    const size_t count = descriptors(session, fds, of);
    const int ready = poll(fds, count, wait_ms(session));
    for (size_t i = 1; ready > 0 && i < count; i++) {
        if (fds[i].revents == 0) {
            continue;
        }
        if (of[i].stream >= 0 && of[i].entry->streams[of[i].stream] == fds[i].fd) {
            guild_runner_output(of[i].entry, of[i].stream);
        } else if (of[i].stream < 0 && of[i].entry->told == fds[i].fd) {
            guild_pass_told(session, of[i].entry);
            guild_pass_run(session); /* what starts because of an end is logged behind this end */
        }
    }
    if (guild_screen_due_ms() == 0) {
        guild_screen_flush();
    }
    return fds[0].revents == 0;
}

static void idle_say(struct guild_session *session)
{
    const bool busy = guild_pass_busy(session);
    if (!busy && !session->idle_said && !session->flags.once) {
        guild_log(GUILD_INFO, "Waiting for staged runs");
    }
    session->idle_said = !busy;
}

/* Looks at the home when a run has ended, and else as often as the flag says: output alone is no reason to look. */
static void session_look(struct guild_session *session)
{
    if (session->remote != NULL) {
        guild_remote_look(session);
    }
    if (session->ended || now_ms() >= session->look_at_ms) {
        session->ended = false;
        guild_look_scan(session);
        guild_pass_run(session);
        session->look_at_ms = now_ms() + session->flags.poll_ms;
    }
}

/* Returns false when a signal ended the loop. */
static bool session_loop(struct guild_session *session, int signals)
{
    for (;;) {
        session_look(session);
        /* A run that ended meanwhile may be what another run waits for: look again before the end. */
        if (session->flags.once && !guild_pass_busy(session)) {
            guild_look_scan(session);
            guild_pass_run(session);
            if (!guild_pass_busy(session)) {
                return true;
            }
        }
        idle_say(session);
        if (!session_wait(session, signals)) {
            return false;
        }
    }
}

/* ---- the frame ---- */

static void head_say(struct guild_session *session)
{
    const struct guild_flags *flags = &session->flags;
    struct arena *arena = &session->cli->arena;
    guild_log(GUILD_INFO, "Starting Dask scheduler");
    if (flags->resources_ignored != NULL) {
        guild_log(GUILD_WARNING,
                  "Ignoring invalid dask resources spec %s: parts must be in format KEY=VAL",
                  guild_words_repr(arena, str_of(flags->resources_ignored)));
    }
    const char *with = flags->workers_given ? arena_fmt(arena, " with %u worker%s", flags->workers,
                                                        flags->workers == 1 ? "" : "s")
                                            : "";
    guild_log(GUILD_INFO, "Initializing Dask cluster%s", with);
    const char *url = guild_remote_url(session);
    guild_log(GUILD_INFO, "Dashboard link: %s", url == NULL ? "<disabled>" : url);
    if (flags->resources.count > 0) {
        guild_log(GUILD_INFO, "Cluster resources: %s", guild_needs_text(&flags->resources, arena));
    }
    if (flags->once) {
        guild_log(GUILD_INFO, "Processing staged runs");
    }
}

static void foot_say(const struct guild_session *session, const struct timespec *began)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const double seconds =
        (double)(now.tv_sec - began->tv_sec) + (double)(now.tv_nsec - began->tv_nsec) / 1e9;
    if (session->flags.once) {
        /* the words of 2021 and those of the releases since: scripts look for either */
        guild_log(GUILD_INFO, "Dask scheduler ran for %f seconds", seconds);
        guild_log(GUILD_INFO, "Dask scheduler processed %u run(s) in %f seconds",
                  session->processed, seconds);
    }
    guild_log(GUILD_INFO, "Stopping Dask scheduler");
    guild_log(GUILD_INFO, "Stopping Dask cluster");
}

static void running_say(const struct guild_session *session)
{
    size_t running = 0;
    for (size_t i = 0; i < session->entries.count; i++) {
        running += session->entries.at[i]->stage == GUILD_STAGE_RUNNING ? 1 : 0;
    }
    if (running > 0) {
        guild_log(GUILD_INFO,
                  "%zu run%s on and will be recorded to the end; `guild stop` ends runs", running,
                  running == 1 ? " goes" : "s go");
    }
}

static void session_done(struct guild_session *session)
{
    for (size_t i = 0; i < session->entries.count; i++) {
        struct guild_entry *entry = session->entries.at[i];
        entry->pid = 0; /* a starter that still works is not waited for */
        guild_runner_done(entry);
        guild_look_free(entry);
    }
    vec_done(&session->entries);
    map_free(session->index);
    guild_desk_free(session->desk);
    guild_remote_free(session->remote);
}

static int guild_run(struct cli *cli)
{
    struct error e;
    struct timespec began;
    struct guild_session session = {.cli = cli};
    enum err r = guild_flags_read(cli, &session.flags, &e);
    r = r == ERR_OK ? guild_remote_open(&session, &session.remote, &e) : r;
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &began);
    (void)signal(SIGPIPE, SIG_IGN);
    const int signals = signals_open();
    const bool given = session.flags.workers_given || session.remote == NULL;
    session.desk =
        guild_desk_new(given ? session.flags.workers : REMOTE_WORKERS, &session.flags.resources);
    session.index = map_new();
    guild_log_init();
    guild_screen_open();
    head_say(&session);
    guild_look_orphans(&session);
    if (!session_loop(&session, signals)) {
        if (session.remote != NULL) {
            guild_remote_withdraw(&session);
        }
        running_say(&session);
    }
    guild_screen_flush();
    foot_say(&session, &began);
    guild_screen_close();
    session_done(&session);
    (void)close(signals);
    return EXIT_OK;
}

int cmd_guild_once(struct cli *cli)
{
    return guild_run(cli);
}

int cmd_guild_watch(struct cli *cli)
{
    return guild_run(cli);
}

/* ---- the command of a task ---- */

/* The GPUs that a running Weir gave to this task; NULL: none, or this is no task. */
static const char *task_devices(void)
{
    const char *devices = getenv("WEIR_TASK_ID") == NULL ? NULL : getenv("CUDA_VISIBLE_DEVICES");
    return devices == NULL || *devices == '\0' ? NULL : devices;
}

int cmd_guild_start(struct cli *cli)
{
    struct error e;
    struct guild_run run;
    const char *home;
    const char *id = cli->args.words[0];
    enum err r = guild_home_find(args_text(&cli->args, "home"), &cli->arena, &home, &e);
    if (r == ERR_OK && !guild_home_id_ok(id)) {
        r = fail(&e, ERR_USAGE, "'%.60s' is no id of a run", id);
    }
    r = r == ERR_OK ? guild_run_read(home, id, &cli->arena, &run, &e) : r;
    if (r != ERR_OK) {
        (void)context_fail(cli, &e);
        return EXIT_WEIR_FAILED;
    }
    signals_block();
    const struct guild_start start = {
        .home = home,
        .gpus = args_text(&cli->args, "gpus"),
        .devices = task_devices(),
        .alone = args_has(&cli->args, "alone"),
        .guild = args_text(&cli->args, "guild"),
        .told = -1,
    };
    const struct guild_told last = guild_start_run(&run, &start, &cli->arena);
    if (last.kind == GUILD_TOLD_FAILED) {
        context_say("weir: run %s stays staged: %s", id, last.text);
    } else if (last.kind == GUILD_TOLD_BUSY) {
        context_say("weir: run %s stays staged: other runs run: %s", id, last.text);
    } else if (last.kind == GUILD_TOLD_GONE) {
        context_say("weir: run %s is not staged any more", id);
    }
    return last.kind == GUILD_TOLD_ENDED ? last.value : EXIT_WEIR_FAILED;
}
