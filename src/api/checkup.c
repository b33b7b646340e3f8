/* checkup.c - see checkup.h.
 *
 *   tick ─▶ check due ─▶ tunnel to the instance's port ─▶ (request, first line of the answer) ─▶ verdict ─▶ core
 *
 * The check that has been due for longest begins first. Instances of one project that do not answer must not hold up the checks
 * of other projects: project_full() bounds how many checks of one project run.
 *
 * An instance whose health is unknown is checked each second, so that a new instance takes requests soon. A failure
 * during the instance's grace time does not count. Only the checkup counts how often in a row an instance failed, so
 * the count starts anew after a restart of the server. SPDX-License-Identifier: Apache-2.0 */
#include "api/checkup.h"

#include "api/api_internal.h"
#include "api/tunnel.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>

enum {
    TICK_MS = 500,
    CHECKS_OPEN_MAX = 64, /* when so many checks run, further ones wait for a later tick */
    STARTING_EVERY_MS = 1000,
    ANSWER_MAX = 4096,
    STATUS_LINE_LEN = 12, /* the length of "HTTP/1.1 200" */
};

struct checkup {
    struct api *api;
    struct map *checks; /* attempt key -> struct checked_attempt */
    struct heap due;    /* the checks that do not run, by the time when they are due */
    LIST_HEAD(checks_open, checked_attempt) under_way;
    struct loop_timer *timer;
    uint64_t round;
    size_t open;
    bool stopping;
};

/* One attempt whose instance is checked, and the check that runs now. */
struct checked_attempt {
    struct heap_entry due; /* the first member, because the heap has its address */
    LIST_ENTRY(checked_attempt) under_way;
    struct checkup *owner;
    struct attempt_key key;
    account_id project;
    uint64_t round; /* the number of the last tick that found the attempt running */
    uint32_t failures;
    char *path; /* the path of the GET; NULL: a check only connects to the port */
    int64_t every_ms;
    int64_t timeout_ms;
    int64_t grace_ms;
    uint32_t failures_max;

    bool open;
    struct tunnel *tunnel;
    bool reached; /* the tunnel is open, so the node has reached the instance */
    struct loop_fd *watch;
    struct loop_timer *timer;
    struct buf out;
    struct buf in;
};

static int64_t clock_ms(const struct checked_attempt *check)
{
    return loop_now_ms(check->owner->api->o.loop);
}

/* Sets when the next check of the attempt begins: after `ms`. */
static void check_after(struct checked_attempt *check, int64_t ms)
{
    heap_set(&check->owner->due, &check->due, clock_ms(check) + ms);
}

/* Closes the running check, whatever its result. */
static void check_close(struct checked_attempt *check)
{
    if (!check->open) {
        return;
    }
    loop_fd_remove(steal(check->watch));
    loop_timer_off(check->timer);
    tunnel_close(steal(check->tunnel));
    buf_clear(&check->out);
    buf_clear(&check->in);
    check->open = false;
    check->reached = false;
    must(check->owner->open > 0);
    check->owner->open--;
    LIST_REMOVE(check, under_way);
}

static void check_free(struct checked_attempt *check)
{
    check_close(check);
    heap_remove(&check->owner->due, &check->due);
    loop_timer_free(check->timer);
    buf_done(&check->out);
    buf_done(&check->in);
    free(check->path);
    free(check);
}

/* ---- the result ---- */

static void core_tell(struct checked_attempt *check, enum service_health now, const char *words)
{
    const struct api_host *host = check->owner->api->o.host;
    struct input in = {.type = INPUT_HEALTH, .actor = "health", .cause = ""};
    struct arena arena;
    struct facts facts;
    struct error e;
    in.health.key = check->key;
    in.health.now = now;
    in.health.words = words;
    in.health.give_up = check->failures >= check->failures_max;
    if (host->writable(host->ctx, &e) != ERR_OK) {
        return; /* the state on disk cannot change now; the next check reports again */
    }
    arena_init(&arena);
    fact_list_init(&facts, &arena);
    (void)host->input(host->ctx, &in, &facts);
    arena_done(&arena);
}

/* Counts the result of the check, and tells the core what has changed. `failure` says what went
 * wrong; NULL: the instance answered well. */
static void check_result(struct checked_attempt *check, const struct error *failure)
{
    const struct api_host *host = check->owner->api->o.host;
    const struct core *core = host->core(host->ctx);
    const struct instance *instance = core != NULL ? query_instance_live(core, check->key) : NULL;
    const enum service_health was =
        instance != NULL ? (enum service_health)instance->health : SERVICE_UNKNOWN;
    check_close(check);
    check_after(check, check->every_ms);
    if (instance == NULL) {
        return; /* the attempt has ended; the next tick frees `check` */
    }
    if (failure == NULL) {
        check->failures = 0;
        if (was != SERVICE_HEALTHY) {
            core_tell(check, SERVICE_HEALTHY, "");
        }
        return;
    }
    if (was == SERVICE_UNKNOWN && check->every_ms > STARTING_EVERY_MS) {
        check_after(check, STARTING_EVERY_MS);
    }
    if (was == SERVICE_UNKNOWN &&
        host->now_ms(host->ctx) - instance->started_ms < check->grace_ms) {
        return;
    }
    check->failures++;
    if (was != SERVICE_UNHEALTHY || check->failures >= check->failures_max) {
        core_tell(check, SERVICE_UNHEALTHY, failure->text);
    }
}

/* Ends the check without a result, because the instance is not to blame for what went wrong. */
static void check_skip(struct checked_attempt *check)
{
    check_close(check);
    check_after(check, check->every_ms);
}

/* ---- one check ---- */

static void check_late(void *ctx)
{
    struct checked_attempt *check = ctx;
    struct error e;
    if (!check->reached) {
        check_skip(check);
        return;
    }
    (void)fail(&e, ERR_TIMEOUT, "GET %s was not answered within %.1f s", check->path,
               (double)check->timeout_ms / 1000.0);
    check_result(check, &e);
}

/* Ends the check if enough of the answer has come. `over`: no more will come. */
static void answer_look(struct checked_attempt *check, bool over)
{
    const char *text = buf_text(&check->in);
    struct error e;
    uint64_t status = 0;
    if (check->in.len < STATUS_LINE_LEN && !over) {
        return;
    }
    const bool http = check->in.len >= STATUS_LINE_LEN && strncmp(text, "HTTP/1.", 7) == 0 &&
                      str_to_u64((struct str){text + 9, 3}, &status);
    if (http && status >= 200 && status < 400) {
        check_result(check, NULL);
        return;
    }
    if (http) {
        (void)fail(&e, ERR_CONFLICT, "GET %s was answered with status %u", check->path,
                   (unsigned)status);
    } else {
        (void)fail(&e, ERR_CONFLICT, "GET %s was not answered in HTTP", check->path);
    }
    check_result(check, &e);
}

static void instance_ready(void *ctx, uint32_t events)
{
    struct checked_attempt *check = ctx;
    char chunk[ANSWER_MAX];
    const int fd = tunnel_fd(check->tunnel);
    bool over = false;
    if (check->out.len > 0) {
        const ssize_t put = send(fd, check->out.data, check->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        over = put < 0 && errno != EAGAIN && errno != EINTR;
        buf_drop(&check->out, put > 0 ? (size_t)put : 0);
    }
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        const ssize_t got = recv(fd, chunk, sizeof chunk, MSG_DONTWAIT);
        buf_add(&check->in, chunk, got > 0 ? (size_t)got : 0);
        over = over || got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    }
    loop_fd_change(check->watch, EPOLLIN | (check->out.len > 0 ? (uint32_t)EPOLLOUT : 0));
    answer_look(check, over);
}

static void tunnel_told(void *ctx, const struct error *failure)
{
    struct checked_attempt *check = ctx;
    if (failure != NULL) {
        check->tunnel = NULL; /* the tunnel has freed itself */
        if (failure->code == ERR_CONFLICT) {
            check_result(check, failure); /* the node reached no listener of the instance */
        } else {
            check_skip(check);
        }
        return;
    }
    check->reached = true;
    if (check->path == NULL) {
        check_result(check, NULL);
        return;
    }
    const struct str early = tunnel_early(check->tunnel);
    buf_add(&check->in, early.p, early.len);
    buf_addf(&check->out,
             "GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\nUser-Agent: weir-health\r\n"
             "Connection: close\r\n\r\n",
             check->path);
    check->watch = loop_fd_add(check->owner->api->o.loop, tunnel_fd(check->tunnel),
                               EPOLLIN | EPOLLOUT, instance_ready, check);
}

static void check_begin(struct checked_attempt *check, node_id node)
{
    struct agent_tunnel order = {.key = check->key, .what = "port", .terminal = "", .term = ""};
    struct error e;
    if (tunnel_ask(check->owner->api, node, &order, tunnel_told, check, &check->tunnel, &e) !=
        ERR_OK) {
        check_after(check, check->every_ms);
        return;
    }
    heap_remove(&check->owner->due, &check->due);
    LIST_INSERT_HEAD(&check->owner->under_way, check, under_way);
    check->open = true;
    check->owner->open++;
    loop_timer_set(check->timer, clock_ms(check) + check->timeout_ms);
}

/* ---- which instances ---- */

static struct checked_attempt *check_new(struct checkup *checkup, const struct task *task,
                                         struct attempt_key key)
{
    const struct api *api = checkup->api;
    const struct core *core = api->o.host->core(api->o.host->ctx);
    struct checked_attempt *check = xcalloc(1, sizeof *check);
    struct arena arena;
    struct task_spec spec;
    arena_init(&arena);
    query_task_spec(core, task->id, &arena, &spec);
    check->owner = checkup;
    check->key = key;
    check->project = task->account;
    check->path = strcmp(spec.health, HEALTH_TCP) == 0 ? NULL : xstrdup(spec.health);
    check->every_ms = spec.health_every_ms;
    check->timeout_ms = spec.health_timeout_ms < HEALTH_TIMEOUT_MS_MAX ? spec.health_timeout_ms
                                                                       : HEALTH_TIMEOUT_MS_MAX;
    check->grace_ms = spec.health_grace_ms;
    check->failures_max = spec.health_failures;
    check->timer = loop_timer_new(api->o.loop, check_late, check);
    buf_init(&check->out, ANSWER_MAX);
    buf_init(&check->in, 2 * ANSWER_MAX);
    arena_done(&arena);
    (void)map_put(checkup->checks, &check->key, sizeof check->key, check);
    check_after(check, 0);
    return check;
}

static void task_look(struct checkup *checkup, const struct core *core, const struct task *task)
{
    for (uint32_t i = 0; i < task->instance_count && task->active_count > 0; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        const struct attempt_key key = {task->id, i, instance->attempt};
        if (instance->state != INSTANCE_RUNNING) {
            continue;
        }
        struct checked_attempt *check = map_get(checkup->checks, &key, sizeof key);
        check = check != NULL ? check : check_new(checkup, task, key);
        check->round = checkup->round;
    }
}

/* Returns whether at least as many checks of the project run as there are places for further checks. */
static bool project_full(const struct checkup *checkup, account_id project)
{
    size_t count = 0;
    const struct checked_attempt *check;
    LIST_FOREACH(check, &checkup->under_way, under_way)
    {
        count += check->project.v == project.v;
    }
    return count >= CHECKS_OPEN_MAX - checkup->open;
}

/* Begins the checks that are due. The tick has just found all their attempts running. */
static void due_begin(struct checkup *checkup, const struct core *core)
{
    const int64_t now_ms = loop_now_ms(checkup->api->o.loop);
    struct heap_entry *first;
    while (checkup->open < CHECKS_OPEN_MAX && (first = heap_first(&checkup->due)) != NULL &&
           first->key <= now_ms) {
        struct checked_attempt *check = (struct checked_attempt *)(void *)first;
        const struct instance *instance = query_instance_live(core, check->key);
        must(instance != NULL);
        if (project_full(checkup, check->project)) {
            check_after(check, 1); /* looked at again in the next tick, in the same order */
        } else {
            check_begin(check, instance->node);
        }
    }
}

static void tick(void *ctx)
{
    struct checkup *checkup = ctx;
    const struct api *api = checkup->api;
    const struct core *core = api->o.host->core(api->o.host->ctx);
    const struct task *task = core != NULL ? query_task_checked_next(core, (task_id){0}) : NULL;
    size_t cursor = 0;
    checkup->round++;
    for (; task != NULL; task = query_task_checked_next(core, task->id)) {
        task_look(checkup, core, task);
    }
    for (struct checked_attempt *check = map_next(checkup->checks, &cursor); check != NULL;
         check = map_next(checkup->checks, &cursor)) {
        if (check->round != checkup->round && core != NULL) {
            (void)map_remove(checkup->checks, &check->key, sizeof check->key);
            check_free(check);
        }
    }
    if (core != NULL) {
        due_begin(checkup, core);
    }
    if (map_count(checkup->checks) > 0) {
        loop_timer_set(checkup->timer, loop_now_ms(api->o.loop) + TICK_MS);
    }
}

void checkup_wake(struct checkup *checkup)
{
    const struct api *api = checkup->api;
    const struct core *core = api->o.host->core(api->o.host->ctx);
    if (!checkup->stopping && !loop_timer_armed(checkup->timer) && core != NULL &&
        query_task_checked_next(core, (task_id){0}) != NULL) {
        loop_timer_set(checkup->timer, loop_now_ms(api->o.loop) + TICK_MS);
    }
}

struct checkup *checkup_new(struct api *api)
{
    struct checkup *checkup = xcalloc(1, sizeof *checkup);
    checkup->api = api;
    checkup->checks = map_new();
    LIST_INIT(&checkup->under_way);
    checkup->timer = loop_timer_new(api->o.loop, tick, checkup);
    return checkup;
}

void checkup_stop(struct checkup *checkup)
{
    size_t cursor = 0;
    checkup->stopping = true;
    loop_timer_off(checkup->timer);
    for (struct checked_attempt *check = map_next(checkup->checks, &cursor); check != NULL;
         check = map_next(checkup->checks, &cursor)) {
        (void)map_remove(checkup->checks, &check->key, sizeof check->key);
        check_free(check);
    }
}

void checkup_free(struct checkup *checkup)
{
    if (checkup != NULL) {
        loop_timer_free(checkup->timer);
        map_free(checkup->checks);
        heap_done(&checkup->due);
        free(checkup);
    }
}
