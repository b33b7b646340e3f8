/* attempt.c - one attempt from its start to its recorded end.
 *
 *   STARTING ─▶ RUNNING ─first process ends─▶ CLOSING ─all gone, pipes empty─▶ ENDED ─ack─▶ forgotten
 *
 * Holds (README.md): A2 a key is started at most once; A3 `ended` is recorded after the attempt's
 * last byte of output and after its last process has ended. SPDX-License-Identifier: Apache-2.0 */
#include "agent/attempt.h"
#include "agent/attempt_limit.h"
#include "agent/attempt_place.h"
#include "agent/attempt_record.h"
#include "agent/box_order.h"
#include "agent/checkpoint.h"
#include "agent/door.h"
#include "agent/upkeep.h"
#include "agent/reaper.h"
#include "agent/spawn.h"
#include "agent/supervisor_internal.h"
#include "agent/taskenv.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SIGNAL_CODE_BASE = 128,
    MARKER_BYTES_MAX = 128,
    /* when a machine ends, the supervisor gets its SIGTERM at most this much later than a task */
    NODE_END_MS = 1000,
};

/* Throws output behind the task's limit away, after one line in the output that says so. */
static long stream_discard(struct attempt_stream *stream)
{
    struct attempt *attempt = stream->attempt;
    char waste[READ_CHUNK / 4];
    long got = read(stream->fd, waste, sizeof waste);
    if (got <= 0 || stream->capped) {
        return got;
    }
    stream->capped = true;
    char marker[MARKER_BYTES_MAX];
    int len = snprintf(marker, sizeof marker,
                       "\n[weir: output is over its limit of %llu bytes, the rest is dropped]\n",
                       (unsigned long long)attempt->output_max);
    struct record record = attempt_record_of(attempt, RECORD_OUTPUT);
    record.stream = (unsigned)(stream - attempt->streams) + 1;
    record.offset = stream->offset;
    record.data = (struct str){marker, (size_t)len};
    spool_put(attempt->sup->spool, &record);
    stream->offset += (uint64_t)len;
    return got;
}

/* Reads at most READ_CHUNK bytes, so that a noisy task has its turn like any other task. Returns
 * what read() returned: 0 at the end, -1 and EAGAIN when the pipe is empty. */
static long stream_read(struct attempt_stream *stream)
{
    struct attempt *attempt = stream->attempt;
    if (stream->offset >= attempt->output_max) {
        return stream_discard(stream);
    }
    uint64_t room = attempt->output_max - stream->offset;
    struct record record = {.type = RECORD_OUTPUT,
                            .key = attempt->key,
                            .stream = (unsigned)(stream - attempt->streams) + 1,
                            .offset = stream->offset};
    long got = spool_put_from(attempt->sup->spool, &record, stream->fd,
                              room < READ_CHUNK ? (size_t)room : READ_CHUNK);
    stream->offset += got > 0 ? (uint64_t)got : 0;
    return got;
}

static void stream_close(struct attempt_stream *stream)
{
    if (stream->fd < 0) {
        return;
    }
    loop_fd_remove(stream->watch);
    stream->watch = NULL;
    (void)close(stream->fd);
    stream->fd = -1;
}

static void stream_ready(void *ctx, uint32_t events)
{
    (void)events;
    struct attempt_stream *stream = ctx;
    long got = stream_read(stream);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR && errno != ENOSPC)) {
        stream_close(stream);
    }
}

static void stream_watch(struct attempt_stream *stream)
{
    struct supervisor *sup = stream->attempt->sup;
    if (stream->fd >= 0 && stream->watch == NULL && !sup->paused) {
        stream->watch = loop_fd_add(sup->loop, stream->fd, EPOLLIN, stream_ready, stream);
    }
}

void attempt_pause(struct supervisor *sup, bool paused)
{
    sup->paused = paused;
    size_t cursor = 0;
    for (struct attempt *attempt = map_next(sup->attempts, &cursor); attempt != NULL;
         attempt = map_next(sup->attempts, &cursor)) {
        for (size_t i = 0; i < STREAM_COUNT; i++) {
            struct attempt_stream *stream = &attempt->streams[i];
            if (paused && stream->fd >= 0) {
                loop_fd_remove(stream->watch);
                stream->watch = NULL;
            } else {
                stream_watch(stream);
            }
        }
    }
}

void attempt_free(struct attempt *attempt)
{
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        stream_close(&attempt->streams[i]);
    }
    loop_timer_free(attempt->kill_timer);
    if (attempt->cgroup != NULL) {
        cgroup_give(attempt->sup->cgroups, attempt->cgroup);
    }
    free(attempt);
}

/* Adds an attempt that never ran to the ended attempts. The supervisor still knows the attempt's
 * key, as after any other end. */
static void ended_keep(struct attempt *attempt)
{
    struct supervisor *sup = attempt->sup;
    attempt->state = ATTEMPT_ENDED;
    attempt->end = spool_end(sup->spool);
    if (sup->ended_last == NULL) {
        sup->ended_first = attempt;
    } else {
        sup->ended_last->ended_next = attempt;
    }
    sup->ended_last = attempt;
}

/* The program of the task cannot be started. */
static void start_failed(struct attempt *attempt, int error_number, const char *message)
{
    attempt->spawn_error = error_number;
    attempt_record_spawn_failed(attempt, message);
    ended_keep(attempt);
}

/* The node cannot start anything now. The task is not to blame: the attempt is lost, so that
 * another node takes the task. */
static void start_lost(struct attempt *attempt, const char *why)
{
    attempt->lost = true;
    attempt_record_lost(attempt);
    ended_keep(attempt);
    upkeep_start_failed(attempt->sup, why);
}

/* Opens both pipes and puts the task's ends of the pipes into `give`. */
static bool streams_open(struct attempt *attempt, int give[STREAM_COUNT])
{
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) {
            int why = errno;
            if (i > 0) {
                (void)close(give[0]);
            }
            errno = why;
            return false;
        }
        (void)fcntl(ends[0], F_SETFL, O_NONBLOCK); /* only our end; the task's end stays blocking */
        attempt->streams[i] = (struct attempt_stream){.attempt = attempt, .fd = ends[0]};
        give[i] = ends[1];
    }
    return true;
}

/* Copies everything that the start needs into the job's own memory. */
static struct spawn_job *job_make(struct attempt *attempt, const struct start_order *order,
                                  const int give[STREAM_COUNT])
{
    struct supervisor *sup = attempt->sup;
    struct spawn_job *job = spawner_job_new(attempt);
    struct arena *arena = &job->arena;
    char *job_dir = arena_alloc(arena, AGENT_PATH_MAX);
    jobdir_path(sup->jobdirs, attempt->key.task.v, attempt->instance, job_dir);
    const struct runas_account *account = attempt_place_account(attempt, arena, job_dir);
    struct taskenv_input input = {.order = order,
                                  .account = account,
                                  .supervisor = sup->hex,
                                  .job_dir = job_dir,
                                  .port = attempt->port};
    char **env = taskenv_build(arena, &input);
    char **argv = arena_new(arena, char *, order->argv_count + 2);
    for (size_t i = 0; i < order->argv_count; i++) {
        argv[i + 1] = arena_str(arena, order->argv[i]);
    }
    const char *path = taskenv_get(env, "PATH");
    job->order = (struct spawn_order){
        .candidates = taskenv_candidates(arena, argv[1], path == NULL ? "" : path),
        .argv = argv,
        .env = env,
        .job_dir = job_dir,
        .workdir = arena_str(arena, order->workdir),
        .account = account,
        .files = &sup->task_files,
        .null_fd = sup->null_fd,
        .out_fd = give[0],
        .err_fd = give[1]};
    attempt_limit_spawn(attempt, &job->order);
    attempt->plain = !box_files_ordered(sup->dir, &attempt->key) && sup->confine.with == 0;
    if (!attempt->plain && !box_order_wrap(sup->dir, &attempt->key, &sup->confine, job)) {
        job->order.candidates[0] = NULL; /* the start fails */
    }
    return job;
}

/* Records why an attempt of `program` never ran. Without processes, memory, descriptors or a job
 * directory the node is at fault, not the program. */
static void run_failed(struct attempt *attempt, const struct spawn_result *result,
                       const char *program)
{
    const int why = result->error_number;
    const bool by_node = result->no_job_dir || why == EAGAIN || why == ENOMEM || why == EMFILE ||
                         why == ENFILE || why == ENOSPC || why == EROFS;
    struct supervisor *sup = attempt->sup;
    struct error e;
    (void)fail_errno(&e, ERR_IO, why, "cannot %s '%s'", result->step, program);
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        stream_close(&attempt->streams[i]);
    }
    sup->open_count--;
    if (by_node) {
        start_lost(attempt, e.text);
    } else {
        start_failed(attempt, why, e.text);
    }
    attempt_place_give(attempt);
    supervisor_idle_check(sup);
}

/* Takes the attempt's directory, cgroup and pipes, then hands the start to the spawner. Records a failure. */
static void run(struct attempt *attempt, const struct start_order *order)
{
    struct supervisor *sup = attempt->sup;
    struct error e;
    enum err r = attempt_place_take(attempt, order, &e);
    if (r != ERR_OK) {
        upkeep_look(sup); /* makes anew what somebody removed */
        r = attempt_place_take(attempt, order, &e);
    }
    if (r != ERR_OK) {
        start_lost(attempt, e.text);
        return;
    }
    checkpoint_begin(attempt);
    attempt_limit_begin(attempt, order);
    sup->open_count++;
    int give[STREAM_COUNT];
    if (!streams_open(attempt, give)) {
        const struct spawn_result result = {.error_number = errno, .step = "make pipes for"};
        run_failed(attempt, &result, order->argv[0]);
        return;
    }
    spawner_start(sup->spawner, job_make(attempt, order, give));
}

bool attempt_started(struct spawn_job *job)
{
    if (job->visit) {
        return door_started(job);
    }
    struct attempt *attempt = job->ctx;
    struct supervisor *sup = attempt->sup;
    must(attempt->state == ATTEMPT_STARTING);
    const bool refused = job->result.no_process || job->result.no_cgroup;
    if (refused && attempt->cgroup != NULL) {
        /* A person may have removed the cgroup: this attempt starts without a cgroup. */
        const int net_fd = job->order.net_fd; /* `weir box` enters the network later */
        attempt_limit_drop(attempt);
        attempt_limit_spawn(attempt, &job->order);
        job->order.net_fd = net_fd;
        return true;
    }
    (void)close(job->order.out_fd);
    (void)close(job->order.err_fd);
    if (job->result.pid == 0) {
        run_failed(attempt, &job->result, job->order.argv[1]);
        return false;
    }
    attempt->state = ATTEMPT_RUNNING;
    attempt->pid = job->result.pid;
    attempt->workdir_used = job->result.workdir_used;
    (void)map_put(sup->by_pid, &attempt->pid, sizeof attempt->pid, attempt);
    attempt_record_started(attempt);
    checkpoint_watch(sup);
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        stream_watch(&attempt->streams[i]);
    }
    if (attempt->leader_ended) {
        reaper_leader_ended(sup, attempt, attempt->leader_status, &attempt->leader_use);
        loop_timer_set(sup->stray_timer, loop_now_ms(sup->loop));
    } else if (attempt->stop_grace_ms >= 0) {
        attempt_stop(attempt, attempt->stop_grace_ms);
    }
    return false;
}

/* Answers a start order that came before: records the outcome of the attempt again. False: the key
 * is unknown. */
static bool known_answer(struct supervisor *sup, const struct attempt_key *key)
{
    const struct attempt *known = map_get(sup->attempts, key, sizeof *key);
    if (known != NULL) {
        if (known->state == ATTEMPT_RUNNING || known->state == ATTEMPT_CLOSING) {
            attempt_record_started(known);
        }
        /* The record of a start under way, or of an unacknowledged end, is still to be reported. */
        return true;
    }
    if (keyring_has(sup->recent, key)) {
        struct record record = {.type = RECORD_LOST, .key = *key};
        spool_put(sup->spool, &record);
        return true;
    }
    return false;
}

bool attempt_is_new(const struct supervisor *sup, const struct attempt_key *key)
{
    return map_get(sup->attempts, key, sizeof *key) == NULL && !keyring_has(sup->recent, key);
}

void attempt_start(struct supervisor *sup, const struct start_order *order)
{
    if (known_answer(sup, &order->key)) {
        return;
    }
    struct attempt *attempt = xcalloc(1, sizeof *attempt);
    attempt->sup = sup;
    attempt->key = order->key;
    attempt->instance = order->instance;
    attempt->sequence = ++sup->start_count;
    attempt->stop_grace_ms = -1;
    attempt->uid_number = -1;
    attempt->output_max = order->output_max == 0 ? OUTPUT_MAX_DEFAULT : order->output_max;
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        attempt->streams[i].fd = -1;
    }
    (void)map_put(sup->attempts, &attempt->key, sizeof attempt->key, attempt);
    if (sup->open_count >= ATTEMPTS_MAX || sup->ending) {
        start_failed(attempt, EAGAIN,
                     sup->ending ? "the supervisor is ending" : "too many tasks run on this node");
        return;
    }
    attempt->started_ms = supervisor_wall_ms();
    run(attempt, order);
}

/* Signals every process of the attempt's process group. The group leader is our child and not yet
 * reaped, so its pid cannot belong to another process. */
static void group_signal(const struct attempt *attempt, int signal_number)
{
    must(attempt->state == ATTEMPT_RUNNING);
    (void)kill(-attempt->pid, signal_number);
    (void)kill(attempt->pid, SIGCONT);
}

static void kill_due(void *ctx)
{
    struct attempt *attempt = ctx;
    if (attempt->state == ATTEMPT_RUNNING) {
        group_signal(attempt, SIGKILL);
    }
}

void attempt_stop(struct attempt *attempt, int64_t grace_ms)
{
    if (attempt->state == ATTEMPT_STARTING) {
        bool shorter = attempt->stop_grace_ms < 0 || grace_ms < attempt->stop_grace_ms;
        attempt->stop_grace_ms = shorter ? (grace_ms < 0 ? 0 : grace_ms) : attempt->stop_grace_ms;
        return;
    }
    if (attempt->state != ATTEMPT_RUNNING) {
        return;
    }
    if (grace_ms <= 0) {
        kill_due(attempt);
        return;
    }
    int64_t now = loop_now_ms(attempt->sup->loop);
    int64_t at = now + (grace_ms < GRACE_LIMIT_MS ? grace_ms : GRACE_LIMIT_MS);
    if (attempt->kill_timer == NULL) {
        attempt->kill_timer = loop_timer_new(attempt->sup->loop, kill_due, attempt);
        attempt->kill_at_ms = at;
        group_signal(attempt, SIGTERM);
    }
    attempt->kill_at_ms = at < attempt->kill_at_ms ? at : attempt->kill_at_ms;
    loop_timer_set(attempt->kill_timer, attempt->kill_at_ms);
}

static uint64_t time_ms(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_usec / 1000;
}

void attempt_leader_ended(struct attempt *attempt, int status, const struct rusage *use)
{
    struct supervisor *sup = attempt->sup;
    must(attempt->state == ATTEMPT_RUNNING);
    attempt->state = ATTEMPT_CLOSING;
    attempt->exit_code =
        WIFSIGNALED(status) ? SIGNAL_CODE_BASE + WTERMSIG(status) : WEXITSTATUS(status);
    attempt->leader_end_ms = loop_now_ms(sup->loop);
    attempt->lost = sup->ending && !attempt->ordered;
    attempt->cpu_ms = time_ms(use->ru_utime) + time_ms(use->ru_stime);
    const uint64_t peak = (uint64_t)use->ru_maxrss * 1024;
    attempt->memory_peak = peak > attempt->memory_peak ? peak : attempt->memory_peak;
    (void)map_remove(sup->by_pid, &attempt->pid, sizeof attempt->pid);
    loop_timer_free(attempt->kill_timer);
    attempt->kill_timer = NULL;
}

/* Takes all output that is in the pipe. False: the spool cannot be written, so the pipe may still
 * hold output. */
static bool stream_drain(struct attempt_stream *stream)
{
    long got = 1;
    while (stream->fd >= 0 && got > 0) {
        got = stream_read(stream);
    }
    if (got < 0 && errno == ENOSPC) {
        return false;
    }
    stream_close(stream);
    return true;
}

/* Returns whether something outside Weir ended the attempt by SIGTERM. The end of a machine, or of a
 * batch job that is the node, sends SIGTERM to all processes at once. */
static bool terminated(const struct attempt *attempt)
{
    return !attempt->ordered && attempt->exit_code == SIGNAL_CODE_BASE + SIGTERM;
}

bool attempt_finish(struct attempt *attempt)
{
    struct supervisor *sup = attempt->sup;
    must(attempt->state == ATTEMPT_CLOSING);
    if (terminated(attempt) && !sup->ending &&
        loop_now_ms(sup->loop) < attempt->leader_end_ms + NODE_END_MS) {
        return false;
    }
    /* Every process of the attempt has ended, so the pipe holds all the output there will be. A
     * process outside the attempt may hold the pipe open; so the loop does not wait for the end of
     * file. */
    for (size_t i = 0; i < STREAM_COUNT; i++) {
        if (!stream_drain(&attempt->streams[i])) {
            return false;
        }
    }
    checkpoint_look(attempt);
    attempt_limit_end(attempt);
    attempt->lost |= sup->ending && terminated(attempt);
    if (attempt->lost) { /* the node ended under the task, so the task is not to blame */
        attempt_record_lost(attempt);
    } else {
        attempt_record_ended(attempt);
    }
    attempt_place_give(attempt);
    sup->open_count--;
    ended_keep(attempt);
    supervisor_idle_check(sup);
    return true;
}

void attempt_forget(struct supervisor *sup, struct spool_position at)
{
    while (sup->ended_first != NULL && spool_position_compare(sup->ended_first->end, at) <= 0) {
        struct attempt *attempt = sup->ended_first;
        sup->ended_first = attempt->ended_next;
        if (sup->ended_first == NULL) {
            sup->ended_last = NULL;
        }
        keyring_add(sup->recent, &attempt->key);
        (void)map_remove(sup->attempts, &attempt->key, sizeof attempt->key);
        attempt_free(attempt);
    }
}
