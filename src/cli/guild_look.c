/* guild_look.c - looks through the Guild home: which runs are staged, what they need, and what they wait for.
 *
 * Surprising: a run whose inputs come from a staged run is not shown to the scheduler before that run has completed. Guild itself would
 * start both at once, and the second would find no files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/sort.h"
#include "cli/guild_log.h"
#include "cli/guild_remote.h"
#include "cli/guild_look.h"
#include "cli/guild_pass.h"
#include "compat/guild/guild_home.h"
#include "compat/guild/guild_orphans.h"
#include "compat/guild/guild_words.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { JUDGE_AGAIN_S = 2, FAILED_AGAIN_S = 30, FAILURES_MAX = 7 };

void guild_look_leave(struct guild_entry *entry, bool warn, const char *why)
{
    entry->stage = GUILD_STAGE_LEFT;
    if (entry->said == NULL || strcmp(entry->said, why) != 0) {
        free(entry->said);
        entry->said = xstrdup(why);
        guild_log(warn ? GUILD_WARNING : GUILD_INFO, "%s", why);
    }
}

static int64_t now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

void guild_look_failed(struct guild_session *session, struct guild_entry *entry,
                       const struct guild_told *told)
{
    const bool locked = told->value == ERR_TIMEOUT;
    guild_look_leave(entry, true,
                     locked ? told->text
                            : arena_fmt(&entry->arena, "Ignorning staged run %s (%s)",
                                        entry->run.id, told->text));
    entry->failed = true;
    if (!session->flags.once) {
        entry->judge_at_s = now_s() + ((int64_t)FAILED_AGAIN_S << entry->failures);
        entry->failures += entry->failures < FAILURES_MAX ? 1 : 0;
    } else if (locked && guild_pass_busy(session)) {
        entry->judge_at_s = now_s(); /* our own runs may have held the lock */
    } else {
        entry->judge_at_s = INT64_MAX;
    }
}

void guild_look_wait(struct guild_entry *entry, const char *names)
{
    guild_look_leave(entry, false,
                     arena_fmt(&entry->arena,
                               "Found staged run %s (waiting for runs to finish: %s)",
                               entry->run.id, names));
}

void guild_look_orphans(const struct guild_session *session)
{
    struct error e;
    struct arena arena;
    struct guild_ids orphans;
    const bool restage = session->flags.restage;
    arena_init(&arena);
    enum err r = restage ? guild_orphans_restage(session->flags.home, &arena, &orphans, &e)
                         : guild_orphans_find(session->flags.home, &arena, &orphans, &e);
    if (r != ERR_OK) {
        guild_log(GUILD_WARNING, "%s", e.text);
    }
    for (size_t i = 0; r == ERR_OK && i < orphans.count; i++) {
        guild_log(GUILD_INFO,
                  restage
                      ? "Run %s was pending without a queue and is staged again"
                      : "Run %s is pending and no queue has it; restage=yes makes it staged again",
                  orphans.at[i]);
    }
    arena_done(&arena);
}

/* ---- what a run waits for ---- */

/* The run that an input names: by its whole id or by the beginning of exactly one id. NULL: there is none. */
static const char *run_named(struct guild_session *session, struct arena *arena, const char *word)
{
    const char *home = session->flags.home;
    struct guild_ids all;
    if (!guild_home_id_ok(word)) {
        return NULL;
    }
    if (guild_home_is_run(arena, guild_home_run_dir(arena, home, word))) {
        return word;
    }
    const char *found = NULL;
    if (guild_home_runs(home, ~0U, arena, &all, NULL) != ERR_OK) {
        return NULL;
    }
    for (size_t i = 0; i < all.count; i++) {
        if (strncmp(all.at[i], word, strlen(word)) == 0) {
            if (found != NULL) {
                return NULL;
            }
            found = all.at[i];
        }
    }
    return found;
}

/* True when all inputs are there, or only Guild can tell. */
static bool inputs_ready(struct guild_session *session, struct guild_entry *entry)
{
    bool ready = true;
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; ready && i < entry->run.upstream_count; i++) {
        const char *id = run_named(session, &arena, entry->run.upstream[i]);
        const enum guild_status status =
            id == NULL
                ? GUILD_COMPLETED
                : guild_home_status(&arena, guild_home_run_dir(&arena, session->flags.home, id));
        ready = status == GUILD_COMPLETED;
        if (status == GUILD_ERROR || status == GUILD_TERMINATED) {
            guild_look_leave(entry, true,
                             arena_fmt(&arena, "Ignorning staged run %s (needs run %s, which %s)",
                                       entry->run.id, id,
                                       status == GUILD_ERROR ? "failed" : "was terminated"));
        } else if (!ready) {
            guild_look_leave(entry, false,
                             arena_fmt(&arena,
                                       "Found staged run %s (waiting for runs to finish: %s)",
                                       entry->run.id, id));
        }
    }
    arena_done(&arena);
    return ready;
}

/* With wait-for-running, nothing starts beside another run: neither one that runs, nor one that is about to. */
static bool others_run(struct guild_session *session, struct guild_entry *entry)
{
    struct arena arena;
    arena_init(&arena);
    const char *names = guild_run_others(&arena, session->flags.home);
    for (size_t i = 0; *names == '\0' && i < session->entries.count; i++) {
        const struct guild_entry *other = session->entries.at[i];
        if (other->stage >= GUILD_STAGE_QUEUED && other->stage < GUILD_STAGE_DONE) {
            names = other->id;
        }
    }
    const bool any = *names != '\0';
    if (any) {
        guild_look_wait(entry, names);
    }
    arena_done(&arena);
    return any;
}

/* ---- whether a run may start ---- */

static bool gpus_match(struct guild_session *session, struct guild_entry *entry)
{
    const char *ours = session->flags.gpus;
    const char *theirs = entry->run.gpus;
    if (ours == NULL || theirs == NULL || strcmp(ours, theirs) == 0) {
        return true;
    }
    guild_look_leave(
        entry, false,
        arena_fmt(&entry->arena,
                  "Ignorning staged run %s (GPU spec mismatch: run is %s, queue is %s)",
                  entry->run.id, theirs, ours));
    return false;
}

static bool names_known(struct guild_session *session, struct guild_entry *entry)
{
    struct arena *arena = &entry->arena;
    const char *missing = "";
    for (size_t i = 0; i < entry->run.needs.count; i++) {
        const char *name = entry->run.needs.at[i].name;
        if (guild_needs_find(&session->flags.resources, name) == NULL &&
            !guild_remote_has(session->remote, name)) {
            missing = arena_fmt(arena, "%s%s%s", missing, *missing == '\0' ? "" : ", ", name);
        }
    }
    if (*missing == '\0') {
        return true;
    }
    guild_look_leave(
        entry, false,
        arena_fmt(arena, "Ignorning staged run %s (requires resources not defined for cluster: %s)",
                  entry->run.id, missing));
    return false;
}

/* True when the scheduler has as much as the run needs. */
static bool fits(struct guild_session *session, struct guild_entry *entry)
{
    struct error e;
    const struct guild_needs needs = guild_remote_needs(session, &entry->run.needs);
    enum err r = guild_desk_check(session->desk, &needs, &e);
    r = r == ERR_OK ? guild_devices_check(&session->flags.devices, &needs, &e) : r;
    if (r != ERR_OK) {
        guild_look_leave(
            entry, true,
            arena_fmt(&entry->arena, "Ignorning staged run %s (%s)", entry->run.id, e.text));
    }
    return r == ERR_OK;
}

/* Warns of parts without `=` in the run's tags, once. */
static void ignored_say(struct guild_entry *entry)
{
    for (size_t i = 0; !entry->warned && i < entry->run.ignored_count; i++) {
        guild_log(GUILD_WARNING,
                  "Ignoring invalid dask resources spec %s: parts must be in format KEY=VAL",
                  guild_words_repr(&entry->arena, str_of(entry->run.ignored[i])));
    }
    entry->warned |= entry->run.ignored_count > 0;
}

/* Reads a run anew, and decides whether the scheduler may have it. */
static void judge(struct guild_session *session, struct guild_entry *entry)
{
    struct error e;
    arena_clear(&entry->arena);
    if (guild_run_read(session->flags.home, entry->id, &entry->arena, &entry->run, &e) != ERR_OK) {
        guild_look_leave(
            entry, true,
            arena_fmt(&entry->arena, "Ignorning staged run %s (%s)", entry->id, e.text));
        return;
    }
    ignored_say(entry);
    if (gpus_match(session, entry) && names_known(session, entry) && fits(session, entry) &&
        inputs_ready(session, entry) &&
        !(session->flags.wait_for_running && others_run(session, entry))) {
        entry->stage = GUILD_STAGE_QUEUED;
        entry->announced = false;
    }
}

/* A run that was left for what its own attributes say is read again after a moment only: the user may have changed its tags. */
static bool judge_due(const struct guild_session *session, struct guild_entry *entry)
{
    const bool own = entry->run.upstream_count == 0 && !session->flags.wait_for_running;
    const int64_t now = now_s();
    if (entry->stage == GUILD_STAGE_LEFT && (own || entry->failed) && now < entry->judge_at_s) {
        return false;
    }
    entry->failed = false;
    entry->judge_at_s = now + JUDGE_AGAIN_S;
    return true;
}

/* ---- the scan ---- */

static struct guild_entry *entry_new(struct guild_session *session, const char *id)
{
    struct guild_entry *entry = xcalloc(1, sizeof *entry);
    arena_init(&entry->arena);
    entry->told = -1;
    entry->streams[0] = -1;
    entry->streams[1] = -1;
    (void)str_copy(entry->id, sizeof entry->id, id);
    entry->run.id = entry->id;
    entry->run.dir = guild_home_run_dir(&entry->arena, session->flags.home, id);
    (void)map_put(session->index, id, strlen(id), entry);
    vec_push(&session->entries, entry);
    return entry;
}

static void found(struct guild_session *session, const char *id)
{
    struct guild_entry *entry = map_get(session->index, id, strlen(id));
    if (entry == NULL && session->flags.once && session->scanned) {
        return; /* staged after `run-once` has begun */
    }
    if (entry == NULL) {
        entry = entry_new(session, id);
    } else if (entry->stage == GUILD_STAGE_DONE && !session->flags.once) {
        entry->stage = GUILD_STAGE_NEW; /* staged again */
    }
    entry->seen = true;
}

/* A run that is not staged any more although we have not taken it: another queue has it, or it was deleted. */
static void lost(struct guild_session *session, struct guild_entry *entry)
{
    if (entry->stage == GUILD_STAGE_WAITING && entry->task != 0) {
        guild_desk_drop(session->desk, entry->task);
        entry->task = 0;
    }
    entry->stage = GUILD_STAGE_DONE;
}

static int entry_compare(const void *a, const void *b)
{
    const struct guild_entry *x = *(struct guild_entry *const *)a;
    const struct guild_entry *y = *(struct guild_entry *const *)b;
    if (x->run.started_us != y->run.started_us) {
        return x->run.started_us < y->run.started_us ? -1 : 1;
    }
    return strcmp(x->run.id, y->run.id);
}

void guild_look_free(struct guild_entry *entry)
{
    arena_done(&entry->arena);
    free(entry->said);
    free(entry);
}

/* Forgets the runs that are over and not staged again. */
static void over_forget(struct guild_session *session)
{
    size_t kept = 0;
    for (size_t i = 0; i < session->entries.count; i++) {
        struct guild_entry *entry = session->entries.at[i];
        if (entry->stage == GUILD_STAGE_DONE && !entry->seen) {
            (void)map_remove(session->index, entry->id, strlen(entry->id));
            guild_look_free(entry);
        } else {
            session->entries.at[kept++] = entry;
        }
    }
    session->entries.count = kept;
}

/* New runs in the order of their staging, behind the known ones. */
static void new_order(struct guild_session *session, size_t known, struct arena *arena)
{
    for (size_t i = known; i < session->entries.count; i++) {
        struct guild_entry *entry = session->entries.at[i];
        entry->run.started_us = guild_run_started(arena, entry->run.dir);
    }
    if (session->entries.count > known + 1) {
        sort_items(session->entries.at + known, session->entries.count - known,
                   sizeof *session->entries.at, entry_compare);
    }
    for (size_t i = known; i < session->entries.count; i++) {
        session->entries.at[i]->order = ++session->orders;
    }
}

void guild_look_scan(struct guild_session *session)
{
    struct error e;
    struct arena arena;
    struct guild_ids staged;
    arena_init(&arena);
    if (guild_home_runs(session->flags.home, 1U << GUILD_STAGED, &arena, &staged, &e) != ERR_OK) {
        guild_log(GUILD_WARNING, "%s", e.text);
        arena_done(&arena);
        return;
    }
    for (size_t i = 0; i < session->entries.count; i++) {
        session->entries.at[i]->seen = false;
    }
    const size_t known = session->entries.count;
    for (size_t i = 0; i < staged.count; i++) {
        found(session, staged.at[i]);
    }
    new_order(session, known, &arena);
    for (size_t i = 0; i < session->entries.count; i++) {
        struct guild_entry *entry = session->entries.at[i];
        if (!entry->seen && entry->stage < GUILD_STAGE_TAKING) {
            lost(session, entry);
        } else if (entry->stage <= GUILD_STAGE_LEFT && judge_due(session, entry)) {
            judge(session, entry);
        }
    }
    over_forget(session);
    session->scanned = true;
    arena_done(&arena);
}
