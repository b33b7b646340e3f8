/* before.c - see before.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/before.h"

#include "agent/agent_internal.h"
#include "agent/dirs.h"
#include "agent/keeper.h"
#include "agent/session.h"
#include "agent/standing.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

#include <string.h>

#define FILE_BEFORE "before"

enum { LOOK_MS = 1000, BEFORE_BYTES_MAX = 65536 };

struct before {
    struct agent *agent;
    struct loop_timer *timer; /* the next look whether the old tasks have ended */
    bool written;             /* the file says what the node is now */
    char trouble[TEXT_LEN_MAX + 1];
};

static struct standing standing_now(const struct agent *agent)
{
    struct standing now = {.pool = agent->node.pool,
                           .devices = agent->node.device_count,
                           .model = "",
                           .serials = agent->device_serials};
    for (uint32_t i = 0; i < agent->node.label_count; i++) {
        if (strcmp(agent->node.labels[i].key, "gpu.model") == 0) {
            now.model = agent->node.labels[i].value;
        }
    }
    return now;
}

static void file_write(struct before *before)
{
    struct buf text;
    struct error e;
    const struct standing now = standing_now(before->agent);
    buf_init(&text, BEFORE_BYTES_MAX);
    standing_write(&now, &text);
    before->written = dirs_write(before->agent->options.dir, FILE_BEFORE,
                                 (struct str){text.data, text.len}, &e) == ERR_OK;
    if (!before->written) {
        log_warn("what the node is now cannot be written down", kv_error(&e));
    }
    buf_done(&text);
}

/* Compares the node with the file. A node without a file has no tasks of an agent that wrote one. */
static void file_compare(struct before *before)
{
    struct arena arena;
    struct str text = {"", 0};
    struct standing then;
    struct error e;
    const struct standing now = standing_now(before->agent);
    arena_init(&arena);
    if (dirs_read(before->agent->options.dir, FILE_BEFORE, &arena, &text, &e) == ERR_OK &&
        standing_read(text, &arena, &then, &e) == ERR_OK) {
        standing_change(&then, &now, before->trouble, sizeof before->trouble);
    }
    arena_done(&arena);
}

static bool any_runs(const struct agent *agent)
{
    bool runs = agent->ordered.count > 0;
    for (size_t i = 0; i < agent->attempts.count && !runs; i++) {
        runs = agent->attempts.at[i].state == AGENT_ATTEMPT_RUNNING;
    }
    return runs;
}

static void look(void *ctx)
{
    struct before *before = ctx;
    loop_timer_set(before->timer, loop_now_ms(before->agent->loop) + LOOK_MS);
    keeper_list(before->agent, LISTING_BEFORE);
}

void before_listed(struct before *before)
{
    if (before->written) {
        return;
    }
    before->trouble[0] = '\0';
    if (any_runs(before->agent)) {
        file_compare(before);
    }
    if (before->trouble[0] == '\0') {
        file_write(before);
        loop_timer_off(before->timer);
    } else if (!loop_timer_armed(before->timer)) {
        loop_timer_set(before->timer, loop_now_ms(before->agent->loop) + LOOK_MS);
    }
    session_trouble(before->agent);
}

struct before *before_new(struct agent *agent)
{
    struct before *before = xcalloc(1, sizeof *before);
    before->agent = agent;
    before->timer = loop_timer_new(agent->loop, look, before);
    return before;
}

void before_free(struct before *before)
{
    if (before != NULL) {
        loop_timer_free(before->timer);
        free(before);
    }
}

const char *before_trouble(const struct before *before)
{
    return before->trouble;
}
