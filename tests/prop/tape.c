/* tape.c - records the inputs of a world.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tape.h"

#include "base/mem.h"
#include "core/model/spec_codec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAPE_BYTES_MAX = 1 << 26, PATH_ROOM = 512, HEAD_ROOM = 160 };

struct tape {
    struct buf text;
    struct buf bytes; /* of one spec */
    uint32_t nested;  /* inside of something that has a line of its own */
    int64_t at_ms;
};

/* The world whose history is being recorded. A program plays one at a time. */
static const struct world *recorded;

/* What stands for the history of a program without a world. */
static const struct buf *plain;
static uint64_t plain_seed;

void tape_begin(struct world *world)
{
    if (!tape_wanted()) {
        return;
    }
    world->tape = xcalloc(1, sizeof *world->tape);
    buf_init(&world->tape->text, TAPE_BYTES_MAX);
    buf_init(&world->tape->bytes, TAPE_BYTES_MAX);
    recorded = world;
}

void tape_end(struct world *world)
{
    if (world->tape != NULL) {
        if (getenv("WEIR_TAPE_ALL") != NULL) {
            tape_keep();
        }
        buf_done(&world->tape->text);
        buf_done(&world->tape->bytes);
        free(world->tape);
        world->tape = NULL;
        recorded = NULL;
    }
}

bool tape_wanted(void)
{
    return getenv("WEIR_TAPE") != NULL;
}

/* Writes a head and a text to DIR/PROGRAM-SEED.txt. */
static void file_write(const char *head, const struct buf *text, uint64_t seed)
{
    char path[PATH_ROOM];
    (void)snprintf(path, sizeof path, "%s/%s-%" PRIu64 ".txt", getenv("WEIR_TAPE"),
                   program_invocation_short_name, seed);
    FILE *file = fopen(path, "w");
    const bool written = file != NULL && fputs(head, file) >= 0 && fputs(buf_text(text), file) >= 0;
    (void)fprintf(stderr, written ? "recorded in %s\n" : "cannot write %s\n", path);
    if (file != NULL) {
        (void)fclose(file);
    }
}

void tape_text(const struct buf *text, uint64_t seed)
{
    plain = text;
    plain_seed = seed;
    if (getenv("WEIR_TAPE_ALL") != NULL) {
        file_write("", text, seed);
    }
}

void tape_keep(void)
{
    char head[HEAD_ROOM];
    const struct world *world = recorded;
    if (plain != NULL) {
        file_write("", plain, plain_seed);
    }
    if (world != NULL) {
        (void)snprintf(head, sizeof head, "history 1 %s %" PRIu64 " kind %d laws %u work %u\n",
                       program_invocation_short_name, world->seed, (int)world->kind,
                       (unsigned)world->laws, (unsigned)world->work_max);
        file_write(head, &world->tape->text, world->seed);
    }
}

/* ---- lines ---- */

static void time_line(const struct world *world)
{
    struct tape *tape = world->tape;
    if (tape->at_ms != world->now_ms) {
        tape->at_ms = world->now_ms;
        buf_addf(&tape->text, "at %" PRId64 "\n", tape->at_ms);
    }
}

void tape_does(struct world *world, const char *what, uint64_t a, uint64_t b)
{
    if (world->tape == NULL) {
        return;
    }
    if (world->tape->nested++ == 0) {
        time_line(world);
        buf_addf(&world->tape->text, "%s %" PRIu64 " %" PRIu64 "\n", what, a, b);
    }
}

void tape_done(struct world *world)
{
    if (world->tape != NULL) {
        must(world->tape->nested > 0);
        world->tape->nested--;
    }
}

static void hex_add(struct buf *out, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    buf_add_char(out, ' ');
    for (size_t i = 0; i < len; i++) {
        buf_addf(out, "%02x", at[i]);
    }
}

static void word_add(struct buf *out, const char *word)
{
    const bool some = word != NULL && word[0] != '\0';
    must(!some || strchr(word, ' ') == NULL);
    buf_addf(out, " %s", some ? word : "-");
}

/* ---- inputs ---- */

static void task_add(struct tape *tape, const struct task_spec *spec)
{
    buf_clear(&tape->bytes);
    spec_codec_task_encode(spec, &tape->bytes);
    hex_add(&tape->text, tape->bytes.data, tape->bytes.len);
}

static void pool_add(struct tape *tape, const struct input *in)
{
    buf_clear(&tape->bytes);
    spec_codec_pool_encode(in->pool.spec, &tape->bytes);
    buf_addf(&tape->text, " %" PRIu32, in->pool.pool.v);
    hex_add(&tape->text, tape->bytes.data, tape->bytes.len);
}

static void join_add(struct tape *tape, const struct input *in)
{
    buf_clear(&tape->bytes);
    spec_codec_node_encode(in->node.spec, &tape->bytes);
    buf_addf(&tape->text, " %d", in->node.closing);
    hex_add(&tape->text, tape->bytes.data, tape->bytes.len);
}

static void submit_add(struct tape *tape, const struct submission *submit)
{
    const size_t key = submit->has_key ? sizeof submit->key : 0;
    buf_addf(&tape->text, " %d", submit->has_key);
    hex_add(&tape->text, submit->key, key);
    buf_add_str(&tape->text, key == 0 ? "-" : "");
    hex_add(&tape->text, submit->body_hash, key);
    buf_add_str(&tape->text, key == 0 ? "-" : "");
    for (uint32_t i = 0; i < submit->count; i++) {
        task_add(tape, &submit->specs[i]);
    }
}

/* Fields that the edit does not set are not read and may be out of bounds, so they become sound. */
static void edit_add(struct tape *tape, const struct task_edit *edit)
{
    struct task_spec spec = *edit->spec;
    spec.instances = spec.instances == 0 ? 1 : spec.instances;
    spec.priority = spec.priority == 0 ? PRIORITY_DEFAULT : spec.priority;
    buf_addf(&tape->text, " %" PRIu32, edit->fields);
    task_add(tape, &spec);
}

static const struct instance *instance_of(const struct core *core, const struct attempt_key *key)
{
    const struct task *task = query_task(core, key->task);
    return task != NULL && key->index < task->instance_count
               ? query_instance(core, key->task, key->index)
               : NULL;
}

static void report_add(const struct world *world, const struct input *in)
{
    struct buf *out = &world->tape->text;
    const struct instance *first = instance_of(world->core, &in->report.reports[0].key);
    const bool own = first != NULL && first->node.v == in->report.node.v;
    buf_addf(out, " %" PRIu32, own ? 0 : in->report.node.v);
    for (uint32_t i = 0; i < in->report.count; i++) {
        const struct report *report = &in->report.reports[i];
        const struct instance *instance = instance_of(world->core, &report->key);
        const int64_t attempt = instance != NULL ? (int64_t)instance->attempt : 0;
        const int64_t incarnation = instance != NULL ? (int64_t)instance->incarnation : 0;
        buf_addf(out, " %d %" PRIu64 " %" PRIu32 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId32,
                 (int)report->type, report->key.task.v, report->key.index,
                 attempt - (int64_t)report->key.attempt, incarnation - (int64_t)report->incarnation,
                 report->at_ms - world->now_ms, report->exit_code);
    }
}

static void account_add(struct tape *tape, const struct input *in)
{
    const struct account_spec *spec = in->account.spec;
    buf_addf(&tape->text, " %" PRIu32 " %d", in->account.account.v, (int)spec->kind);
    word_add(&tape->text, spec->name);
    word_add(&tape->text, spec->parent);
    word_add(&tape->text, spec->title);
}

static void quota_add(struct tape *tape, const struct input *in)
{
    const struct quota_spec *spec = in->quota.spec;
    buf_addf(&tape->text, " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRId64 " %" PRId64,
             in->quota.account.v, in->quota.pool.v, spec->rules.rank,
             spec->rules.preempt_min_runtime_ms, spec->rules.reclaim_min_runtime_ms);
    for (uint32_t i = 0; i < spec->amount_count; i++) {
        const struct quota_amount *amount = &spec->amounts[i];
        word_add(&tape->text, amount->resource);
        buf_addf(&tape->text, " %" PRId64 " %" PRId64 " %" PRIu32, amount->guaranteed,
                 amount->limit, amount->weight);
    }
}

static void task_input_add(struct tape *tape, const struct input *in)
{
    buf_addf(&tape->text, " %" PRIu64, in->task.task.v);
    if (in->type == INPUT_TASK_EDIT) {
        edit_add(tape, in->task.edit);
    } else if (in->type == INPUT_TASK_MOVE) {
        buf_addf(&tape->text, " %" PRIu64 " %d", in->task.move.other.v, in->task.move.behind);
    }
}

static void node_input_add(struct tape *tape, const struct input *in)
{
    buf_addf(&tape->text, " %" PRIu32, in->node.node.v);
    if (in->type == INPUT_NODE_EDIT) {
        must(in->node.edit->fields == NODE_EDIT_DRAIN); /* no program edits labels */
        buf_addf(&tape->text, " %d", in->node.edit->drain);
    }
}

const char *const tape_words[INPUT_TYPE_COUNT] = {
    [INPUT_SERVER_START] = "start",
    [INPUT_POOL_CREATE] = "pool-create",
    [INPUT_POOL_EDIT] = "pool-edit",
    [INPUT_POOL_DELETE] = "pool-delete",
    [INPUT_NODE_JOIN] = "join",
    [INPUT_NODE_SILENT] = "silent",
    [INPUT_NODE_LOST] = "lost",
    [INPUT_NODE_EDIT] = "node-edit",
    [INPUT_NODE_REMOVE] = "node-remove",
    [INPUT_TASK_SUBMIT] = "submit",
    [INPUT_TASK_START] = "task-start",
    [INPUT_TASK_PAUSE] = "task-pause",
    [INPUT_TASK_ACTIVATE] = "task-again",
    [INPUT_TASK_MOVE] = "task-move",
    [INPUT_TASK_KILL] = "task-kill",
    [INPUT_TASK_EDIT] = "task-edit",
    [INPUT_REPORT] = "report",
    [INPUT_TICK] = "tick",
    [INPUT_PASS] = "pass",
    [INPUT_ACCOUNT_SET] = "account",
    [INPUT_QUOTA_SET] = "quota",
    [INPUT_ACCOUNT_DELETE] = "account-delete",
    [INPUT_POOL_CLOSE] = "pool-close",
    [INPUT_POOL_RESTORE] = "pool-restore",
};

static void rest_of_line(const struct world *world, const struct input *in)
{
    struct tape *tape = world->tape;
    switch (in->type) {
    case INPUT_SERVER_START:
        hex_add(&tape->text, in->server.server_uuid, sizeof in->server.server_uuid);
        break;
    case INPUT_POOL_CREATE:
    case INPUT_POOL_EDIT:
        pool_add(tape, in);
        break;
    case INPUT_POOL_DELETE:
        buf_addf(&tape->text, " %" PRIu32 " %d %d", in->pool.pool.v, in->pool.force, in->pool.now);
        break;
    case INPUT_POOL_CLOSE:
        buf_addf(&tape->text, " %" PRIu32 " %d", in->pool.pool.v, in->pool.kill);
        break;
    case INPUT_POOL_RESTORE:
        buf_addf(&tape->text, " %" PRIu32, in->pool.pool.v);
        break;
    case INPUT_NODE_JOIN:
        join_add(tape, in);
        break;
    case INPUT_NODE_SILENT:
    case INPUT_NODE_LOST:
    case INPUT_NODE_EDIT:
    case INPUT_NODE_REMOVE:
        node_input_add(tape, in);
        break;
    case INPUT_TASK_SUBMIT:
        submit_add(tape, &in->submit);
        break;
    case INPUT_TASK_START:
    case INPUT_TASK_PAUSE:
    case INPUT_TASK_ACTIVATE:
    case INPUT_TASK_MOVE:
    case INPUT_TASK_KILL:
    case INPUT_TASK_EDIT:
        task_input_add(tape, in);
        break;
    case INPUT_REPORT:
        report_add(world, in);
        break;
    case INPUT_PASS:
        buf_addf(&tape->text, " %" PRIu32 " %" PRIu64, in->pass.pool.v, in->pass.work_max);
        break;
    case INPUT_ACCOUNT_SET:
        account_add(tape, in);
        break;
    case INPUT_ACCOUNT_DELETE:
        buf_addf(&tape->text, " %" PRIu32, in->account.account.v);
        break;
    case INPUT_QUOTA_SET:
        quota_add(tape, in);
        break;
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
        break;
    }
}

void tape_input(struct world *world, const struct input *in)
{
    const bool launch = in->type == INPUT_LAUNCH_ASK || in->type == INPUT_LAUNCH_STOP ||
                        in->type == INPUT_PROVIDER || in->type == INPUT_FLAVOR_SET ||
                        in->type == INPUT_FLAVOR_DELETE || in->type == INPUT_POOL_SCALE ||
                        in->type == INPUT_POOL_REPLACE || in->type == INPUT_NETWORK_SET ||
                        in->type == INPUT_NETWORK_DELETE || in->type == INPUT_HEALTH ||
                        in->type == INPUT_ROLLOUT;
    if (world->tape == NULL || world->tape->nested > 0 || launch) {
        return;
    }
    must(tape_words[in->type] != NULL); /* no program gives the other inputs */
    time_line(world);
    buf_add_str(&world->tape->text, tape_words[in->type]);
    rest_of_line(world, in);
    buf_add_char(&world->tape->text, '\n');
}
