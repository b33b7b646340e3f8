/* task_text.c - see task_text.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/task_text.h"

#include "base/amount.h"
#include "cli/cells.h"
#include "cli/item.h"
#include "cli/list.h"
#include "cli/text.h"

#include <string.h>

enum { SECONDS_PER_HOUR = 3600, MILLI = 1000 };

bool task_text_newest(const struct doc *attempt)
{
    return attempt->next == NULL ||
           item_number(attempt->next, "index", -1) != item_number(attempt, "index", -1);
}

bool task_text_workdir_missed(const struct doc *task)
{
    const struct doc *attempts = item_at(task, "attempts");
    for (const struct doc *d = attempts == NULL ? NULL : attempts->first; d != NULL; d = d->next) {
        bool used = true;
        if (task_text_newest(d) && doc_bool(doc_get(d, "workdir_used"), &used) && !used) {
            return true;
        }
    }
    return false;
}

const char *task_text_message(const struct doc *task)
{
    const struct doc *attempts = item_at(task, "attempts");
    for (const struct doc *d = attempts == NULL ? NULL : attempts->first; d != NULL; d = d->next) {
        if (task_text_newest(d) && item_text(d, "message")[0] != '\0') {
            return item_text(d, "message");
        }
    }
    return "";
}

void task_text_name(struct buf *out, const struct doc *task, int64_t now_ms)
{
    (void)now_ms;
    const char *name = item_text(task, "name");
    if (name[0] != '\0') {
        buf_add_str(out, name);
    } else {
        cells_command_text(out, item_at(task, "command"));
    }
}

void task_text_counts(struct buf *out, const struct doc *task, int64_t now_ms)
{
    static const char *const words[] = {"done", "running", "failed", "waiting"};
    (void)now_ms;
    const int64_t failed = item_number(task, "counts.failed", 0);
    const int64_t counts[] = {item_number(task, "counts.ended", 0) - failed,
                              item_number(task, "counts.active", 0), failed,
                              item_number(task, "counts.waiting", 0)};
    const size_t start = out->len;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (counts[i] > 0) {
            buf_addf(out, "%s%lld %s", out->len == start ? "" : ", ", (long long)counts[i],
                     words[i]);
        }
    }
}

void task_text_update(struct buf *out, const struct doc *task, int64_t now_ms)
{
    const struct doc *update = item_at(task, "update");
    (void)now_ms;
    if (update == NULL || update->kind != DOC_MAP) {
        return;
    }
    const bool stopped = strcmp(item_text(update, "phase"), "stopped") == 0;
    buf_addf(out, "task %s takes the place of task %s; ready: %s of %s instances%s%s",
             item_text(update, "to"), item_text(update, "from"), item_text(update, "ready"),
             item_text(update, "instances"), stopped ? "; it has stopped: " : "",
             stopped ? item_text(update, "why") : "");
}

/* True when the instances of the task are not all in the same condition. */
static bool counts_differ(const struct doc *task)
{
    const int64_t all = item_number(task, "instances", 1);
    const int64_t failed = item_number(task, "counts.failed", 0);
    const int64_t ended = item_number(task, "counts.ended", 0);
    return all > 1 && item_number(task, "counts.waiting", 0) < all &&
           item_number(task, "counts.active", 0) < all && (ended < all || failed > 0);
}

void task_text_evicted(struct buf *out, const struct doc *evicted, int64_t now_ms)
{
    static const char *const rules[][2] = {
        {"share", "its share"},
        {"guarantee", "its guarantee"},
        {"priority", "its priority"},
        {"consolidate", "to make room for it"},
    };
    const char *rule = item_text(evicted, "rule");
    int64_t at_ms;
    buf_add_str(out, "evicted");
    if (now_ms != 0 && item_time(evicted, "at", &at_ms)) {
        buf_add_char(out, ' ');
        text_ago(out, at_ms, now_ms);
    }
    if (item_at(evicted, "claimant") == NULL) {
        buf_add_str(out, " because its gang was below its minimum");
        return;
    }
    buf_addf(out, " for task %s", item_text(evicted, "claimant"));
    const struct doc *taker = item_at(evicted, "taker");
    const bool project = taker != NULL && doc_get(taker, "project") != NULL;
    const bool department = taker != NULL && doc_get(taker, "department") != NULL;
    buf_addf(out, " (%s%s",
             project      ? "project "
             : department ? "department "
                          : "",
             project      ? item_text(taker, "project")
             : department ? item_text(taker, "department")
                          : "");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i][0], rule) == 0) {
            buf_addf(out, "%s%s", project || department ? ", " : "", rules[i][1]);
        }
    }
    buf_add_char(out, ')');
}

bool task_text_waits_again(const struct doc *task)
{
    const struct doc *evicted = item_at(task, "evicted");
    return evicted != NULL && evicted->kind == DOC_MAP &&
           strcmp(item_text(task, "cause"), "preempted") == 0 &&
           item_number(task, "counts.waiting", 0) > 0;
}

/* Writes that the task, or one of its instances, was evicted and waits again. */
static void again_text(struct buf *out, const struct doc *task, int64_t now_ms)
{
    const bool part = item_number(task, "counts.active", 0) > 0;
    buf_add_str(out, part ? "an instance was " : "");
    task_text_evicted(out, item_at(task, "evicted"), now_ms);
    buf_addf(out, "%swaits again", part ? " and " : ", ");
}

/* The reason without "2 of 10 instances run; ", which the counts have said. */
static const char *reason_rest(const struct doc *task)
{
    const char *reason = item_text(task, "reason.message");
    const char *counted = strstr(reason, " instances run");
    const char *rest = strstr(reason, "; ");
    const bool first = counted != NULL && rest != NULL && counted < rest;
    return first && counts_differ(task) ? rest + 2 : reason;
}

void task_text_reason(struct buf *out, const struct doc *task, int64_t now_ms)
{
    const bool again = task_text_waits_again(task);
    if (counts_differ(task)) {
        task_text_counts(out, task, now_ms);
        buf_add_str(out, "; ");
    }
    if (again) {
        again_text(out, task, now_ms);
    }
    if (item_at(task, "reason.message") != NULL) {
        buf_addf(out, "%s%s", again ? ": " : "", reason_rest(task));
    }
}

/* Says which dependency failed. Only a task with a single dependency allows this. */
static void dependency_text(struct buf *out, const struct doc *task)
{
    const struct doc *depends = item_at(task, "depends_on");
    if (depends == NULL || depends->count != 1) {
        buf_add_str(out, "a task that this task depends on did not complete");
    } else {
        buf_addf(out, "task %s, which this task depends on, did not complete",
                 depends->first->text.p);
    }
}

void task_text_detail(struct buf *out, const struct doc *task, int64_t now_ms)
{
    const char *state = item_text(task, "state");
    const bool again = strcmp(state, "running") == 0 || strcmp(state, "starting") == 0;
    const char *cause = item_text(task, "cause");
    const char *code = item_text(task, "exit_code");
    if (item_at(task, "reason.message") != NULL || task_text_waits_again(task)) {
        task_text_reason(out, task, now_ms);
        return;
    }
    if (counts_differ(task)) {
        task_text_counts(out, task, now_ms);
        buf_add_str(out, strcmp(state, "failed") == 0 ? "; " : "");
    }
    if (strcmp(state, "failed") == 0 && code[0] != '\0' && strcmp(cause, "exit") == 0) {
        buf_addf(out, "exit code %s", code);
    } else if (task_text_message(task)[0] != '\0') {
        buf_add_str(out, task_text_message(task));
    } else if (strcmp(state, "failed") == 0 && strcmp(cause, "dependency") == 0) {
        dependency_text(out, task);
    } else if (!again && strcmp(cause, "none") != 0 && strcmp(cause, "exit") != 0 &&
               strcmp(cause, state) != 0) {
        /* A task that runs again has the end cause of an earlier attempt. */
        buf_add_str(out, cause);
    }
}

void task_text_workdir(struct buf *out, const struct doc *task, int64_t now_ms)
{
    (void)now_ms;
    buf_add_str(out, item_text(task, "workdir"));
    if (task_text_workdir_missed(task)) {
        buf_add_str(out, " (the user of the task cannot enter it; it runs in the job directory)");
    }
}

/* Writes an amount of slot-seconds or cpu-seconds, in hours if there are enough. False: the
 * amount is 0. */
static bool work_text(struct buf *out, const char *seconds, const char *unit)
{
    int64_t milli = 0;
    if (amount_milli(str_of(seconds), &milli, NULL) != ERR_OK || milli == 0) {
        return false;
    }
    const bool hours = milli >= SECONDS_PER_HOUR * MILLI;
    char text[AMOUNT_TEXT_MAX];
    amount_milli_text(hours ? milli / SECONDS_PER_HOUR : milli, text);
    buf_addf(out, "%s %s-%s", text, unit, hours ? "hours" : "seconds");
    return true;
}

void task_text_work_lost(struct buf *out, const struct doc *task, int64_t now_ms)
{
    (void)now_ms;
    if (!work_text(out, item_text(task, "evicted.work_lost.slot_seconds"), "slot")) {
        (void)work_text(out, item_text(task, "evicted.work_lost.cpu_seconds"), "cpu");
    }
}

void task_text_cpu(struct buf *out, const struct doc *used, int64_t now_ms)
{
    (void)now_ms;
    if (item_number(used, "memory_peak", 0) > 0) { /* an attempt has ended, however short it was */
        text_span(out, item_number(used, "cpu_ms", 0));
    }
}

/* Appends "0.498 of 0.5", or only what is used where nothing is held. */
static void used_add(struct buf *out, const char *used, const char *held, const char *unit)
{
    buf_addf(out, "%s%s", out->len > 0 ? ", " : "", used);
    if (strcmp(held, "") != 0 && strcmp(held, "0") != 0) {
        buf_addf(out, " of %s", held);
    }
    buf_addf(out, " %s", unit);
}

void task_text_use(struct buf *out, const struct doc *attempt, int64_t now_ms)
{
    (void)now_ms;
    char used[AMOUNT_TEXT_MAX];
    char held[AMOUNT_TEXT_MAX] = "";
    if (item_at(attempt, "use.memory") == NULL) {
        return;
    }
    struct buf text;
    buf_init(&text, TASK_USE_TEXT_MAX);
    if (item_text(attempt, "use.cpu")[0] != '\0') {
        used_add(&text, item_text(attempt, "use.cpu"), item_text(attempt, "holds.cpu"), "cpu");
    }
    const int64_t bytes = item_number(attempt, "holds.memory", 0);
    amount_bytes_text(item_number(attempt, "use.memory", 0), used);
    if (bytes > 0) {
        amount_bytes_text(bytes, held);
    }
    used_add(&text, used, held, "memory");
    if (item_text(attempt, "use.gpu")[0] != '\0') {
        used_add(&text, item_text(attempt, "use.gpu"), item_text(attempt, "holds.slots"), "gpu");
        amount_bytes_text(item_number(attempt, "use.gpu_memory", 0), used);
        used_add(&text, used, "", "gpu memory");
    }
    buf_add_str(out, buf_text(&text));
    buf_done(&text);
}

void task_text_memory(struct buf *out, const struct doc *used, int64_t now_ms)
{
    (void)now_ms;
    const int64_t bytes = item_number(used, "memory_peak", 0);
    if (bytes > 0) {
        char text[AMOUNT_TEXT_MAX];
        amount_bytes_text(bytes, text);
        buf_add_str(out, text);
    }
}
