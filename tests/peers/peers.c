/* peers.c - runs a file of another system's decision cases.
 *
 *   peers kai|determined FILE [--only KIND|CASE] [--list] [--strict] [--eager]
 *         [--deviations FILE] [--junit FILE]
 *
 * Prints every case that failed or was skipped, with its reason, and at the end `N passed, N
 * failed, N skipped`. The list of deviations names cases in backquotes. The exit status is 1
 * when a case outside the list failed, or a case of the list passed. With --strict it is also 1
 * when any case failed or was skipped.
 *
 * --eager also tries cases that the core can express although its scheduler lacks something.
 * --junit appends one <testsuite>: a <testcase> for each case that passed or is a surprise, and
 * one skipped <testcase> that counts all others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "peers.h"

#include "base/buf.h"
#include "needs.h"
#include "reads.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 64 * 1024 * 1024, TEXT_MAX = 512, EXIT_BROKEN = 100 };

/* A kind of case. A kind without a function is skipped, with its reason. */
struct kind {
    const char *name;
    peer_fn run;
    const char *missing;
    const char *needs; /* see needs.h; NULL if `missing` is set */
};

#define SHARE "queues[{}] expect|expect_exact{}"

static const struct kind KAI[] = {
    {"fair_share_cases", kai_share, NULL, SHARE},
    {"fair_share_generated", kai_share, NULL, SHARE},
    {"fair_share_tree_generated", kai_share, NULL, SHARE},
    {"fair_share_unstable", kai_share, NULL, SHARE},
    {"capacity_cases", kai_capacity, NULL, "check request{} expect{}"},
    {"queue_order_cases", kai_order, NULL,
     "total{} left{} right{} left_job{} right_job{} left_victims[] right_victims[] expect"},
    {"reclaim_rule_cases", kai_reclaim, NULL, "rule queues[{}] reclaimer{} expect{}"},
    {"min_runtime_cases", kai_runtime, NULL, "kind victim expect_s"},
    {"action_cases", kai_action, NULL,
     "run{} topologies[{}] nodes[{}] queues[{}] jobs[{}] expect{}"},
    {NULL, NULL, NULL, NULL},
};

static const struct kind DETERMINED[] = {
    {"schedule", det_schedule, NULL, "agents[{}] groups[{}] tasks[{}] expect|steps"},
    {"queue_info", det_schedule, NULL, "agents[{}] groups[{}] tasks[{}] expect|steps"},
    {"fit", det_fit, NULL, "task{} agents[{}] expect{}"},
    {"fit_multi_agent", det_fit, NULL, "task{} agents[{}] expect{}"},
    {"fit_score", det_score, NULL, "task{} agent{} expect{}"},
    {"order", det_order, NULL, "tasks[{}] expect|steps"},
    {"compare", det_compare, NULL, "a{} b{} expect{}"},
    {"queue_stats_filter", det_stats_filter, NULL, "pools[] filter[] expect{}"},
    {"queue_move", det_move, NULL, "jobs[{}] move{} expect{}"},
    {"pool_summary", det_summary, NULL, "agents[{}] expect{}"},
    {"desired_instances", det_desired, NULL, "tasks[{}] expect[{}]"},
    {"scaling_info", det_scaling, NULL, "agents[{}] tasks[{}] expect|steps"},
    {"instance_states", det_states, NULL, "limits{} instances[{}] connected[] expect{}"},
    {"terminate", det_terminate, NULL, "limits{} instances[{}] classes{} expect{}"},
    {"launch", det_launch, NULL, "limits{} instances expect{}"},
    {"provision", det_provision, NULL, "limits{} instances[{}] steps[{}]"},
    {"sticky_error", det_sticky, NULL, "steps[{}]"},
    {"agent_reconnect", det_reconnect, NULL, "known{} reported{} expect{}"},
    {"agent_slots", det_agent_slots, NULL, "agent{} steps[{}]"},
    {"routing", det_routing, NULL, "config{} tasks[{}] expect{}"},
    {"config", det_config, NULL, "config{} expect{}"},
    {"scenario", NULL, "with the whole program: tests/e2e/test_agent_scenarios.py", NULL},
    {NULL, NULL, NULL, NULL},
};

/* Fields that say where a case comes from and what it shows in words. */
static const char *const ABOUT[] = {"id",    "kind",   "source", "version",
                                    "notes", "origin", "title",  "family"};

struct options {
    const char *peer;
    const char *path;
    const char *only; /* a kind or a case, or NULL: all */
    const char *deviations_path;
    const char *junit_path;
    bool list;
    bool strict;
    bool eager;
};

struct totals {
    unsigned passed;
    unsigned failed;
    unsigned skipped;
    unsigned surprises; /* failed outside the list of deviations, or passed although listed */
    struct buf deviations;
    FILE *junit; /* or NULL */
};

enum outcome trial_failed(struct trial *trial, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(trial->why.text, sizeof trial->why.text, format, args);
    va_end(args);
    return CASE_FAILED;
}

enum outcome trial_skipped(struct trial *trial, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(trial->why.text, sizeof trial->why.text, format, args);
    va_end(args);
    return CASE_SKIPPED;
}

void trial_note(struct trial *trial, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(trial->why.text, sizeof trial->why.text, format, args);
    va_end(args);
}

static bool wanted(const struct options *options, const char *kind, const char *name)
{
    return options->only == NULL || strcmp(options->only, kind) == 0 ||
           strcmp(options->only, name) == 0;
}

static bool listed(const struct totals *totals, const char *name)
{
    char quoted[TEXT_MAX];
    (void)snprintf(quoted, sizeof quoted, "`%s`", name);
    return strstr(buf_text(&totals->deviations), quoted) != NULL;
}

/* Writes the text of an XML attribute. */
static void attribute(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("&<>\"", *text) != NULL) {
            (void)fprintf(out, "&#%d;", *text);
        } else {
            (void)fputc(*text, out);
        }
    }
}

static void junit_add(FILE *out, const char *kind, const char *name, const char *child,
                      const char *why)
{
    (void)fprintf(out, "<testcase classname=\"%s\" name=\"", kind);
    attribute(out, name);
    if (child == NULL) {
        (void)fprintf(out, "\"/>\n");
        return;
    }
    (void)fprintf(out, "\"><%s message=\"", child);
    attribute(out, why);
    (void)fprintf(out, "\"/></testcase>\n");
}

static void outcome_report(struct totals *totals, const struct kind *kind, const char *name,
                           enum outcome outcome, const char *why)
{
    static const char *const words[] = {"passed", "failed", "skipped"};
    const bool known = listed(totals, name);
    const bool surprise = known ? outcome == CASE_PASSED : outcome == CASE_FAILED;
    const char *note = !known ? "" : surprise ? " (but listed as a deviation)" : " (listed)";
    totals->passed += outcome == CASE_PASSED;
    totals->failed += outcome == CASE_FAILED;
    totals->skipped += outcome == CASE_SKIPPED;
    totals->surprises += surprise;
    if (outcome != CASE_PASSED || surprise || why[0] != '\0') {
        printf("%s%s: %s %s%s%s\n", words[outcome], note, kind->name, name,
               why[0] == '\0' ? "" : ": ", why);
    }
    if (totals->junit != NULL && (surprise || outcome == CASE_PASSED)) {
        junit_add(totals->junit, kind->name, name, surprise ? "failure" : NULL, why);
    }
}

/* A case passes only if every field of it was read. */
static enum outcome case_read_and_run(const struct kind *kind, struct trial *trial)
{
    for (size_t i = 0; i < sizeof ABOUT / sizeof ABOUT[0]; i++) {
        reads_ignore(trial->test, ABOUT[i]);
    }
    const enum outcome outcome = kind->run(trial);
    return outcome == CASE_PASSED && !reads_all(trial) ? CASE_FAILED : outcome;
}

/* Tries a case in a process of its own. A case that breaks an invariant of the core aborts, and
 * fails alone. */
static enum outcome case_try(const struct kind *kind, struct trial *trial)
{
    int ends[2];
    must(pipe2(ends, O_CLOEXEC) == 0);
    (void)fflush(NULL);
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        struct arena arena;
        arena_init(&arena);
        trial->arena = &arena;
        const enum outcome outcome = case_read_and_run(kind, trial);
        arena_done(&arena);
        const ssize_t written = write(ends[1], trial->why.text, sizeof trial->why.text);
        _exit(written == sizeof trial->why.text ? (int)outcome : EXIT_BROKEN);
    }
    (void)close(ends[1]);
    const ssize_t got = read(ends[0], trial->why.text, sizeof trial->why.text);
    (void)close(ends[0]);
    int status = 0;
    must(waitpid(child, &status, 0) == child);
    const bool whole = got == (ssize_t)sizeof trial->why.text && WIFEXITED(status);
    return whole && WEXITSTATUS(status) <= CASE_SKIPPED
               ? (enum outcome)WEXITSTATUS(status)
               : trial_failed(trial, "aborted (signal %d)", WTERMSIG(status));
}

static void case_run(const struct options *options, const struct kind *kind,
                     const struct doc *group, const struct doc *test, struct totals *totals)
{
    const char *name = "(a case without a name)";
    (void)(test->kind == DOC_MAP && doc_text(doc_get(test, "id"), &name));
    if (!wanted(options, kind->name, name)) {
        return;
    }
    if (options->list) {
        printf("%s %s\n", kind->name, name);
        return;
    }
    struct trial trial = {.group = group, .test = test, .eager = options->eager};
    enum outcome outcome = CASE_FAILED;
    if (kind->run == NULL) {
        outcome = trial_skipped(&trial, "%s", kind->missing);
    } else if (needs_met(&trial, kind->needs)) {
        outcome = case_try(kind, &trial);
    }
    outcome_report(totals, kind, name, outcome, trial.why.text);
}

static const struct kind *kind_find(const struct kind *kinds, const char *name)
{
    static struct kind unknown = {NULL, NULL, "no translation of this kind", NULL};
    for (; kinds->name != NULL; kinds++) {
        if (strcmp(kinds->name, name) == 0) {
            return kinds;
        }
    }
    unknown.name = name;
    return &unknown;
}

static bool is_text_about_the_file(const char *key)
{
    return strcmp(key, "schema") == 0 || strcmp(key, "provenance") == 0 ||
           strcmp(key, "about_this_file") == 0 || strcmp(key, "counts") == 0;
}

/* The file has one member for each kind: a list of cases, or a map with such a list and with
 * what its cases share. */
static void kai_file(const struct options *options, const struct doc *file, struct totals *totals)
{
    for (const struct doc *member = file->first; member != NULL; member = member->next) {
        if (is_text_about_the_file(member->key.p)) {
            continue;
        }
        const struct kind *kind = kind_find(KAI, member->key.p);
        const struct doc *cases = member->kind == DOC_MAP ? doc_get(member, "cases") : member;
        for (const struct doc *test = cases == NULL ? NULL : cases->first; test != NULL;
             test = test->next) {
            case_run(options, kind, member, test, totals);
        }
    }
}

/* The file has one list of cases, each with its kind. */
static void determined_file(const struct options *options, const struct doc *file,
                            struct totals *totals)
{
    const struct doc *cases = doc_get(file, "cases");
    for (const struct doc *test = cases == NULL ? NULL : cases->first; test != NULL;
         test = test->next) {
        const char *kind = "(no kind)";
        (void)(test->kind == DOC_MAP && doc_text(doc_get(test, "kind"), &kind));
        case_run(options, kind_find(DETERMINED, kind), NULL, test, totals);
    }
}

static bool arguments_read(int count, char **arguments, struct options *ret)
{
    for (int i = 1; i < count; i++) {
        const char *argument = arguments[i];
        if (strcmp(argument, "--list") == 0) {
            ret->list = true;
        } else if (strcmp(argument, "--strict") == 0) {
            ret->strict = true;
        } else if (strcmp(argument, "--eager") == 0) {
            ret->eager = true;
        } else if (strcmp(argument, "--only") == 0 && i + 1 < count) {
            ret->only = arguments[++i];
        } else if (strcmp(argument, "--deviations") == 0 && i + 1 < count) {
            ret->deviations_path = arguments[++i];
        } else if (strcmp(argument, "--junit") == 0 && i + 1 < count) {
            ret->junit_path = arguments[++i];
        } else if (argument[0] != '-' && ret->peer == NULL) {
            ret->peer = argument;
        } else if (argument[0] != '-' && ret->path == NULL) {
            ret->path = argument;
        } else {
            return false;
        }
    }
    return ret->path != NULL &&
           (strcmp(ret->peer, "kai") == 0 || strcmp(ret->peer, "determined") == 0);
}

static must_use enum err file_read(const char *path, struct buf *ret, struct error *e)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return fail(e, ERR_IO, "'%s' cannot be opened", path);
    }
    char block[65536];
    size_t got;
    while ((got = fread(block, 1, sizeof block, file)) > 0) {
        buf_add(ret, block, got);
    }
    const bool broken = ferror(file) != 0 || ret->full;
    (void)fclose(file);
    return broken ? fail(e, ERR_IO, "'%s' cannot be read whole", path) : ERR_OK;
}

static int cases_run(const struct options *options, const struct doc *file, struct totals *totals)
{
    if (strcmp(options->peer, "kai") == 0) {
        kai_file(options, file, totals);
    } else {
        determined_file(options, file, totals);
    }
    if (options->list) {
        return 0;
    }
    printf("%u passed, %u failed, %u skipped\n", totals->passed, totals->failed, totals->skipped);
    const unsigned not_passed = totals->failed + totals->skipped;
    if (totals->junit != NULL && not_passed > 0) {
        char counts[TEXT_MAX];
        (void)snprintf(counts, sizeof counts, "%u failed and %u skipped; the log names them",
                       totals->failed, totals->skipped);
        junit_add(totals->junit, options->peer, options->peer, "skipped", counts);
    }
    const bool bad = totals->surprises > 0 || (options->strict && not_passed > 0);
    return bad || totals->passed + not_passed == 0 ? 1 : 0;
}

static int run(const struct options *options, struct arena *arena, struct buf *text,
               struct totals *totals)
{
    struct error e = {0};
    struct doc *file = NULL;
    enum err r = file_read(options->path, text, &e);
    if (r == ERR_OK) {
        r = doc_json_parse(arena, (struct str){buf_text(text), text->len}, &file, &e);
    }
    if (r == ERR_OK && options->deviations_path != NULL) {
        r = file_read(options->deviations_path, &totals->deviations, &e);
    }
    if (r == ERR_OK && options->junit_path != NULL) {
        totals->junit = fopen(options->junit_path, "ae");
        r = totals->junit != NULL ? ERR_OK
                                  : fail(&e, ERR_IO, "'%s' cannot be written", options->junit_path);
    }
    if (r != ERR_OK) {
        (void)fprintf(stderr, "peers: %s\n", e.text);
        return 2;
    }
    if (totals->junit == NULL) {
        return cases_run(options, file, totals);
    }
    (void)fprintf(totals->junit, "<testsuite name=\"%s\">\n", options->peer);
    const int status = cases_run(options, file, totals);
    (void)fprintf(totals->junit, "</testsuite>\n");
    return fclose(totals->junit) == 0 ? status : 2;
}

int main(int count, char **arguments)
{
    struct options options = {0};
    if (!arguments_read(count, arguments, &options)) {
        (void)fprintf(
            stderr,
            "usage: peers kai|determined FILE [--only KIND|CASE] [--list] [--strict] [--eager] "
            "[--deviations FILE] [--junit FILE]\n");
        return 2;
    }
    struct arena arena;
    struct buf text;
    struct totals totals = {0};
    arena_init(&arena);
    buf_init(&text, FILE_BYTES_MAX);
    buf_init(&totals.deviations, FILE_BYTES_MAX);
    const int status = run(&options, &arena, &text, &totals);
    buf_done(&totals.deviations);
    buf_done(&text);
    arena_done(&arena);
    return status;
}
