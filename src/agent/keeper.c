/* keeper.c - the agent's side of the supervisor: finds a supervisor or starts one, passes orders
 * on, and handles the supervisor's death. SPDX-License-Identifier: Apache-2.0 */
#include "agent/keeper.h"

#include "agent/able.h"
#include "agent/tasknet.h"

#include "agent/agent_internal.h"
#include "agent/agent_use.h"
#include "agent/before.h"

#include "agent/cgroup.h"
#include "agent/crashes.h"
#include "agent/session.h"
#include "agent/spool_reader.h"
#include "agent/strays.h"
#include "base/log.h"
#include "base/str.h"

#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LAUNCH_RETRY_MS = 1000,
    BYE_TRIES_MAX = 1000, /* a second in all */
    BYE_WAIT_US = 1000,
    REST_SLACK_MS = 100,    /* so that a rest is over when its timer is due */
    STRAY_ROUNDS_MAX = 100, /* looks for the processes of a dead supervisor, STRAY_ROUND_MS apart */
};

/* Ends the processes of a dead supervisor's tasks before the next supervisor begins. The direct
 * children ended with the supervisor; their own children did not. */
static void leftovers_end(const char *dir, const unsigned char *id)
{
    char hex[SUPERVISOR_HEX_LEN + 1];
    str_hex(hex, id, SUPERVISOR_ID_LEN);
    for (int i = 0; i < STRAY_ROUNDS_MAX; i++) {
        bool gone = cgroup_end(dir, hex);
        if (strays_end(hex) == 0 && gone) {
            return;
        }
        (void)usleep(STRAY_ROUND_MS * 1000);
    }
}

/* Reads which supervisor wrote this segment of the spool. */
static bool writer_of(const char *dir, uint64_t segment, unsigned char *ret_id)
{
    struct spool_reader *reader = spool_reader_new(dir, segment);
    struct record record;
    bool found = spool_reader_next(reader, &record) && record.type == RECORD_SEGMENT;
    if (found) {
        memcpy(ret_id, record.id, SUPERVISOR_ID_LEN);
    }
    spool_reader_free(reader);
    return found;
}

/* Reads which supervisor wrote the newest segment. */
static bool last_writer(const char *dir, unsigned char *ret_id)
{
    uint64_t low;
    uint64_t high;
    spool_range(dir, &low, &high);
    return high != 0 && writer_of(dir, high, ret_id);
}

static int64_t wall_ms(void)
{
    struct timespec now;
    must(clock_gettime(CLOCK_REALTIME, &now) == 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* After a crash loop the node takes no tasks for a while, and says so. */
static void rest_look(void *ctx)
{
    struct agent *agent = ctx;
    char why[sizeof agent->crash_trouble] = "";
    int64_t rest_ms = crashes_rest_ms(agent->options.dir, wall_ms(), why, sizeof why);
    if (rest_ms > 0) {
        loop_timer_set(agent->rest_timer, loop_now_ms(agent->loop) + rest_ms + REST_SLACK_MS);
    }
    if (strcmp(why, agent->crash_trouble) != 0) {
        (void)str_copy(agent->crash_trouble, sizeof agent->crash_trouble, why);
        session_trouble(agent);
    }
}

static void supervisor_died(struct agent *agent);

static void attempt_listed(struct agent *agent, const struct frame *frame)
{
    struct agent_attempt attempt = {
        .key = frame->key, .state = frame->ended ? AGENT_ATTEMPT_ENDED : AGENT_ATTEMPT_RUNNING};
    vec_push(&agent->attempts, attempt);
}

/* Stops all tasks, because the server was out of reach for longer than --stop-after allows. */
static void all_stop(struct agent *agent)
{
    for (size_t i = 0; i < agent->attempts.count; i++) {
        keeper_stop(agent, &agent->attempts.at[i].key, GRACE_MS_DEFAULT);
    }
}

static void listed(struct agent *agent)
{
    unsigned why = agent->listing;
    agent->listing = 0;
    if ((why & LISTING_CUT_OFF) != 0) {
        all_stop(agent);
    }
    before_listed(agent->before);
    if ((why & LISTING_HELLO) != 0) {
        session_listed(agent);
    }
}

/* The first `frame->starts` starts of this connection are in the spool, so the agent need not
 * remember them. */
static void grown(struct agent *agent, const struct frame *frame)
{
    size_t done = (size_t)(frame->starts - agent->ordered_seen);
    done = done < agent->ordered.count ? done : agent->ordered.count;
    if (done > 0) {
        agent->ordered.count -= done;
        memmove(agent->ordered.at, agent->ordered.at + done,
                agent->ordered.count * sizeof *agent->ordered.at);
    }
    agent->ordered_seen = frame->starts;
    reporter_grown(agent->reporter);
}

static void frame_take(struct agent *agent, const struct frame *frame)
{
    switch (frame->type) {
    case FRAME_ATTEMPT:
        attempt_listed(agent, frame);
        break;
    case FRAME_READY:
        listed(agent);
        break;
    case FRAME_GROWN:
        grown(agent, frame);
        break;
    case FRAME_TROUBLE:
        (void)str_copy(agent->upkeep_trouble, sizeof agent->upkeep_trouble, frame->trouble);
        session_trouble(agent);
        break;
    case FRAME_USE:
        agent_use_take(agent, frame);
        break;
    case FRAME_BYE:
    case FRAME_RENEW:
    case FRAME_NONE:
    case FRAME_HELLO:
    case FRAME_START:
    case FRAME_STOP:
    case FRAME_ACK:
    case FRAME_LIST:
        break;
    }
}

static void supervisor_ready_fd(void *ctx, uint32_t events)
{
    (void)events;
    struct agent *agent = ctx;
    struct arena arena;
    arena_init(&arena);
    struct frame frame;
    enum supclient_got got = SUPCLIENT_FRAME;
    while (got == SUPCLIENT_FRAME && agent->supervisor != NULL) {
        arena_clear(&arena);
        got = supclient_get(agent->supervisor, &arena, &frame);
        if (got == SUPCLIENT_FRAME) {
            frame_take(agent, &frame);
        }
    }
    arena_done(&arena);
    if (got == SUPCLIENT_GONE) {
        supervisor_died(agent);
        return;
    }
    keeper_flush(agent);
}

/* Waits for the supervisor's HELLO, which comes at once. The ATTEMPTs behind the HELLO are asked
 * for again later. */
static must_use enum err hello_take(struct supclient *client, struct frame *ret, struct error *e)
{
    enum { HELLO_TRIES_MAX = 5000, HELLO_WAIT_US = 1000 };
    struct arena arena;
    arena_init(&arena);
    struct frame frame = {0};
    *ret = frame;
    for (int i = 0; i < HELLO_TRIES_MAX && frame.type != FRAME_READY;) {
        enum supclient_got got = supclient_get(client, &arena, &frame);
        if (got == SUPCLIENT_GONE) { /* the supervisor was just ending */
            arena_done(&arena);
            return fail(e, ERR_UNREACHABLE, "the supervisor went away");
        }
        if (got == SUPCLIENT_NOTHING) {
            (void)usleep(HELLO_WAIT_US);
            i++;
        } else if (frame.type == FRAME_HELLO) {
            *ret = frame;
        }
    }
    arena_done(&arena);
    if (frame.type != FRAME_READY || ret->type != FRAME_HELLO) {
        return fail(e, ERR_TIMEOUT, "the supervisor does not say hello");
    }
    if (ret->version < FRAME_VERSION_MIN || ret->version > FRAME_VERSION) {
        return fail(
            e, ERR_CONFLICT,
            "the supervisor speaks version %llu, not %d to %d: let its tasks end, then start anew",
            (unsigned long long)ret->version, FRAME_VERSION_MIN, FRAME_VERSION);
    }
    return ERR_OK;
}

/* Connects to the directory's supervisor and takes its HELLO. */
static must_use enum err supervisor_greet(const char *dir, struct supclient **ret_client,
                                          struct frame *ret_hello, struct error *e)
{
    enum err r = supclient_connect(dir, ret_client, e);
    if (r != ERR_OK) {
        return r;
    }
    r = hello_take(*ret_client, ret_hello, e);
    if (r != ERR_OK) {
        supclient_free(*ret_client);
    }
    return r;
}

/* Reaches the supervisor that serves the directory, or starts a supervisor where none answers. */
static must_use enum err supervisor_reach(struct agent *agent, struct frame *ret_hello,
                                          struct error *e)
{
    const char *dir = agent->options.dir;
    struct supclient *client;
    enum err r = supervisor_greet(dir, &client, ret_hello, e);
    if (r == ERR_UNREACHABLE) {
        unsigned char id[SUPERVISOR_ID_LEN];
        crashes_note(dir, wall_ms());
        if (last_writer(dir, id)) {
            leftovers_end(dir, id);
        }
        r = supclient_launch(&agent->options, e);
        r = r == ERR_OK ? supervisor_greet(dir, &client, ret_hello, e) : r;
    }
    if (r != ERR_OK) {
        return r;
    }
    agent->supervisor = client;
    memcpy(agent->supervisor_id, ret_hello->id, SUPERVISOR_ID_LEN);
    agent->supervisor_version = ret_hello->version;
    agent->cgroup_mode = (enum cgroup_mode)ret_hello->cgroup_mode;
    agent->cgroup_controllers = (unsigned)ret_hello->cgroup_controllers;
    agent->confine = (unsigned)ret_hello->confine;
    agent->ordered_seen = 0;
    vec_clear(&agent->ordered);
    vec_clear(&agent->attempts);
    agent->supervisor_events = EPOLLIN;
    agent->supervisor_watch =
        loop_fd_add(agent->loop, supclient_fd(client), EPOLLIN, supervisor_ready_fd, agent);
    char hex[SUPERVISOR_HEX_LEN + 1];
    str_hex(hex, ret_hello->id, SUPERVISOR_ID_LEN);
    log_info("supervisor found", kv_str("id", hex), kv_u64("pid", ret_hello->pid));
    return ERR_OK;
}

static void launch(void *ctx)
{
    struct agent *agent = ctx;
    struct frame hello;
    struct error e;
    if (supervisor_reach(agent, &hello, &e) != ERR_OK) {
        log_error("no supervisor, trying again", kv_error(&e));
        loop_timer_set(agent->launch_timer, loop_now_ms(agent->loop) + LAUNCH_RETRY_MS);
        return;
    }
    rest_look(agent);
    reporter_grown(agent->reporter); /* the new segment says that the old supervisor is dead */
    if (!agent->streaming) {
        session_restart(agent);
    }
}

static void supervisor_drop(struct agent *agent)
{
    loop_fd_remove(agent->supervisor_watch);
    agent->supervisor_watch = NULL;
    supclient_free(agent->supervisor);
    agent->supervisor = NULL;
    agent->listing = 0;
    agent->upkeep_trouble[0] = '\0';
}

static void supervisor_died(struct agent *agent)
{
    log_error("the supervisor is gone; what it ran is lost");
    supervisor_drop(agent);
    /* A supervisor that this agent started is its only child. */
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
    leftovers_end(agent->options.dir, agent->supervisor_id);
    reporter_supervisor_died(agent->reporter, agent->ordered.at, agent->ordered.count);
    launch(agent);
}

must_use enum err keeper_begin(struct agent *agent, struct error *e)
{
    struct frame hello;
    enum err r = supervisor_reach(agent, &hello, e);
    if (r != ERR_OK) {
        return r;
    }
    agent->launch_timer = loop_timer_new(agent->loop, launch, agent);
    agent->rest_timer = loop_timer_new(agent->loop, rest_look, agent);
    rest_look(agent);
    if (!writer_of(agent->options.dir, hello.acked.segment, agent->speaking_id)) {
        memcpy(agent->speaking_id, agent->supervisor_id, SUPERVISOR_ID_LEN);
    }
    struct reporter_options options = {.options = &agent->options,
                                       .dir = agent->options.dir,
                                       .acked = hello.acked,
                                       .inbox = agent->inbox};
    return reporter_new(&options, &agent->reporter, e);
}

bool keeper_closing(const struct agent *agent)
{
    return memcmp(agent->speaking_id, agent->supervisor_id, SUPERVISOR_ID_LEN) != 0;
}

void keeper_crossed(struct agent *agent, const unsigned char *id)
{
    memcpy(agent->speaking_id, id, SUPERVISOR_ID_LEN);
}

void keeper_end(struct agent *agent)
{
    if (agent->supervisor != NULL) {
        supervisor_drop(agent);
    }
    loop_timer_free(agent->launch_timer);
    loop_timer_free(agent->rest_timer);
    vec_done(&agent->attempts);
    vec_done(&agent->ordered);
}

void keeper_flush(struct agent *agent)
{
    if (agent->supervisor == NULL) {
        return;
    }
    if (!supclient_flush(agent->supervisor)) {
        supervisor_died(agent);
        return;
    }
    uint32_t events = supclient_pending(agent->supervisor) ? EPOLLIN | EPOLLOUT : EPOLLIN;
    if (events != agent->supervisor_events) {
        loop_fd_change(agent->supervisor_watch, events);
        agent->supervisor_events = events;
    }
}

/* Turns bits into indices. */
static size_t devices_of(uint64_t bits, uint32_t *out)
{
    size_t count = 0;
    for (uint32_t i = 0; i < NODE_DEVICES_MAX; i++) {
        if ((bits >> i & 1) != 0) {
            out[count++] = i;
        }
    }
    return count;
}

/* The program of a shell task runs below `weir console host`, which has the terminal. */
static const char **argv_hosted(const struct agent_start *start, size_t *ret_count)
{
    static const char *const host[] = {"/proc/self/exe", "console", "host"};
    enum { HOST_WORDS = sizeof host / sizeof host[0] };
    const char **argv = xcalloc(HOST_WORDS + start->argv_count + 1, sizeof *argv);
    memcpy(argv, host, sizeof host);
    for (uint32_t i = 0; i < start->argv_count; i++) {
        argv[HOST_WORDS + i] = start->argv[i];
    }
    *ret_count = HOST_WORDS + start->argv_count;
    return argv;
}

void keeper_start(struct agent *agent, const struct agent_start *start)
{
    if (agent->supervisor == NULL || keeper_closing(agent)) {
        return;
    }
    char network[TASKNET_NAME_MAX];
    able_network(&agent->options, start, network);
    uint32_t devices[NODE_DEVICES_MAX];
    size_t argv_count = start->argv_count;
    auto_free(freep) const char **hosted = start->terminal ? argv_hosted(start, &argv_count) : NULL;
    struct frame frame = {.type = FRAME_START,
                          .version = agent->supervisor_version,
                          .start = {.key = start->key,
                                    .instance = start->instance,
                                    .argv = hosted != NULL ? hosted : start->argv,
                                    .argv_count = argv_count,
                                    .env = start->env,
                                    .env_count = start->env_count,
                                    .workdir = start->workdir,
                                    .pool = start->pool,
                                    .node = start->node,
                                    .slots_milli = (uint64_t)start->slots_milli,
                                    .devices = devices,
                                    .device_count = devices_of(start->devices, devices),
                                    .rank = start->rank,
                                    .world_size = start->world_size,
                                    .master_addr = start->master_addr,
                                    .master_port = start->master_port,
                                    .network = network,
                                    .outbound = start->outbound,
                                    .output_max = start->output_max,
                                    .cpu_milli = (uint64_t)start->cpu_milli,
                                    .cpu_limit_milli = (uint64_t)start->cpu_limit_milli,
                                    .memory_limit = (uint64_t)start->memory_limit_bytes}};
    vec_push(&agent->ordered, start->key);
    supclient_put(agent->supervisor, &frame);
}

void keeper_stop(struct agent *agent, const struct attempt_key *key, int64_t grace_ms)
{
    if (agent->supervisor != NULL) {
        struct frame frame = {.type = FRAME_STOP, .key = *key, .grace_ms = grace_ms};
        supclient_put(agent->supervisor, &frame);
    }
}

void keeper_ack(struct agent *agent, struct spool_position at)
{
    if (agent->supervisor != NULL) {
        supclient_put(agent->supervisor, &(struct frame){.type = FRAME_ACK, .at = at});
    }
}

void keeper_bye(struct agent *agent)
{
    struct arena arena;
    struct frame frame = {.type = FRAME_BYE};
    if (agent->supervisor == NULL || agent->supervisor_version < FRAME_VERSION_BYE) {
        return;
    }
    arena_init(&arena);
    supclient_put(agent->supervisor, &frame);
    enum supclient_got got =
        supclient_flush(agent->supervisor) ? SUPCLIENT_NOTHING : SUPCLIENT_GONE;
    for (int i = 0; i < BYE_TRIES_MAX && got != SUPCLIENT_GONE; i++) {
        got = supclient_get(agent->supervisor, &arena, &frame);
        if (got == SUPCLIENT_FRAME && frame.type == FRAME_READY) {
            break; /* the supervisor goes on with its tasks */
        }
        if (got == SUPCLIENT_NOTHING) {
            (void)usleep(BYE_WAIT_US);
        }
    }
    arena_done(&arena);
}

void keeper_renew(struct agent *agent)
{
    if (agent->supervisor != NULL && agent->supervisor_version >= FRAME_VERSION_BYE) {
        supclient_put(agent->supervisor, &(struct frame){.type = FRAME_RENEW});
    }
}

void keeper_list(struct agent *agent, enum listing why)
{
    if (agent->supervisor == NULL) {
        return;
    }
    if (agent->listing == 0) {
        vec_clear(&agent->attempts);
        supclient_put(agent->supervisor, &(struct frame){.type = FRAME_LIST});
    }
    agent->listing |= why;
}
