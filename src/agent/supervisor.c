/* supervisor.c - the life of the supervisor. The supervisor is small, outlives the agent, and ends
 * by itself when it has neither tasks nor an agent. SPDX-License-Identifier: Apache-2.0 */
#include "agent/supervisor.h"

#include "agent/supervisor_internal.h"
#include "agent/tasknet.h"

#include "agent/agent.h"
#include "agent/checkpoint.h"
#include "agent/confine.h"
#include "agent/disk_watch.h"
#include "agent/door.h"
#include "agent/dirs.h"
#include "agent/agent_options.h"
#include "agent/attempt.h"
#include "agent/upkeep.h"
#include "agent/link.h"
#include "agent/private_proc.h"
#include "agent/reaper.h"
#include "agent/spawn.h"
#include "agent/spool_reader.h"
#include "base/inert.h"
#include "base/log.h"
#include "base/str.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { RETRY_MS = 500, ENDING_GRACE_MS = 10000, LOCK_TRIES_MAX = 100, LOCK_WAIT_US = 20000 };

int64_t supervisor_wall_ms(void)
{
    struct timespec now;
    must(clock_gettime(CLOCK_REALTIME, &now) == 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void idle_due(void *ctx)
{
    struct supervisor *sup = ctx;
    log_info("nothing to do and no agent, ending");
    loop_stop(sup->loop);
}

void supervisor_idle_check(struct supervisor *sup)
{
    if (sup->ending && sup->open_count == 0) {
        loop_stop(sup->loop);
    }
    bool idle = sup->open_count == 0 && sup->link.fd < 0;
    if (idle && !loop_timer_armed(sup->idle_timer)) {
        loop_timer_set(sup->idle_timer, loop_now_ms(sup->loop) + IDLE_END_MS);
    } else if (!idle) {
        loop_timer_off(sup->idle_timer);
    }
}

bool supervisor_end_idle(struct supervisor *sup)
{
    if (sup->open_count > 0 || sup->ended_first != NULL) {
        return false;
    }
    log_info("nothing to do and the agent ends, ending");
    loop_stop(sup->loop);
    return true;
}

static void reap(void *ctx)
{
    reaper_run(ctx);
}

static void end_asked(void *ctx)
{
    struct supervisor *sup = ctx;
    sup->ending = true;
    size_t cursor = 0;
    for (struct attempt *attempt = map_next(sup->attempts, &cursor); attempt != NULL;
         attempt = map_next(sup->attempts, &cursor)) {
        attempt_stop(attempt, ENDING_GRACE_MS);
    }
    supervisor_idle_check(sup);
}

static void look(void *ctx)
{
    checkpoint_round(ctx);
}

static void ignore(void *ctx)
{
    (void)ctx;
}

/* Writes everything that happened in this loop turn to the spool in one write. */
static void turn_end(void *ctx)
{
    struct supervisor *sup = ctx;
    struct error e;
    bool stuck = spool_flush(sup->spool, &e) != ERR_OK;
    if (stuck && !sup->spool_stuck) {
        log_error("the spool cannot be written, tasks wait", kv_error(&e));
    }
    if (stuck) {
        (void)str_copy(sup->spool_error, sizeof sup->spool_error, e.text);
    }
    sup->spool_stuck = stuck;
    if (stuck) {
        loop_timer_set(sup->retry_timer, loop_now_ms(sup->loop) + RETRY_MS);
    }
    uint64_t bytes = spool_bytes(sup->spool);
    bool full = stuck || bytes > SPOOL_BYTES_MAX;
    if (full != sup->paused && (full || bytes < SPOOL_BYTES_MAX / 8 * 7)) {
        attempt_pause(sup, full);
    }
    if (!stuck) {
        link_grown(sup);
        (void)jobdir_refill(sup->jobdirs);
    }
}

/* The disk may have room again. The end of this loop turn writes the spool, and the waiting
 * messages are done. */
static void retry(void *ctx)
{
    struct supervisor *sup = ctx;
    if (sup->link.fd >= 0) {
        loop_timer_set(sup->link.more, loop_now_ms(sup->loop));
    }
}

static size_t open_list(void *ctx, struct attempt_key *open)
{
    const struct supervisor *sup = ctx;
    size_t count = 0;
    size_t cursor = 0;
    for (const struct attempt *attempt = map_next(sup->attempts, &cursor); attempt != NULL;
         attempt = map_next(sup->attempts, &cursor)) {
        if (attempt->state != ATTEMPT_ENDED) {
            open[count++] = attempt->key;
        }
    }
    return count;
}

static void old_key_add(struct supervisor *sup, const struct attempt_key *key,
                        struct spool_position end)
{
    if (map_get(sup->attempts, key, sizeof *key) != NULL) {
        return;
    }
    struct attempt *attempt = xcalloc(1, sizeof *attempt);
    *attempt = (struct attempt){.sup = sup,
                                .key = *key,
                                .state = ATTEMPT_ENDED,
                                .uid_number = -1,
                                .end = end,
                                .streams = {{.fd = -1}, {.fd = -1}}};
    (void)map_put(sup->attempts, key, sizeof *key, attempt);
    if (sup->ended_last == NULL) {
        sup->ended_first = attempt;
    } else {
        sup->ended_last->ended_next = attempt;
    }
    sup->ended_last = attempt;
}

/* Reads the keys of earlier supervisors' attempts that the server may not know of yet. Such an
 * attempt must never start again (P11). The key of such an attempt is known until its part of the
 * spool is acknowledged. */
static void old_keys_read(struct supervisor *sup, uint64_t low, uint64_t high)
{
    if (low == 0) {
        return;
    }
    struct spool_position end = {high + 1, 0};
    struct spool_reader *reader = spool_reader_new(sup->dir, low);
    struct record record;
    while (spool_reader_next(reader, &record)) {
        for (size_t i = 0; i < record.open_count; i++) {
            old_key_add(sup, &record.open[i], end);
        }
        if (record.type != RECORD_SEGMENT && record.type != RECORD_OUTPUT) {
            old_key_add(sup, &record.key, end);
        }
    }
    spool_reader_free(reader);
}

static void limits_raise(struct supervisor *sup)
{
    must(getrlimit(RLIMIT_NOFILE, &sup->task_files) == 0);
    struct rlimit mine = {sup->task_files.rlim_max, sup->task_files.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &mine);
}

static must_use enum err identity_make(struct supervisor *sup, struct error *e)
{
    if (getrandom(sup->id, sizeof sup->id, 0) != (ssize_t)sizeof sup->id) {
        return fail_errno(e, ERR_IO, errno, "cannot get random bytes");
    }
    str_hex(sup->hex, sup->id, sizeof sup->id);
    return ERR_OK;
}

static must_use enum err signals_take(struct supervisor *sup, struct error *e)
{
    static const int ignored[] = {SIGHUP, SIGINT, SIGPIPE};
    enum err r = loop_signal(sup->loop, SIGCHLD, reap, sup, e);
    if (r == ERR_OK) {
        r = loop_signal(sup->loop, SIGTERM, end_asked, sup, e);
    }
    for (size_t i = 0; r == ERR_OK && i < sizeof ignored / sizeof ignored[0]; i++) {
        r = loop_signal(sup->loop, ignored[i], ignore, sup, e);
    }
    return r;
}

static must_use enum err supervisor_init(struct supervisor *sup,
                                         const struct supervisor_options *options, struct error *e)
{
    struct taskuid_range range;
    enum err r = runas_system(options->run_as, &sup->account, e);
    r = r == ERR_OK ? taskuid_range(options->task_uids, TASKUID_SUBUID, &range, e) : r;
    if (r == ERR_OK && sup->account.switch_user) {
        sup->uids = taskuid_new(range);
    }
    if (r == ERR_OK && !sup->account.switch_user) {
        sup->confine.with = confine_able(options->confine);
        sup->confine.hidden = options->hide == NULL ? sup->dir : options->hide;
    }
    r = r == ERR_OK ? identity_make(sup, e) : r;
    r = r == ERR_OK ? loop_new(&sup->loop, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    sup->idle_timer = loop_timer_new(sup->loop, idle_due, sup);
    sup->stray_timer = loop_timer_new(sup->loop, reap, sup);
    sup->retry_timer = loop_timer_new(sup->loop, retry, sup);
    sup->look_timer = loop_timer_new(sup->loop, look, sup);
    r = signals_take(sup, e);
    r = r == ERR_OK ? jobdir_new(sup->dir, &sup->account, &sup->jobdirs, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    uint64_t low;
    uint64_t high;
    spool_range(sup->dir, &low, &high);
    old_keys_read(sup, low, high);
    struct spool_options spool = {.dir = sup->dir, .open_list = open_list, .ctx = sup};
    memcpy(spool.id, sup->id, sizeof spool.id);
    r = spool_new(&spool, &sup->spool, e);
    sup->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (r == ERR_OK && sup->null_fd < 0) {
        r = fail_errno(e, ERR_IO, errno, "cannot open the null device");
    }
    if (r != ERR_OK) {
        return r;
    }
    sup->cgroups = cgroup_new(sup->dir, sup->hex);
    sup->networks = tasknet_new(sup->dir);
    sup->task_pids = options->task_pids > 0 ? (uint64_t)options->task_pids : TASK_PIDS_MAX;
    sup->cpus = cpu_bind_new(options->cpu_binding);
    sup->disk = disk_watch_new((uint64_t)options->task_disk);
    loop_turn_end(sup->loop, turn_end, sup);
    r = spawner_new(sup->loop, attempt_started, &sup->spawner, e);
    r = r == ERR_OK ? door_open(sup, &sup->door, e) : r;
    return r == ERR_OK ? link_listen(sup, e) : r;
}

static void supervisor_done(struct supervisor *sup)
{
    if (sup->loop != NULL) {
        upkeep_end(sup);
        door_close(sup->door);
        link_close(sup);
        spawner_free(sup->spawner);
        disk_watch_free(sup->disk);
        loop_timer_free(sup->idle_timer);
        loop_timer_free(sup->stray_timer);
        loop_timer_free(sup->retry_timer);
        loop_timer_free(sup->look_timer);
    }
    size_t cursor = 0;
    for (struct attempt *attempt = map_next(sup->attempts, &cursor); attempt != NULL;
         attempt = map_next(sup->attempts, &cursor)) {
        attempt_free(attempt);
    }
    map_free(sup->attempts);
    map_free(sup->by_pid);
    keyring_free(sup->recent);
    taskuid_free(sup->uids);
    cgroup_free(sup->cgroups);
    tasknet_free(sup->networks);
    cpu_bind_free(sup->cpus);
    jobdir_free(sup->jobdirs);
    spool_free(sup->spool);
    loop_free(sup->loop);
    free(sup->dir);
}

/* Takes the lock that allows one supervisor per directory. Waits for a supervisor that is just
 * ending. */
static must_use enum err lock_take(const char *dir, int *ret_fd, struct error *e)
{
    enum err r = dirs_lock(dir, SUPERVISOR_LOCK, ret_fd, e);
    for (int i = 0; i < LOCK_TRIES_MAX && r == ERR_CONFLICT; i++) {
        (void)usleep(LOCK_WAIT_US);
        r = dirs_lock(dir, SUPERVISOR_LOCK, ret_fd, e);
    }
    return r;
}

int supervisor_main(int argc, char **argv)
{
    struct supervisor_options options;
    struct error e;
    if (agent_options_supervisor_parse(argc, argv, &options, &e) != ERR_OK) {
        inert_print_error("supervisor", &e);
        return 2;
    }
    struct supervisor sup = {.confine = {.hidden = ""},
                             .link = {.fd = -1},
                             .listen_fd = -1,
                             .null_fd = -1,
                             .lock_fd = -1};
    sup.dir = xstrdup(options.dir);
    sup.attempts = map_new();
    sup.by_pid = map_new();
    sup.recent = keyring_new();
    spawn_prepare(options.ready_fd);
    limits_raise(&sup);
    const bool private_proc = private_proc_mount();
    enum err r = lock_take(sup.dir, &sup.lock_fd, &e);
    r = r == ERR_OK ? supervisor_init(&sup, &options, &e) : r;
    if (r != ERR_OK) {
        agent_options_supervisor_ready(options.ready_fd, e.text);
        supervisor_done(&sup);
        return 1;
    }
    dirs_log_to_file(sup.dir);
    log_setup_role("supervisor");
    agent_options_supervisor_ready(options.ready_fd, "");
    log_info("supervisor runs", kv_str("id", sup.hex), kv_str("run_as", sup.account.name),
             kv_str("strays", sup.cgroups != NULL ? "cgroup" : "proc"),
             kv_str("cgroups", cgroup_layout_mode_name(cgroup_mode(sup.cgroups))),
             kv_str("proc", private_proc ? "private" : "shared"));
    upkeep_begin(&sup);
    supervisor_idle_check(&sup);
    loop_run(sup.loop);
    if (sup.link.fd < 0) {
        spool_remove_acked(sup.spool);
    }
    supervisor_done(&sup);
    (void)close(sup.lock_fd);
    return 0;
}
