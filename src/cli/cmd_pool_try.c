/* cmd_pool_try.c - `weir pool try P --idle 20m --max 8`: the last day of a pool, played again with other settings.
 *
 * The day is read from the server (pool_day.h) and written as a scenario. `weir sim` plays the scenario twice: with the
 * settings that the pool has now, and with those that are tried. What really was stands beside, so that everybody sees
 * how near the simulation of the present settings comes to the truth.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "cli/cmd.h"
#include "cli/item.h"
#include "cli/pool_day.h"
#include "cli/text.h"
#include "spec/pool_spec.h"
#include "wire/object_json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SCENARIO_BYTES_MAX = 64 << 20,
    RESULT_BYTES_MAX = 64 << 20,
    FLAGS_TEXT_MAX = 1 << 12,
    HOUR_MS = 3600 * 1000
};

#define DAY_MS ((int64_t)24 * HOUR_MS)
/* Where no node has joined in the day, nobody knows how long one takes. */
#define START_MS_ASSUMED ((int64_t)60 * 1000)

extern char **environ;

/* The settings that may be tried: the flag is the name in the file. */
static const char *const SETTINGS[] = {"min", "max", "idle", "headroom"};
enum { SETTING_COUNT = sizeof SETTINGS / sizeof SETTINGS[0] };

/* ---- the settings ---- */

/* Makes an error with the same words as `weir pool edit`, after the flags that were given: "--min 4
 * --max 2: min: it is 4 and max is 2; …". */
static enum err settings_refuse(const struct cli *cli, const struct error *why, struct error *e)
{
    static const char place[] = "provider.";
    const bool known = strncmp(why->text, place, sizeof place - 1) == 0;
    struct buf flags;
    buf_init(&flags, FLAGS_TEXT_MAX);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (args_has(&cli->args, SETTINGS[i])) {
            buf_addf(&flags, "%s--%s %s", flags.len > 0 ? " " : "", SETTINGS[i],
                     args_text(&cli->args, SETTINGS[i]));
        }
    }
    const enum err r =
        fail(e, why->code, "%s: %s", buf_text(&flags), why->text + (known ? sizeof place - 1 : 0));
    buf_done(&flags);
    return r;
}

/* Changes `spec` as `weir pool edit` with the same flags would change the pool. */
static enum err settings_try(struct cli *cli, struct pool_spec *spec, struct error *e)
{
    struct buf text;
    struct json_out j;
    struct doc *doc;
    struct error why;
    buf_init(&text, FLAGS_TEXT_MAX);
    json_out_init(&j, &text);
    json_out_object(&j);
    json_out_key(&j, "provider");
    json_out_object(&j);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (!args_has(&cli->args, SETTINGS[i])) {
            continue;
        }
        if (strcmp(SETTINGS[i], "idle") == 0) {
            json_out_kv_text(&j, "idle", args_text(&cli->args, "idle"));
        } else {
            json_out_kv_u64(&j, SETTINGS[i], args_number(&cli->args, SETTINGS[i], 0));
        }
    }
    json_out_end(&j);
    json_out_end(&j);
    enum err r = doc_json_parse(&cli->arena, (struct str){buf_text(&text), text.len}, &doc, &why);
    buf_done(&text);
    r = r == ERR_OK ? pool_spec_patch(doc, &cli->arena, spec, &why) : r;
    return r == ERR_OK ? ERR_OK : settings_refuse(cli, &why, e);
}

/* Reads the settings into `pools`: [0] as they are now, [1] as they are tried. Settings that a
 * scenario does not play (paused, network) are left out of both. */
static enum err settings_read(struct cli *cli, const struct pool_day *day,
                              struct pool_spec pools[2], struct error *e)
{
    if (pool_spec_read(day->spec, &cli->arena, &pools[0], e) != ERR_OK) {
        return fail_in(e, "pool '%s'", day->pool);
    }
    pools[0].paused = false;
    pools[0].network = "";
    pools[1] = pools[0];
    return settings_try(cli, &pools[1], e);
}

/* ---- the scenario ---- */

/* Writes a task of the day: only what says how much it wants, and for how long. */
static void task_json(const struct pool_day *day, const struct doc *task, struct json_out *j)
{
    static const char *const fields[] = {"kind",          "resources", "instances",   "gang",
                                         "min_instances", "priority",  "preemptible", "groups"};
    const struct doc *spec = item_at(task, "spec");
    char span[32];
    int64_t at_ms;
    int64_t runs_ms;
    if (spec == NULL || !pool_day_task(day, task, &at_ms, &runs_ms)) {
        return;
    }
    json_out_object(j);
    (void)snprintf(span, sizeof span, "%" PRId64 "ms", at_ms);
    json_out_kv_text(j, "at", span);
    (void)snprintf(span, sizeof span, "%" PRId64 "ms", runs_ms);
    json_out_kv_text(j, "runs", span);
    json_out_key(j, "pools");
    json_out_array(j);
    json_out_str(j, str_of(day->pool));
    json_out_end(j);
    const char *project = item_text(task, "project");
    if (pool_accounts_has(&day->accounts, project)) {
        json_out_kv_text(j, "project", project); /* the project of an old task may be gone */
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct doc *field = doc_get(spec, fields[i]);
        if (field != NULL) {
            item_json_field(j, field, false);
        }
    }
    json_out_end(j);
}

static void scenario_json(const struct pool_day *day, const struct pool_spec *pool, struct buf *out)
{
    struct json_out j;
    char span[32];
    int64_t start_ms = START_MS_ASSUMED;
    (void)pool_day_start_ms(day, &start_ms);
    (void)snprintf(span, sizeof span, "%" PRId64 "ms", start_ms);
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_text(&j, "node_start", span);
    json_out_key(&j, "flavors");
    json_out_array(&j);
    if (day->flavor != NULL) {
        json_out_object(&j);
        for (const struct doc *d = day->flavor->first; d != NULL; d = d->next) {
            item_json_field(&j, d, false);
        }
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_key(&j, "pools");
    json_out_array(&j);
    object_json_pool(&j, pool);
    json_out_end(&j);
    pool_accounts_json(&day->accounts, day->pool, &j);
    json_out_key(&j, "tasks");
    json_out_array(&j);
    for (size_t i = 0; i < day->tasks.count; i++) {
        task_json(day, day->tasks.at[i], &j);
    }
    json_out_end(&j);
    json_out_end(&j);
}

/* ---- the simulator ---- */

/* Runs `weir sim` on an open file, with its results in another. */
static enum err sim_spawn(const struct pool_day *day, int in, int out, struct error *e)
{
    char file[32];
    char until[32];
    (void)snprintf(file, sizeof file, "/proc/self/fd/%d", in);
    (void)snprintf(until, sizeof until, "%" PRId64 "ms", day->ends_ms - day->begins_ms);
    char *const words[] = {(char[]){"weir"},
                           (char[]){"sim"},
                           file,
                           (char[]){"--json"},
                           (char[]){"--until"},
                           until,
                           (char[]){"--quiet"},
                           NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = 0;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    const int failed = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, words, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        return fail(e, ERR_IO, "the simulator cannot be started: %s", strerror(failed));
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? ERR_OK
               : fail(e, ERR_INVALID, "the simulator does not play this day with these settings");
}

static enum err result_read(struct cli *cli, int out, const struct doc **ret, struct error *e)
{
    struct buf text;
    char block[65536];
    ssize_t got;
    struct doc *doc;
    buf_init(&text, RESULT_BYTES_MAX);
    (void)lseek(out, 0, SEEK_SET);
    while ((got = read(out, block, sizeof block)) > 0) {
        buf_add(&text, block, (size_t)got);
    }
    enum err r =
        got < 0 || text.full
            ? fail(e, ERR_IO, "the results cannot be read")
            : doc_json_parse(&cli->arena, (struct str){buf_text(&text), text.len}, &doc, e);
    if (r == ERR_OK) {
        *ret = doc;
    }
    buf_done(&text);
    return r;
}

/* Plays the day; the result is in the arena of the call. */
static enum err play(struct cli *cli, const struct pool_day *day, const struct pool_spec *pool,
                     const char *settings, const struct doc **ret, struct error *e)
{
    struct buf text;
    buf_init(&text, SCENARIO_BYTES_MAX);
    scenario_json(day, pool, &text);
    if (cli->err_tty) {
        context_say("weir: simulating %s settings", settings);
    }
    const int in = memfd_create("weir-day", 0); /* the simulator opens it by its number */
    const int out = memfd_create("weir-result", MFD_CLOEXEC);
    enum err r = ERR_OK;
    if (text.full || in < 0 || out < 0 || write(in, text.data, text.len) != (ssize_t)text.len) {
        r = fail(e, ERR_IO, "the day cannot be written for the simulator");
    }
    if (r == ERR_OK) {
        r = sim_spawn(day, in, out, e);
    }
    if (r == ERR_OK) {
        r = result_read(cli, out, ret, e);
    }
    (void)(in >= 0 && close(in));
    (void)(out >= 0 && close(out));
    buf_done(&text);
    return r;
}

/* ---- figures ---- */

/* What stands in one column. Below 0: not known. */
struct figures {
    double node_hours;
    double cost;
    int64_t launched;
    int64_t most;
    int64_t started;
    int64_t waiting;
    double wait_mean_s;
    double wait_p90_s;
};

static double decimal_of(const struct doc *doc, const char *path)
{
    return strtod(item_text(doc, path), NULL);
}

static struct figures of_result(const struct doc *result)
{
    return (struct figures){.node_hours = decimal_of(result, "launched.node_hours"),
                            .cost = decimal_of(result, "launched.cost"),
                            .launched = item_number(result, "launched.nodes", 0),
                            .most = item_number(result, "launched.most", 0),
                            .started = item_number(result, "wait.count", 0),
                            .waiting = item_number(result, "not_started.count", 0),
                            .wait_mean_s = decimal_of(result, "wait.mean"),
                            .wait_p90_s = decimal_of(result, "wait.p90")};
}

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left;
    const int64_t b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

static struct figures of_day(struct pool_day *day)
{
    const size_t count = day->waits_ms.count;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)day->waits_ms.at[i];
    }
    if (count > 0) {
        qsort(day->waits_ms.at, count, sizeof day->waits_ms.at[0], by_value);
    }
    const double node_hours = day->cut ? -1 : (double)pool_day_node_ms(day) / HOUR_MS;
    return (struct figures){
        .node_hours = node_hours,
        .cost = day->cut ? -1 : node_hours * pool_day_price(day),
        .launched = day->cut ? -1 : (int64_t)day->launches.count,
        .most = day->cut ? -1 : (int64_t)pool_day_most(day),
        .started = (int64_t)count,
        .waiting = day->unstarted,
        .wait_mean_s = count == 0 ? 0 : sum / (double)count / 1000,
        .wait_p90_s = count == 0 ? 0 : (double)day->waits_ms.at[(count * 9 - 1) / 10] / 1000};
}

/* ---- printing ---- */

enum { COLUMNS = 3, CELL_MAX = 32 };
static const char *const TITLES[COLUMNS] = {"REALLY", "PRESENT", "TRIED"};
static const char *const KEYS[COLUMNS] = {"really", "present", "tried"};

static void count_line(struct buf *out, const char *name, const int64_t *values)
{
    buf_addf(out, "%-16s", name);
    for (unsigned i = 0; i < COLUMNS; i++) {
        char cell[CELL_MAX];
        (void)snprintf(cell, sizeof cell, values[i] < 0 ? "?" : "%" PRId64, values[i]);
        buf_addf(out, "%12s", cell);
    }
    buf_add_char(out, '\n');
}

static void decimal_line(struct buf *out, const char *name, const double *values)
{
    buf_addf(out, "%-16s", name);
    for (unsigned i = 0; i < COLUMNS; i++) {
        char cell[CELL_MAX];
        (void)snprintf(cell, sizeof cell, values[i] < 0 ? "?" : "%.2f", values[i]);
        buf_addf(out, "%12s", cell);
    }
    buf_add_char(out, '\n');
}

static void span_line(struct buf *out, const char *name, const double *seconds)
{
    buf_addf(out, "%-16s", name);
    for (unsigned i = 0; i < COLUMNS; i++) {
        struct buf cell;
        buf_init(&cell, CELL_MAX);
        text_span(&cell, (int64_t)(seconds[i] * 1000));
        buf_addf(out, "%12s", buf_text(&cell));
        buf_done(&cell);
    }
    buf_add_char(out, '\n');
}

static void assumed_add(struct buf *out, const struct pool_day *day)
{
    int64_t start_ms = START_MS_ASSUMED;
    const bool known = pool_day_start_ms(day, &start_ms);
    buf_add_str(out, "\nPRESENT and TRIED are simulated, from an empty pool. A node takes ");
    text_span(out, start_ms);
    buf_add_str(out, known ? " to join, the mean of this time.\n"
                           : " to join: an assumption, because none joined in this time.\n");
    buf_add_str(out, "Tasks run as long as they really did; a task that has not ended runs as long "
                     "as the others.\n"
                     "Projects and quotas are those of now. Left out: dependencies, failures, "
                     "evictions by hand, "
                     "nodes started by hand.\n");
    if (pool_day_price(day) > 0) {
        const char *currency = item_text(day->flavor, "currency");
        buf_addf(out, "The price is that of now: %s%s%s for each node-hour.\n",
                 item_text(day->flavor, "price"), currency[0] != '\0' ? " " : "", currency);
    }
    if (day->flavor != NULL) {
        buf_add_str(out, "No zone is sold out, and no node is taken back.\n");
    }
    if (day->cut) {
        buf_add_str(out, "The server no longer knows all launches of this time.\n");
    }
    if (day->more) {
        buf_addf(out, "There were more tasks: %d of them are played.\n", POOL_DAY_TASKS_MAX);
    }
}

static void text_print(const struct pool_day *day, const struct figures *f)
{
    struct buf out;
    buf_init(&out, 1 << 14);
    buf_addf(&out, "pool %s, %zu task%s in the last ", day->pool, day->tasks.count,
             day->tasks.count == 1 ? "" : "s");
    text_span(&out, day->ends_ms - day->begins_ms);
    buf_addf(&out, "\n\n%-16s%12s%12s%12s\n", "", TITLES[0], TITLES[1], TITLES[2]);
    decimal_line(&out, "node-hours",
                 (const double[]){f[0].node_hours, f[1].node_hours, f[2].node_hours});
    if (pool_day_price(day) > 0) {
        decimal_line(&out, "price", (const double[]){f[0].cost, f[1].cost, f[2].cost});
    }
    count_line(&out, "nodes launched",
               (const int64_t[]){f[0].launched, f[1].launched, f[2].launched});
    count_line(&out, "most at once", (const int64_t[]){f[0].most, f[1].most, f[2].most});
    count_line(&out, "tasks started", (const int64_t[]){f[0].started, f[1].started, f[2].started});
    count_line(&out, "tasks waiting", (const int64_t[]){f[0].waiting, f[1].waiting, f[2].waiting});
    span_line(&out, "wait, mean",
              (const double[]){f[0].wait_mean_s, f[1].wait_mean_s, f[2].wait_mean_s});
    span_line(&out, "wait, p90",
              (const double[]){f[0].wait_p90_s, f[1].wait_p90_s, f[2].wait_p90_s});
    assumed_add(&out, day);
    context_out_inert((struct str){buf_text(&out), out.len});
    buf_done(&out);
}

static void number_json(struct json_out *j, const char *key, double value)
{
    char text[CELL_MAX];
    (void)snprintf(text, sizeof text, "%.3f", value);
    json_out_key(j, key);
    json_out_raw(j, str_of(value < 0 ? "null" : text));
}

static void json_print(const struct pool_day *day, const struct figures *f)
{
    struct buf out;
    struct json_out j;
    int64_t start_ms = START_MS_ASSUMED;
    const bool known = pool_day_start_ms(day, &start_ms);
    buf_init(&out, 1 << 14);
    json_out_init(&j, &out);
    json_out_object(&j);
    json_out_kv_text(&j, "pool", day->pool);
    json_out_put(&j, "tasks:%lu,span_ms:%ld,node_start_ms:%ld,node_start_known:%i,tasks_cut:%i",
                 (uint64_t)day->tasks.count, day->ends_ms - day->begins_ms, start_ms, known,
                 day->more);
    json_out_kv_text(&j, "currency", item_text(day->flavor, "currency"));
    for (unsigned i = 0; i < COLUMNS; i++) {
        json_out_key(&j, KEYS[i]);
        json_out_object(&j);
        number_json(&j, "node_hours", f[i].node_hours);
        number_json(&j, "cost", pool_day_price(day) > 0 ? f[i].cost : -1);
        number_json(&j, "nodes_launched", (double)f[i].launched);
        number_json(&j, "nodes_most", (double)f[i].most);
        number_json(&j, "tasks_started", (double)f[i].started);
        number_json(&j, "tasks_waiting", (double)f[i].waiting);
        number_json(&j, "wait_mean_s", f[i].wait_mean_s);
        number_json(&j, "wait_p90_s", f[i].wait_p90_s);
        json_out_end(&j);
    }
    json_out_end(&j);
    buf_add_char(&out, '\n');
    context_out((struct str){buf_text(&out), out.len});
    buf_done(&out);
}

int cmd_pool_try(struct cli *cli)
{
    struct error e;
    struct pool_day day = {0};
    struct figures figures[COLUMNS];
    const struct doc *results[2] = {NULL, NULL};
    struct pool_spec pools[2];
    bool any = false;
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        any |= args_has(&cli->args, SETTINGS[i]);
    }
    enum err r =
        any ? ERR_OK
            : fail(&e, ERR_USAGE, "nothing to try: give --min, --max, --idle or --headroom");
    if (r == ERR_OK) {
        r = pool_day_read(cli, cli->args.words[0], args_duration(&cli->args, "last", DAY_MS), &day,
                          &e);
    }
    r = r == ERR_OK ? settings_read(cli, &day, pools, &e) : r;
    for (unsigned i = 0; i < 2 && r == ERR_OK; i++) {
        r = play(cli, &day, &pools[i], i == 1 ? "your" : "the present", &results[i], &e);
    }
    if (r == ERR_OK) {
        figures[0] = of_day(&day);
        figures[1] = of_result(results[0]);
        figures[2] = of_result(results[1]);
        if (args_has(&cli->args, "json")) {
            json_print(&day, figures);
        } else {
            text_print(&day, figures);
        }
    }
    pool_day_done(&day);
    return r == ERR_OK ? EXIT_OK : context_fail(cli, &e);
}
