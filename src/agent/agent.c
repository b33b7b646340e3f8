/* agent.c - the life of the agent: one loop between the server and the supervisor. The agent holds
 * nothing that must survive a kill: kill an agent at any moment and start another.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/able.h"
#include "agent/agent.h"

#include "agent/agent_internal.h"
#include "agent/before.h"
#include "agent/box_order.h"
#include "agent/dirs.h"
#include "agent/health.h"
#include "agent/identity.h"
#include "agent/keeper.h"
#include "agent/node_cert.h"
#include "agent/runas.h"
#include "agent/unprevented.h"
#include "agent/session.h"
#include "base/inert.h"
#include "base/log.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME "agent.lock"

enum {
    /* Tries until the old agent ends by itself, and again after SIGKILL. */
    REPLACE_TERM_TRIES = 250,
    REPLACE_KILL_TRIES = 250,
    REPLACE_WAIT_US = 20000,
    INBOX_TURN_MAX = 1024,
    LOCK_LOOK_MS = 5000,
    GPU_LOOK_MS = 2000,
    EXIT_USAGE = 2,
};

static void inbox_ready(void *ctx, uint32_t events)
{
    (void)events;
    struct agent *agent = ctx;
    for (int i = 0; i < INBOX_TURN_MAX; i++) {
        struct inbox_message *message = mailbox_take(agent->inbox);
        if (message == NULL) {
            return;
        }
        session_take(agent, message);
    }
}

/* Takes the directory's lock anew where its file is gone. Another agent that has the lock by now
 * serves the node: then this agent ends. */
static void lock_look(void *ctx)
{
    struct agent *agent = ctx;
    struct error e;
    loop_timer_set(agent->lock_timer, loop_now_ms(agent->loop) + LOCK_LOOK_MS);
    enum err r = dirs_lock_hold(agent->options.dir, LOCK_NAME, &agent->lock_fd, &e);
    if (r == ERR_CONFLICT) {
        log_error("another agent serves this directory, ending", kv_error(&e));
        loop_stop(agent->loop);
    } else if (r != ERR_OK) {
        log_warn("the agent's lock cannot be held", kv_error(&e));
    }
}

/* Looks for GPUs that are out of order, and tells the server when the answer changes. The server
 * gives such a GPU to no task. The node keeps its other GPUs. */
static void gpus_look(void *ctx)
{
    struct agent *agent = ctx;
    struct gpu_faults now;
    gpu_watch_faults(agent->gpus, &now);
    loop_timer_set(agent->gpu_timer, loop_now_ms(agent->loop) + GPU_LOOK_MS);
    const struct gpu_faults *told = &agent->gpu_faults;
    if (now.out != told->out || now.lost != told->lost || strcmp(now.why, told->why) != 0) {
        agent->gpu_faults = now;
        session_devices(agent);
    }
}

static void turn_end(void *ctx)
{
    keeper_flush(ctx);
}

static void end_asked(void *ctx)
{
    struct agent *agent = ctx;
    log_info("ending; tasks that run go on with their supervisor");
    keeper_bye(agent);
    loop_stop(agent->loop);
}

static void ignore(void *ctx)
{
    (void)ctx;
}

/* Takes the directory's lock. With --replace the agent that holds the lock is asked to end, then
 * killed. */
static must_use enum err lock_take(const struct agent_options *options, int *ret_fd,
                                   struct error *e)
{
    enum err r = dirs_lock(options->dir, LOCK_NAME, ret_fd, e);
    if (r != ERR_CONFLICT) {
        return r;
    }
    if (!options->replace) {
        return fail_in(e, "another agent runs here (--replace takes over)");
    }
    for (int i = 0; i < REPLACE_TERM_TRIES + REPLACE_KILL_TRIES && r == ERR_CONFLICT; i++) {
        int holder = dirs_lock_holder(options->dir, LOCK_NAME);
        if (holder > 0 && (i == 0 || i == REPLACE_TERM_TRIES)) {
            (void)kill(holder, i == 0 ? SIGTERM : SIGKILL);
        }
        (void)usleep(REPLACE_WAIT_US);
        r = dirs_lock(options->dir, LOCK_NAME, ret_fd, e);
    }
    return r;
}

static must_use enum err signals_take(struct agent *agent, struct error *e)
{
    enum err r = loop_signal(agent->loop, SIGTERM, end_asked, agent, e);
    r = r == ERR_OK ? loop_signal(agent->loop, SIGINT, end_asked, agent, e) : r;
    r = r == ERR_OK ? loop_signal(agent->loop, SIGPIPE, ignore, agent, e) : r;
    return r == ERR_OK ? loop_signal(agent->loop, SIGHUP, ignore, agent, e) : r;
}

/* Settles the account that runs the tasks before anything begins. Warns when the account cannot
 * reach the node's directory, because the job directories lie below that directory. */
static must_use enum err run_as_check(struct agent *agent, struct error *e)
{
    const struct agent_options *options = &agent->options;
    struct runas_account account;
    enum err r = runas_system(options->run_as, &account, e);
    if (r != ERR_OK) {
        return r;
    }
    r = taskuid_range(options->task_uids, TASKUID_SUBUID, &agent->task_uids, e);
    if (r == ERR_OK && options->task_uids != NULL && !account.switch_user) {
        r = fail(e, ERR_DENIED, "only root may give tasks users of their own (--task-uids)");
    }
    if (r != ERR_OK) {
        return r;
    }
    agent->account = account;
    if (!account.switch_user) {
        agent->options.hide = able_hide(options, &agent->account, &agent->arena);
    }
    char path[AGENT_PATH_MAX];
    (void)str_copy(path, sizeof path, options->dir);
    for (char *slash = strrchr(path, '/'); account.switch_user && slash != NULL && slash != path;
         slash = strrchr(path, '/')) {
        struct stat info;
        if (stat(path, &info) == 0 && (info.st_mode & S_IXOTH) == 0 && info.st_uid != account.uid) {
            log_warn("tasks cannot reach their job directory by its name: a directory above it is "
                     "closed to them",
                     kv_str("directory", path), kv_str("user", account.name));
            return ERR_OK;
        }
        *slash = '\0';
    }
    return ERR_OK;
}

static must_use enum err agent_begin(struct agent *agent, struct error *e)
{
    enum err r =
        identity_read(&agent->options, &agent->arena, &agent->node, &agent->device_serials, e);
    r = r == ERR_OK ? able_check(&agent->options, e) : r;
    r = r == ERR_OK ? run_as_check(agent, e) : r;
    if (r == ERR_OK) {
        able_labels(&agent->options, &agent->arena, &agent->node);
    }
    r = r == ERR_OK ? loop_new(&agent->loop, e) : r;
    r = r == ERR_OK ? signals_take(agent, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    agent->inbox = mailbox_new(INBOX_MAX);
    agent->before = before_new(agent);
    r = asker_new(&agent->options, &agent->asker, e);
    r = r == ERR_OK ? keeper_begin(agent, e) : r;
    if (r == ERR_OK) {
        unprevented_tell(agent);
    }
    struct stream_options options = {
        .options = &agent->options, .node = &agent->node, .inbox = agent->inbox};
    r = r == ERR_OK ? stream_new(&options, &agent->stream, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    agent->inbox_watch =
        loop_fd_add(agent->loop, mailbox_fd(agent->inbox), EPOLLIN, inbox_ready, agent);
    loop_turn_end(agent->loop, turn_end, agent);
    agent->lock_timer = loop_timer_new(agent->loop, lock_look, agent);
    lock_look(agent);
    session_begin(agent);
    if (agent->options.fake_gpus < 0) {
        agent->gpus = gpu_watch_new();
    }
    if (agent->gpus != NULL) {
        agent->gpu_timer = loop_timer_new(agent->loop, gpus_look, agent);
        gpus_look(agent);
    }
    agent->health = health_new(agent);
    return ERR_OK;
}

/* False: a thread is stuck in a call; the caller must free nothing and leave the memory to the
 * kernel. */
static bool agent_end(struct agent *agent)
{
    bool clean = stream_free(agent->stream);
    clean = reporter_free(agent->reporter) && clean;
    clean = asker_free(agent->asker) && clean;
    if (!clean) {
        return false;
    }
    for (struct inbox_message *message = agent->inbox == NULL ? NULL : mailbox_take(agent->inbox);
         message != NULL; message = mailbox_take(agent->inbox)) {
        inbox_message_free(message);
    }
    health_free(agent->health);
    before_free(agent->before);
    keeper_end(agent);
    session_end(agent);
    free(agent->site_url);
    node_cert_free(agent->options.cert);
    loop_timer_free(agent->lock_timer);
    loop_timer_free(agent->gpu_timer);
    gpu_watch_free(agent->gpus);
    loop_fd_remove(agent->inbox_watch);
    mailbox_free(agent->inbox);
    loop_free(agent->loop);
    arena_done(&agent->arena);
    return true;
}

/* Asks the kernel to end this process when its parent ends. */
static must_use enum err parent_follow(int64_t parent, struct error *e)
{
    if (parent == 0) {
        return ERR_OK;
    }
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot follow the parent process");
    }
    return getppid() == (pid_t)parent ? ERR_OK
                                      : fail(e, ERR_CONFLICT, "the parent process has ended");
}

int agent_main(int argc, char **argv)
{
    struct agent agent = {.lock_fd = -1};
    struct error e;
    log_setup_role("agent");
    arena_init(&agent.arena);
    const char *report;
    enum err r = agent_options_parse(argc, argv, &agent.arena, &agent.options, &report, &e);
    if (r != ERR_OK) {
        (void)fputs(report != NULL ? report : "", stderr);
        inert_print_error("agent", &e);
        arena_done(&agent.arena);
        return EXIT_USAGE;
    }
    agent.options.dir = able_absolute(agent.options.dir, &agent.arena);
    agent.options.cert = node_cert_new();
    r = parent_follow(agent.options.parent, &e);
    r = r == ERR_OK ? dirs_make(agent.options.dir, &e) : r;
    r = r == ERR_OK ? lock_take(&agent.options, &agent.lock_fd, &e) : r;
    r = r == ERR_OK ? agent_begin(&agent, &e) : r;
    if (r == ERR_OK) {
        loop_run(agent.loop);
    } else {
        log_error("cannot start", kv_error(&e));
    }
    int code = r == ERR_OK && !agent.refused ? EXIT_SUCCESS : EXIT_FAILURE;
    if (!agent_end(&agent)) {
        _exit(code);
    }
    if (agent.lock_fd >= 0) {
        (void)close(agent.lock_fd);
    }
    return code;
}
