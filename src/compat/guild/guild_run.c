/* guild_run.c - see guild_run.h. Nothing in a run's directory is trusted: every file and list is bounded.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/guild/guild_run.h"

#include "base/doc.h"
#include "base/vec.h"
#include "compat/guild/guild_attrs.h"
#include "compat/guild/guild_home.h"
#include "compat/guild/guild_words.h"

#include <string.h>
#include <unistd.h>

enum { ENV_MAX = 16384, NAMES_TEXT_MAX = 2000 };

static const char TAG_PREFIX[] = "dask:";

/* ---- tags ---- */

static enum err tags_read(struct guild_run *run, struct arena *arena, struct error *e)
{
    const struct doc *tags;
    enum err r = guild_attrs_read(arena, run->dir, "tags", &tags, e);
    if (r != ERR_OK || guild_attrs_null(tags)) {
        return r;
    }
    if (tags->kind != DOC_LIST) {
        return fail(e, ERR_INVALID, "attribute 'tags' is no list");
    }
    const size_t skip = sizeof TAG_PREFIX - 1;
    for (const struct doc *tag = tags->first; tag != NULL; tag = tag->next) {
        if (tag->kind != DOC_STRING || tag->text.len < skip ||
            memcmp(tag->text.p, TAG_PREFIX, skip) != 0) {
            continue;
        }
        bool ignored;
        const struct str spec = {tag->text.p + skip, tag->text.len - skip};
        r = guild_needs_add(&run->needs, spec, arena, &ignored, e);
        if (r != ERR_OK) {
            return fail_in(e, "tag %.60s", guild_words_repr(arena, tag->text));
        }
        if (ignored && run->ignored_count < GUILD_IGNORED_MAX) {
            run->ignored[run->ignored_count++] = spec.p;
        }
    }
    if (run->needs.count > GUILD_RUN_NEEDS_MAX) {
        return fail(e, ERR_LIMIT, "the run's tags name %zu resources; %d would do",
                    run->needs.count, GUILD_RUN_NEEDS_MAX);
    }
    return ERR_OK;
}

/* ---- what the run waits for ---- */

static void upstream_add(struct guild_run *run, struct arena *arena, const struct doc *value)
{
    if (guild_attrs_null(value)) {
        return;
    }
    if (value->kind == DOC_LIST) {
        for (const struct doc *item = value->first; item != NULL; item = item->next) {
            if (item->kind == DOC_STRING && run->upstream_count < GUILD_UPSTREAM_MAX) {
                run->upstream[run->upstream_count++] = item->text.p;
            }
        }
        return;
    }
    /* several runs are given as 'a,b' */
    struct str rest = value->kind == DOC_STRING ? value->text : (struct str){0};
    while (rest.p != NULL && run->upstream_count < GUILD_UPSTREAM_MAX) {
        const struct str word = str_trim(str_cut(rest, ',', &rest));
        if (word.len > 0) {
            run->upstream[run->upstream_count++] = arena_strn(arena, word.p, word.len);
        }
    }
}

/* True when one of the dependency's sources is the output of an operation. */
static bool is_operation(const struct doc *dep)
{
    const struct doc *sources = doc_get(dep, "sources");
    const struct doc *source = sources != NULL && sources->kind == DOC_LIST ? sources->first : NULL;
    for (; source != NULL; source = source->next) {
        if (source->kind == DOC_MAP && doc_get(source, "operation") != NULL) {
            return true;
        }
    }
    return false;
}

static void upstream_read(struct guild_run *run, struct arena *arena, const struct doc *deps)
{
    const struct doc *dep = deps != NULL && deps->kind == DOC_LIST ? deps->first : NULL;
    for (; dep != NULL; dep = dep->next) {
        const struct doc *config = dep->kind == DOC_MAP ? doc_get(dep, "config") : NULL;
        if (config == NULL || config->kind != DOC_MAP || !is_operation(dep)) {
            continue;
        }
        for (const struct doc *value = config->first; value != NULL; value = value->next) {
            upstream_add(run, arena, value);
        }
    }
}

/* ---- what decides who starts the run ---- */

static bool has_file(const struct guild_run *run, struct arena *arena, const char *name)
{
    return access(arena_fmt(arena, "%s/.guild/%s", run->dir, name), F_OK) == 0;
}

static const struct doc *member(const struct doc *map, const char *key)
{
    return map != NULL && map->kind == DOC_MAP ? doc_get(map, key) : NULL;
}

/* Guild starts what needs Guild's own code at the start or at the end. */
static const char *why_guild(const struct guild_run *run, struct arena *arena, const struct doc *op,
                             const struct doc *params)
{
    bool deletes = false;
    const struct doc *deps = member(op, "deps");
    if (op == NULL || op->kind != DOC_MAP) {
        return "the run has no attribute 'op'";
    }
    if (deps != NULL && deps->kind == DOC_LIST && deps->count > 0) {
        return "the run has dependencies";
    }
    if (has_file(run, arena, "proto")) {
        return "the run is a batch";
    }
    if (has_file(run, arena, "attrs/steps")) {
        return "the run has steps";
    }
    if (doc_bool(member(op, "delete-on-success"), &deletes) && deletes) {
        return "the run is deleted when it succeeds";
    }
    if (!guild_attrs_null(member(params, "stop_after"))) {
        return "the run is stopped after a time";
    }
    const struct doc *scalars = member(op, "output-scalars");
    if (!guild_attrs_null(scalars) && scalars->count > 0) {
        return "the run has its own patterns for scalars";
    }
    return run->cmd[0] == NULL ? "the run has no command" : NULL;
}

static enum err list_read(const struct doc *doc, struct arena *arena, const char ***ret,
                          struct error *e)
{
    const uint32_t count = doc != NULL && doc->kind == DOC_LIST ? doc->count : 0;
    if (count > GUILD_CMD_MAX) {
        return fail(e, ERR_LIMIT, "the command has %u words; %d would do", count, GUILD_CMD_MAX);
    }
    const char **list = arena_new(arena, const char *, count + 1);
    const struct doc *item = count == 0 ? NULL : doc->first;
    for (size_t i = 0; item != NULL; item = item->next) {
        if (item->kind != DOC_STRING && item->kind != DOC_NUMBER) {
            return fail(e, ERR_INVALID, "attribute 'cmd' has a word that is no text");
        }
        list[i++] = item->text.p;
    }
    *ret = list;
    return ERR_OK;
}

static const char **keys_of(const struct doc *map, struct arena *arena)
{
    const uint32_t count = map != NULL && map->kind == DOC_MAP ? map->count : 0;
    const char **keys = arena_new(arena, const char *, count + 1);
    const struct doc *item = count == 0 ? NULL : map->first;
    for (size_t i = 0; item != NULL; item = item->next) {
        keys[i++] = arena_strn(arena, item->key.p, item->key.len);
    }
    return keys;
}

int64_t guild_run_started(struct arena *arena, const char *run_dir)
{
    int64_t us = 0;
    if (!guild_attrs_number(arena, run_dir, "started", &us)) {
        (void)guild_attrs_number(arena, run_dir, "initialized", &us);
    }
    return us;
}

enum err guild_run_read(const char *home, const char *id, struct arena *arena,
                        struct guild_run *ret, struct error *e)
{
    const struct doc *op = NULL;
    const struct doc *params = NULL;
    const struct doc *flags = NULL;
    const struct doc *cmd = NULL;
    struct guild_run run = {.id = arena_str(arena, id), .dir = guild_home_run_dir(arena, home, id)};
    run.started_us = guild_run_started(arena, run.dir);
    *ret = run;
    enum err r = tags_read(&run, arena, e);
    r = r == ERR_OK ? guild_attrs_read(arena, run.dir, "op", &op, e) : r;
    r = r == ERR_OK ? guild_attrs_read(arena, run.dir, "run_params", &params, e) : r;
    r = r == ERR_OK ? guild_attrs_read(arena, run.dir, "flags", &flags, e) : r;
    r = r == ERR_OK ? guild_attrs_read(arena, run.dir, "cmd", &cmd, e) : r;
    r = r == ERR_OK ? list_read(cmd, arena, &run.cmd, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    const struct doc *gpus = member(params, "gpus");
    run.gpus = guild_attrs_null(gpus) ? NULL : gpus->text.p;
    run.flags = keys_of(flags, arena);
    run.scalars = guild_attrs_null(member(op, "output-scalars"));
    run.why_guild = why_guild(&run, arena, op, params);
    upstream_read(&run, arena, member(op, "deps"));
    *ret = run;
    return ERR_OK;
}

/* ---- environment ---- */

static const char devices_name[] = "CUDA_VISIBLE_DEVICES=";

static bool is_forced(const char *word, const char *const *forced)
{
    const size_t name = strcspn(word, "=");
    for (; *forced != NULL; forced++) {
        if (strncmp(*forced, word, name + 1) == 0) {
            return true;
        }
    }
    return false;
}

enum err guild_run_env(const struct guild_run *run, const char *home, const char *gpus,
                       const char *devices, struct arena *arena, const char ***ret, struct error *e)
{
    struct str text;
    struct guild_words words = {0};
    enum err r = guild_attrs_file(arena, run->dir, "ENV", &text, e);
    r = r == ERR_OK ? guild_words_split(text, arena, &words, e) : r;
    if (r != ERR_OK) {
        return fail_in(e, "environment of run %.60s", run->id);
    }
    const char *forced[] = {
        arena_fmt(arena, "RUN_ID=%s", run->id),
        arena_fmt(arena, "RUN_DIR=%s", run->dir),
        arena_fmt(arena, "GUILD_HOME=%s", home),
        gpus == NULL ? NULL : arena_fmt(arena, "%s%s", devices_name, gpus),
        NULL,
    };
    bool chosen = gpus != NULL;
    VEC(const char *) env = {0};
    for (size_t i = 0; i < words.count && env.count < ENV_MAX; i++) {
        /* each line is `export NAME=value` */
        if (strchr(words.at[i].p, '=') != NULL && !is_forced(words.at[i].p, forced)) {
            vec_push(&env, words.at[i].p);
            chosen |= strncmp(words.at[i].p, devices_name, sizeof devices_name - 1) == 0;
        }
    }
    if (devices != NULL && !chosen) {
        vec_push(&env, arena_fmt(arena, "%s%s", devices_name, devices));
    }
    for (size_t i = 0; forced[i] != NULL; i++) {
        vec_push(&env, forced[i]);
    }
    vec_push(&env, NULL);
    *ret = arena_dup(arena, env.at, env.count * sizeof *env.at);
    vec_done(&env);
    return ERR_OK;
}

bool guild_run_is_queue(struct arena *arena, const char *run_dir)
{
    struct str opref;
    struct guild_words words;
    if (guild_attrs_file(arena, run_dir, "opref", &opref, NULL) != ERR_OK ||
        guild_words_split(opref, arena, &words, NULL) != ERR_OK || words.count != 4) {
        return false;
    }
    return str_is(words.at[3], "queue") || str_is(words.at[3], "dask scheduler") ||
           str_is(words.at[3], "dask:scheduler") ||
           (str_is(words.at[2], "dask") && str_is(words.at[3], "scheduler"));
}

const char *guild_run_others(struct arena *arena, const char *home)
{
    struct guild_ids running;
    const char *names = "";
    if (guild_home_runs(home, 1U << GUILD_RUNNING, arena, &running, NULL) != ERR_OK) {
        return names;
    }
    for (size_t i = 0; i < running.count && strlen(names) < NAMES_TEXT_MAX; i++) {
        if (!guild_run_is_queue(arena, guild_home_run_dir(arena, home, running.at[i]))) {
            names = arena_fmt(arena, "%s%s%s", names, *names == '\0' ? "" : ", ", running.at[i]);
        }
    }
    return names;
}
