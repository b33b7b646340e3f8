/* peers.c - run a file of another system's decision cases.
 *
 *   peers kai|determined FILE [--only KIND|CASE] [--list] [--strict]
 *
 * Prints every case that failed or was skipped with its reason, and closes with `N passed, N failed, N skipped`. The exit status
 * is 1 when one failed, or (--strict) was skipped.
 * SPDX-License-Identifier: Apache-2.0 */
#include "peers.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FILE_BYTES_MAX = 64 * 1024 * 1024 };

/* A kind without a function is skipped with its reason. */
struct kind {
    const char *name;
    peer_fn run;
    const char *missing;
};

static const struct kind KAI[] = {
    {"fair_share_cases", kai_share, NULL},
    {"fair_share_generated", kai_share, NULL},
    {"fair_share_tree_generated", kai_share, NULL},
    {"fair_share_unstable", kai_share, NULL},
    {"capacity_cases", kai_capacity, NULL},
    {"queue_order_cases", kai_order, NULL},
    {"reclaim_rule_cases", kai_reclaim, NULL},
    {"min_runtime_cases", kai_runtime, NULL},
    {"action_cases", NULL, "no accounts in the core yet"},
    {NULL, NULL, NULL},
};

static const struct kind DETERMINED[] = {
    {NULL, NULL, NULL},
};

struct options {
    const char *peer;
    const char *path;
    const char *only; /* a kind or a case, or NULL: all */
    bool list;
    bool strict;
};

struct totals {
    unsigned passed;
    unsigned failed;
    unsigned skipped;
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

static bool wanted(const struct options *options, const char *kind, const char *name)
{
    return options->only == NULL || strcmp(options->only, kind) == 0 ||
           strcmp(options->only, name) == 0;
}

static void case_run(const struct options *options, const struct kind *kind,
                     const struct doc *group, const struct doc *test, struct totals *totals)
{
    const char *name = "(a case without a name)";
    (void)doc_text(doc_get(test, "id"), &name);
    if (!wanted(options, kind->name, name)) {
        return;
    }
    if (options->list) {
        printf("%s %s\n", kind->name, name);
        return;
    }
    struct arena arena;
    arena_init(&arena);
    struct trial trial = {.arena = &arena, .group = group, .test = test};
    const enum outcome outcome =
        kind->run != NULL ? kind->run(&trial) : trial_skipped(&trial, "%s", kind->missing);
    arena_done(&arena);
    switch (outcome) {
    case CASE_PASSED:
        totals->passed++;
        return;
    case CASE_FAILED:
        totals->failed++;
        printf("failed: %s %s: %s\n", kind->name, name, trial.why.text);
        return;
    case CASE_SKIPPED:
        totals->skipped++;
        printf("skipped: %s %s: %s\n", kind->name, name, trial.why.text);
        return;
    }
}

static const struct kind *kind_find(const struct kind *kinds, const char *name)
{
    static struct kind unknown = {NULL, NULL, "no translation of this kind"};
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

/* One member per kind: a list of cases, or a map with such a list and what its cases share. */
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

/* One list of cases, each with its kind. */
static void determined_file(const struct options *options, const struct doc *file,
                            struct totals *totals)
{
    const struct doc *cases = doc_get(file, "cases");
    for (const struct doc *test = cases == NULL ? NULL : cases->first; test != NULL;
         test = test->next) {
        const char *kind = "(no kind)";
        (void)doc_text(doc_get(test, "kind"), &kind);
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
        } else if (strcmp(argument, "--only") == 0 && i + 1 < count) {
            ret->only = arguments[++i];
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

static int run(const struct options *options, struct arena *arena, struct buf *text)
{
    struct error e = {0};
    struct doc *file = NULL;
    enum err r = file_read(options->path, text, &e);
    if (r == ERR_OK) {
        r = doc_parse_json(arena, (struct str){buf_text(text), text->len}, &file, &e);
    }
    if (r != ERR_OK) {
        (void)fprintf(stderr, "peers: %s\n", e.text);
        return 2;
    }
    struct totals totals = {0};
    if (strcmp(options->peer, "kai") == 0) {
        kai_file(options, file, &totals);
    } else {
        determined_file(options, file, &totals);
    }
    if (options->list) {
        return 0;
    }
    printf("%u passed, %u failed, %u skipped\n", totals.passed, totals.failed, totals.skipped);
    const bool none = totals.passed + totals.failed + totals.skipped == 0;
    return none || totals.failed > 0 || (options->strict && totals.skipped > 0) ? 1 : 0;
}

int main(int count, char **arguments)
{
    struct options options = {0};
    if (!arguments_read(count, arguments, &options)) {
        (void)fprintf(stderr,
                      "usage: peers kai|determined FILE [--only KIND|CASE] [--list] [--strict]\n");
        return 2;
    }
    struct arena arena;
    arena_init(&arena);
    struct buf text;
    buf_init(&text, FILE_BYTES_MAX);
    const int status = run(&options, &arena, &text);
    buf_done(&text);
    arena_done(&arena);
    return status;
}
