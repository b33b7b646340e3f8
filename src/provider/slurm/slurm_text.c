/* slurm_text.c - see slurm_text.h.
 *
 * The script of a job keeps the directory of the node, starts the agent, and ends what the agent left behind when the job
 * is told to end. The agent is killed first: otherwise it would report tasks that Slurm ended as tasks that failed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provider/slurm/slurm_text.h"

#include "base/must.h"
#include "base/sort.h"
#include "core/model/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    FIELDS = 6,
    MINUTE_MS = 60 * 1000,
    /* A node takes no new work when a quarter of the time of its job is left, and its tasks are told to stop when an
     * eighth is left, both within these bounds. */
    DRAIN_MS_MIN = 30 * 1000,
    DRAIN_MS_MAX = 10 * MINUTE_MS,
    END_MS_MIN = 20 * 1000,
    END_MS_MAX = 2 * MINUTE_MS,
    MEBIBYTE = 1 << 20,
};

/* ---- squeue ---- */

/* The next number of a time, before `:` or the end of the text. */
static bool part_read(struct str *rest, uint64_t *ret)
{
    struct str part = str_cut(*rest, ':', rest);
    return part.len > 0 && part.len <= 6 && str_to_u64(part, ret);
}

bool slurm_text_span(struct str text, int64_t *ret_ms)
{
    struct str rest = text;
    uint64_t days = 0;
    uint64_t parts[3];
    unsigned count = 0;
    if (text.p != NULL && memchr(text.p, '-', text.len) != NULL) {
        struct str day = str_cut(text, '-', &rest);
        if (day.len == 0 || day.len > 6 || !str_to_u64(day, &days)) {
            return false;
        }
    }
    while (rest.p != NULL && count < 3 && part_read(&rest, &parts[count])) {
        count++;
    }
    if (rest.p != NULL || count < 2) {
        return false;
    }
    uint64_t seconds = days * 24 * 3600;
    for (unsigned i = 0, unit = count == 3 ? 3600 : 60; i < count; i++, unit /= 60) {
        seconds += parts[i] * unit;
    }
    *ret_ms = (int64_t)seconds * 1000;
    return true;
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static enum provider_stay stay_of(struct str left, struct str limit)
{
    int64_t left_ms;
    int64_t limit_ms;
    if (!slurm_text_span(left, &left_ms) || !slurm_text_span(limit, &limit_ms)) {
        return PROVIDER_STAYS;
    }
    if (left_ms < clamp(limit_ms / 8, END_MS_MIN, END_MS_MAX)) {
        return PROVIDER_ENDS;
    }
    return left_ms < clamp(limit_ms / 4, DRAIN_MS_MIN, DRAIN_MS_MAX) ? PROVIDER_DRAINS
                                                                     : PROVIDER_STAYS;
}

/* Reads one line. False: it has another form. A job with a name that is no key gets the key "". */
static bool job_read(struct str line, struct arena *arena, struct slurm_job *ret)
{
    struct str fields[FIELDS];
    struct str rest = line;
    for (unsigned i = 0; i + 1 < FIELDS; i++) {
        if (rest.p == NULL) {
            return false;
        }
        fields[i] = str_cut(rest, '|', &rest);
    }
    if (rest.p == NULL) {
        return false;
    }
    *ret = (struct slurm_job){.key = "", .name = "", .words = ""};
    if (rest.len < 5 || rest.len >= PROVIDER_KEY_MAX || memcmp(rest.p, "weir-", 5) != 0 ||
        !str_to_u64(fields[0], &ret->id)) {
        return true; /* arrays have ids like 7_1, and no job of ours is an array */
    }
    const bool waits = str_is(fields[1], "PENDING") || str_is(fields[1], "CONFIGURING");
    const bool said = waits && fields[4].len > 0 && !str_is(fields[4], "None");
    ret->key = arena_strn(arena, rest.p, rest.len);
    ret->name = arena_fmt(arena, "job %" PRIu64, ret->id);
    ret->says = waits ? PROVIDER_REQUESTED : PROVIDER_RUNNING;
    ret->stay = waits ? PROVIDER_STAYS : stay_of(fields[2], fields[3]);
    if (said) {
        ret->words = arena_fmt(arena, "Slurm: %.*s", str_shown(fields[4]), fields[4].p);
    }
    return true;
}

static int job_compare(const void *a, const void *b)
{
    const struct slurm_job *x = a;
    const struct slurm_job *y = b;
    const int order = strcmp(x->key, y->key);
    return order != 0 ? order : x->id < y->id ? -1 : x->id > y->id;
}

enum err slurm_text_jobs(struct str text, struct arena *arena, struct slurm_jobs *ret,
                         struct error *e)
{
    struct str rest = text;
    uint32_t lines = 1;
    uint32_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        lines += text.p[i] == '\n';
    }
    if (lines > SLURM_JOBS_MAX) {
        return fail(e, ERR_LIMIT, "squeue lists more than %d jobs", SLURM_JOBS_MAX);
    }
    struct slurm_job *jobs = arena_new(arena, struct slurm_job, lines);
    while (rest.p != NULL) {
        const struct str line = str_cut(rest, '\n', &rest);
        if (line.len == 0) {
            continue;
        }
        if (!job_read(line, arena, &jobs[count])) {
            return fail(e, ERR_INVALID, "squeue printed '%.*s', and %d fields were asked for",
                        str_shown(line), line.p, FIELDS);
        }
        count += jobs[count].key[0] != '\0';
    }
    sort_items(jobs, count, sizeof *jobs, job_compare);
    *ret = (struct slurm_jobs){.at = jobs, .count = count};
    return ERR_OK;
}

/* ---- sbatch ---- */

static void word_add(struct buf *out, const char *flag, const char *value)
{
    if (value[0] != '\0') {
        buf_addf(out, "%s%s", flag, value);
        buf_add_char(out, '\0');
    }
}

static void number_add(struct buf *out, const char *flag, int64_t number, const char *unit)
{
    if (number > 0) {
        buf_addf(out, "%s%" PRId64 "%s", flag, number, unit);
        buf_add_char(out, '\0');
    }
}

static void words_add(struct buf *out, const struct provider_order *order)
{
    static const char *const always[] = {
        "sbatch",       "--parsable",         "--nodes=1",         "--ntasks=1",
        "--no-requeue", "--output=/dev/null", "--error=/dev/null", "--chdir=/",
    };
    const struct pool_spec *pool = order->settings;
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        word_add(out, "", always[i]);
    }
    word_add(out, "--job-name=", order->key);
    word_add(out, "--comment=weir pool ", order->pool);
    /* A zone of a flavor of Slurm is a partition, and the provider's own name for its nodes is a feature of them. */
    word_add(out, "--partition=", order->zone[0] != '\0' ? order->zone : pool->partition);
    word_add(out, "--constraint=", order->flavor);
    word_add(out, "--account=", pool->account);
    word_add(out, "--qos=", pool->qos);
    number_add(out, "--time=", pool->job_limit_ms / MINUTE_MS, "");
    number_add(out, "--cpus-per-task=",
               order->cpu_milli > 0 ? (order->cpu_milli + 999) / 1000
               : order->gpus > 0    ? 0
                                    : (int64_t)order->slots,
               "");
    number_add(out, "--mem=", (order->memory_bytes + MEBIBYTE - 1) / MEBIBYTE, "M");
    number_add(out, "--gres=gpu:", order->gpus, "");
    for (uint32_t i = 0; i < pool->flag_count; i++) {
        word_add(out, "", pool->flags[i]);
    }
    buf_add_char(out, '\0');
}

/* Writes a text as one word of the shell. */
static void quoted_add(struct buf *out, const char *before, const char *text)
{
    buf_addf(out, "%s'", before);
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\'') {
            buf_add_str(out, "'\\''");
        } else {
            buf_add_char(out, *p);
        }
    }
    buf_add_char(out, '\'');
}

void slurm_text_order(struct buf *out, const struct provider_order *order, const char *program)
{
    static const char head[] =
        "#!/bin/sh\n"
        "umask 077\n"
        "agent=\n"
        "dir=$(mktemp -d \"${TMPDIR:-/tmp}/weir-node.XXXXXXXX\") || exit 1\n"
        "chmod 711 \"$dir\" && mkdir -m 711 \"$dir/node\" || exit 1\n"
        "finish() {\n"
        "    trap '' TERM INT\n"
        "    [ -n \"$agent\" ] && kill -KILL \"$agent\" 2>/dev/null\n"
        "    supervisor=$(cat \"$dir/node/supervisor.lock\" 2>/dev/null)\n"
        "    [ -n \"$supervisor\" ] && kill -TERM \"$supervisor\" 2>/dev/null &&\n"
        "        while kill -0 \"$supervisor\" 2>/dev/null; do sleep 0.2; done\n"
        "    rm -rf \"$dir\" 2>/dev/null || { sleep 1; rm -rf \"$dir\"; }\n"
        "    exit 0\n"
        "}\n"
        "trap finish TERM INT\n"
        "cat >\"$dir/join.token\" <<'WEIR_TOKEN_ENDS'\n";
    static const char tail[] = " >\"$dir/agent.log\" 2>&1 &\n"
                               "agent=$!\n"
                               "wait \"$agent\"\n"
                               "finish\n";
    char resources[PROVIDER_RESOURCES_MAX];
    words_add(out, order);
    buf_add_str(out, head);
    buf_addf(out, "%s\nWEIR_TOKEN_ENDS\n", order->join_token);
    quoted_add(out, "", program);
    buf_add_str(out, " agent --dir \"$dir/node\" --join-token-file \"$dir/join.token\"");
    quoted_add(out, " --server ", order->server);
    quoted_add(out, " --pool ", order->pool);
    quoted_add(out, " --name ", order->node);
    provider_resources(order, resources);
    quoted_add(out, " --resources ", resources);
    if (order->gpus == 0) {
        buf_addf(out, " --slots %" PRIu32, order->slots);
    }
    buf_add_str(out, tail);
}

void slurm_text_order_split(struct str text, const char **argv, size_t most, struct str *ret_script)
{
    size_t at = 0;
    size_t count = 0;
    while (at < text.len && text.p[at] != '\0') {
        must(count < most);
        argv[count++] = text.p + at;
        at += strlen(text.p + at) + 1;
    }
    argv[count] = NULL;
    must(at < text.len);
    *ret_script = (struct str){text.p + at + 1, text.len - at - 1};
}
