/* tape_play.c - plays a recorded history (tape.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "tape.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/model/spec_codec.h"
#include "history.h"
#include "history_wait.h"
#include "oracle.h"
#include "prop_run.h"
#include "rest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 256, LINE_MAX_HERE = 1 << 20, REPORTS_MAX = 32, AMOUNTS_MAX = 8 };

/* A line of the file while it is played. */
struct line {
    char *words[WORDS_MAX];
    size_t count;
    size_t at; /* the next word to read */
};

struct player {
    struct world world;
    struct tape_played played;
    task_id starts; /* must have started by `by_ms`; 0: none */
    int64_t by_ms;
};

/* ---- words ---- */

static const char *word(struct line *line)
{
    law(line->at < line->count, "a line of a recorded history has all of its words");
    return line->words[line->at++];
}

static bool more(const struct line *line)
{
    return line->at < line->count;
}

static int64_t number(struct line *line)
{
    char *end;
    const char *text = word(line);
    const int64_t value =
        text[0] == '-' ? (int64_t)strtoll(text, &end, 10) : (int64_t)strtoull(text, &end, 10);
    law(*text != '\0' && *end == '\0', "a number of a recorded history is one");
    return value;
}

static const char *name(struct line *line)
{
    const char *text = word(line);
    return strcmp(text, "-") == 0 ? "" : text;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes of a word of hexadecimal digits. */
static struct bytes_reader bytes(struct line *line, struct arena *arena)
{
    const char *text = word(line);
    const size_t len = strlen(text) / 2;
    unsigned char *out = arena_alloc(arena, len + 1);
    for (size_t i = 0; i < len; i++) {
        const int high = digit(text[2 * i]);
        const int low = digit(text[2 * i + 1]);
        law(high >= 0 && low >= 0, "bytes of a recorded history are hexadecimal");
        out[i] = (unsigned char)(high * 16 + low);
    }
    struct bytes_reader reader;
    bytes_reader_init(&reader, out, len);
    return reader;
}

static void sixteen(struct line *line, struct arena *arena, uint8_t ret[static 16])
{
    const struct bytes_reader reader = bytes(line, arena);
    law(reader.left == 16, "sixteen bytes");
    memcpy(ret, reader.p, 16);
}

/* ---- inputs ---- */

/* A spec that cannot be read was never accepted: its input is left out. */
static bool task_read(struct line *line, struct arena *arena, struct task_spec *ret)
{
    struct bytes_reader reader = bytes(line, arena);
    spec_codec_task_decode(&reader, arena, ret);
    return bytes_reader_ok(&reader);
}

static bool submit_read(struct line *line, struct arena *arena, struct submission *ret)
{
    struct task_spec *specs = arena_new(arena, struct task_spec, WORDS_MAX);
    bool fine = true;
    ret->has_key = number(line) != 0;
    if (ret->has_key) {
        sixteen(line, arena, ret->key);
        sixteen(line, arena, ret->body_hash);
    } else {
        (void)word(line);
        (void)word(line);
    }
    while (more(line)) {
        fine &= task_read(line, arena, &specs[ret->count++]);
    }
    ret->specs = specs;
    return fine;
}

static bool pool_read(struct line *line, struct arena *arena, struct input *in)
{
    struct pool_spec *spec = arena_new(arena, struct pool_spec, 1);
    in->pool.pool.v = (uint32_t)number(line);
    struct bytes_reader reader = bytes(line, arena);
    spec_codec_pool_decode(&reader, arena, spec);
    in->pool.spec = spec;
    return bytes_reader_ok(&reader);
}

static bool join_read(struct line *line, struct arena *arena, struct input *in)
{
    struct node_spec *spec = arena_new(arena, struct node_spec, 1);
    in->node.closing = number(line) != 0;
    struct bytes_reader reader = bytes(line, arena);
    spec_codec_node_decode(&reader, arena, spec);
    in->node.spec = spec;
    return bytes_reader_ok(&reader);
}

static bool node_read(struct line *line, struct arena *arena, struct input *in)
{
    struct node_edit *edit = arena_new(arena, struct node_edit, 1);
    in->node.node.v = (uint32_t)number(line);
    edit->fields = NODE_EDIT_DRAIN;
    edit->drain = in->type == INPUT_NODE_EDIT && number(line) != 0;
    in->node.edit = edit;
    return true;
}

static bool task_input_read(struct line *line, struct arena *arena, struct input *in)
{
    in->task.task.v = (uint64_t)number(line);
    if (in->type == INPUT_TASK_MOVE) {
        in->task.move.other.v = (uint64_t)number(line);
        in->task.move.behind = number(line) != 0;
    } else if (in->type == INPUT_TASK_EDIT) {
        struct task_edit *edit = arena_new(arena, struct task_edit, 1);
        struct task_spec *spec = arena_new(arena, struct task_spec, 1);
        edit->fields = (uint32_t)number(line);
        edit->spec = spec;
        in->task.edit = edit;
        return task_read(line, arena, spec);
    }
    return true;
}

/* The reports are about the attempts that the instances have now. */
static bool report_read(struct line *line, struct world *world, struct input *in)
{
    struct report *reports = arena_new(&world->arena, struct report, REPORTS_MAX);
    in->report.node.v = (uint32_t)number(line);
    in->report.reports = reports;
    while (more(line)) {
        law(in->report.count < REPORTS_MAX, "a line has few reports");
        struct report *report = &reports[in->report.count++];
        report->type = (enum report_type)number(line);
        report->key.task.v = (uint64_t)number(line);
        report->key.index = (uint32_t)number(line);
        const struct task *task = query_task(world->core, report->key.task);
        const bool there = task != NULL && report->key.index < task->instance_count;
        const struct instance *instance =
            there ? query_instance(world->core, task->id, report->key.index) : NULL;
        report->key.attempt = (uint32_t)((there ? (int64_t)instance->attempt : 0) - number(line));
        report->incarnation =
            (uint32_t)((there ? (int64_t)instance->incarnation : 0) - number(line));
        report->at_ms = world->now_ms + number(line);
        report->exit_code = (int32_t)number(line);
        if (in->report.count == 1 && in->report.node.v == 0 && there) {
            in->report.node = instance->node;
        }
    }
    return in->report.node.v != 0;
}

static bool account_read(struct line *line, struct arena *arena, struct input *in)
{
    struct account_spec *spec = arena_new(arena, struct account_spec, 1);
    in->account.account.v = (uint32_t)number(line);
    spec->kind = (enum account_kind)number(line);
    spec->name = name(line);
    spec->parent = name(line);
    spec->title = name(line);
    spec->description = "";
    in->account.spec = spec;
    return true;
}

static bool quota_read(struct line *line, struct arena *arena, struct input *in)
{
    struct quota_amount *amounts = arena_new(arena, struct quota_amount, AMOUNTS_MAX);
    struct quota_spec *spec = arena_new(arena, struct quota_spec, 1);
    in->quota.account.v = (uint32_t)number(line);
    in->quota.pool.v = (uint32_t)number(line);
    spec->rules = quota_rules_none;
    spec->rules.rank = (uint32_t)number(line);
    spec->rules.preempt_min_runtime_ms = number(line);
    spec->rules.reclaim_min_runtime_ms = number(line);
    spec->amounts = amounts;
    while (more(line)) {
        law(spec->amount_count < AMOUNTS_MAX, "a quota has few amounts");
        struct quota_amount *amount = &amounts[spec->amount_count++];
        amount->resource = name(line);
        amount->guaranteed = number(line);
        amount->limit = number(line);
        amount->weight = (uint32_t)number(line);
    }
    in->quota.spec = spec;
    return true;
}

/* Reads an input of this type. False: it is left out. */
static bool input_read(struct line *line, struct world *world, struct input *in)
{
    struct arena *arena = &world->arena;
    switch (in->type) {
    case INPUT_SERVER_START:
        sixteen(line, arena, in->server.server_uuid);
        return true;
    case INPUT_POOL_CREATE:
    case INPUT_POOL_EDIT:
        return pool_read(line, arena, in);
    case INPUT_POOL_DELETE:
        in->pool.pool.v = (uint32_t)number(line);
        in->pool.force = number(line) != 0;
        in->pool.now = number(line) != 0;
        return true;
    case INPUT_POOL_CLOSE:
        in->pool.pool.v = (uint32_t)number(line);
        in->pool.kill = number(line) != 0;
        return true;
    case INPUT_POOL_RESTORE:
        in->pool.pool.v = (uint32_t)number(line);
        return true;
    case INPUT_NODE_JOIN:
        return join_read(line, arena, in);
    case INPUT_NODE_SILENT:
    case INPUT_NODE_LOST:
    case INPUT_NODE_EDIT:
    case INPUT_NODE_REMOVE:
        return node_read(line, arena, in);
    case INPUT_TASK_SUBMIT:
        return submit_read(line, arena, &in->submit);
    case INPUT_TASK_START:
    case INPUT_TASK_PAUSE:
    case INPUT_TASK_ACTIVATE:
    case INPUT_TASK_MOVE:
    case INPUT_TASK_KILL:
    case INPUT_TASK_EDIT:
        return task_input_read(line, arena, in);
    case INPUT_REPORT:
        return report_read(line, world, in);
    case INPUT_PASS:
        in->pass.pool.v = (uint32_t)number(line);
        in->pass.work_max = (uint64_t)number(line);
        return true;
    case INPUT_ACCOUNT_SET:
        return account_read(line, arena, in);
    case INPUT_ACCOUNT_DELETE:
        in->account.account.v = (uint32_t)number(line);
        return true;
    case INPUT_QUOTA_SET:
        return quota_read(line, arena, in);
    case INPUT_TICK:
    case INPUT_TASK_ADOPT:
    case INPUT_DEFAULTS_SET:
    case INPUT_LAUNCH_ASK:
    case INPUT_LAUNCH_STOP:
    case INPUT_PROVIDER:
    case INPUT_FLAVOR_SET:
    case INPUT_FLAVOR_DELETE:
    case INPUT_NETWORK_SET:
    case INPUT_NETWORK_DELETE:
    case INPUT_TASK_IDLE:
    case INPUT_HEALTH:
    case INPUT_ROLLOUT:
    case INPUT_POOL_SCALE:
    case INPUT_POOL_REPLACE:
        return true;
    }
    return false;
}

/* ---- playing ---- */

static void input_play(struct player *player, struct line *line, enum input_type type)
{
    struct world *world = &player->world;
    struct input in = {.type = type};
    arena_clear(&world->arena);
    if (!input_read(line, world, &in)) {
        player->played.left_out++;
        return;
    }
    law(!more(line), "a line of a recorded history has no further words");
    const enum verdict verdict = world_step(world, in);
    if (type == INPUT_TASK_SUBMIT && (world->laws & LAWS_SUBMISSIONS) != 0) {
        history_submitted(world, &in.submit, verdict);
    } else if (type == INPUT_TICK && (world->laws & LAWS_TICKS) != 0) {
        oracle_gangs_in_time(world->core, world->now_ms);
    } else if (type == INPUT_PASS && (world->laws & LAWS_GANGS) != 0) {
        rest_gangs(world->core);
    }
}

/* P7, where the program that recorded the history has said by when a task must start. */
static void start_check(const struct player *player)
{
    const struct task *task =
        player->starts.v == 0 ? NULL : query_task(player->world.core, player->starts);
    law(task == NULL || task->active_count > 0 || player->world.now_ms <= player->by_ms,
        "P7: nobody starves");
}

static bool deed_play(struct player *player, struct line *line, const char *what)
{
    struct world *world = &player->world;
    if (strcmp(what, "at") == 0) {
        world->now_ms = number(line);
        return true;
    }
    const bool rolls = strcmp(what, "settle") == 0 || strcmp(what, "answer") == 0;
    const bool waits = strcmp(what, "waits") == 0;
    const bool starts = strcmp(what, "starts-by") == 0;
    if (!rolls && !waits && !starts && strcmp(what, "rest") != 0) {
        return false;
    }
    const uint64_t first = (uint64_t)number(line);
    const uint64_t second = (uint64_t)number(line);
    const pool_id pool = {(uint32_t)first};
    arena_clear(&world->arena);
    world->dice.state = rolls ? second : world->dice.state;
    if (starts) {
        player->starts.v = first;
        player->by_ms = (int64_t)second;
    } else if (waits) {
        waits_check(world, pool);
    } else if (strcmp(what, "settle") == 0) {
        world_settle(world, pool);
    } else if (strcmp(what, "answer") == 0) {
        (void)rest_answer(world, first != 0);
    } else {
        rest_reach(world, pool);
    }
    return true;
}

static void line_play(struct player *player, struct line *line)
{
    const char *what = word(line);
    player->played.lines++;
    if (deed_play(player, line, what)) {
        start_check(player);
        return;
    }
    int type = 0;
    while (type < INPUT_TYPE_COUNT &&
           (tape_words[type] == NULL || strcmp(what, tape_words[type]) != 0)) {
        type++;
    }
    law(type < INPUT_TYPE_COUNT, "a line of a recorded history begins with a known word");
    input_play(player, line, (enum input_type)type);
    start_check(player);
}

static struct line line_split(char *text)
{
    struct line line = {0};
    char *rest = NULL;
    for (char *at = strtok_r(text, " \n", &rest); at != NULL; at = strtok_r(NULL, " \n", &rest)) {
        law(line.count < WORDS_MAX, "a line of a recorded history is not too long");
        line.words[line.count++] = at;
    }
    return line;
}

/* The first line: history 1 PROGRAM SEED kind K laws L work W */
static void head_play(struct player *player, struct line *line)
{
    law(line->count == 10 && strcmp(line->words[0], "history") == 0 &&
            strcmp(line->words[1], "1") == 0,
        "a recorded history says so in its first line");
    line->at = 3;
    const uint64_t seed = (uint64_t)number(line);
    line->at = 5;
    world_init(&player->world, seed, (enum world_kind)number(line));
    line->at = 7;
    player->world.laws = (uint32_t)number(line);
    line->at = 9;
    player->world.work_max = (uint32_t)number(line);
}

struct tape_played tape_play(const char *path)
{
    static char text[LINE_MAX_HERE];
    struct player player = {0};
    FILE *file = fopen(path, "r");
    law(file != NULL, "a recorded history can be read");
    for (uint64_t number_of = 1; fgets(text, sizeof text, file) != NULL; number_of++) {
        prop_place(path, number_of);
        struct line line = line_split(text);
        if (number_of == 1) {
            head_play(&player, &line);
        } else if (line.count > 0 && line.words[0][0] != '#') {
            line_play(&player, &line);
        }
    }
    (void)fclose(file);
    law(player.played.lines > 0, "a recorded history has lines");
    world_done(&player.world);
    return player.played;
}
