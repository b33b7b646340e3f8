/* guild_pass.c - shows queued runs to the scheduler, sends starters for what it starts, and follows the starters. The order of the log
 * lines is that of Guild's Dask scheduler: `started` of the first run of a pass comes directly behind its `Scheduling`, that of each
 * further run behind the next `Scheduling`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/guild_log.h"
#include "cli/guild_remote.h"
#include "cli/guild_look.h"
#include "cli/guild_pass.h"
#include "cli/guild_runner.h"
#include "cli/guild_screen.h"
#include "compat/guild/guild_home.h"
#include "compat/guild/guild_start.h"

#include <unistd.h>

enum { EXIT_KILLED = 128 + 9 };

/* ---- what starters tell ---- */

static void task_over(struct guild_session *session, struct guild_entry *entry, int code)
{
    if (entry->task != 0) {
        guild_desk_ended(session->desk, entry->task, code);
        entry->task = 0;
    }
    entry->remote = 0;
    guild_devices_give(&session->flags.devices, entry->order);
    guild_runner_done(entry);
    session->again = true;
    session->ended = true;
}

void guild_pass_step(struct guild_session *session, struct guild_entry *entry,
                     const struct guild_told *told)
{
    switch (told->kind) {
    case GUILD_TOLD_STARTED:
        guild_log(GUILD_INFO, "Run %s started", entry->run.id);
        guild_screen_started(entry->order);
        guild_desk_started(session->desk, entry->task);
        entry->stage = GUILD_STAGE_RUNNING;
        entry->failures = 0;
        session->processed++;
        return;
    case GUILD_TOLD_GONE:
        guild_log(GUILD_INFO, "Run %s was started by another queue", entry->run.id);
        break;
    case GUILD_TOLD_BUSY:
        task_over(session, entry, 1);
        guild_look_wait(entry, told->text);
        return;
    case GUILD_TOLD_FAILED:
        task_over(session, entry, 1);
        guild_look_failed(session, entry, told);
        return;
    case GUILD_TOLD_ENDED:
        guild_runner_rest(entry);
        guild_screen_ended(entry->order);
        if (told->value == 0) {
            guild_log(GUILD_INFO, "Run %s completed", entry->run.id);
        } else {
            guild_log(GUILD_ERROR_LEVEL, "Run %s exited with code %d", entry->run.id,
                      (int)told->value);
        }
        break;
    }
    entry->stage = GUILD_STAGE_DONE;
    task_over(session, entry, told->kind == GUILD_TOLD_ENDED ? (int)told->value : 0);
}

/* The starter ended without a last word: it was killed. The run's files say how far the starter came. */
static void starter_lost(struct guild_session *session, struct guild_entry *entry)
{
    struct guild_told told = {.kind = GUILD_TOLD_ENDED, .value = EXIT_KILLED};
    if (entry->stage == GUILD_STAGE_TAKING) {
        told.kind = GUILD_TOLD_FAILED;
        (void)str_copy(told.text, sizeof told.text, "the process that starts it was killed");
    }
    guild_pass_step(session, entry, &told);
}

void guild_pass_told(struct guild_session *session, struct guild_entry *entry)
{
    struct guild_told told;
    const ssize_t n = read(entry->told, &told, sizeof told);
    if (n == (ssize_t)sizeof told) {
        told.text[sizeof told.text - 1] = '\0';
        guild_pass_step(session, entry, &told);
    } else {
        starter_lost(session, entry);
    }
}

/* ---- one pass ---- */

static struct guild_entry *entry_of(struct guild_session *session, uint64_t task)
{
    for (size_t i = 0; i < session->entries.count; i++) {
        if (session->entries.at[i]->task == task) {
            return session->entries.at[i];
        }
    }
    return NULL;
}

/* Sends a starter, and waits a moment for its first word. */
static void start(struct guild_session *session, struct guild_entry *entry)
{
    struct error e;
    entry->granted = false;
    entry->stage = GUILD_STAGE_TAKING;
    enum err r = session->remote != NULL ? guild_remote_send(session, entry, &e)
                                         : guild_runner_send(session, entry, &e);
    if (r != ERR_OK) {
        struct guild_told told = {.kind = GUILD_TOLD_FAILED, .value = (int32_t)e.code};
        (void)str_copy(told.text, sizeof told.text, e.text);
        guild_pass_step(session, entry, &told);
    } else if (session->remote == NULL && guild_runner_await(entry)) {
        guild_pass_told(session, entry);
    }
}

static void submit(struct guild_session *session, struct guild_entry *entry)
{
    struct error e;
    struct guild_needs needs = guild_remote_needs(session, &entry->run.needs);
    enum err r = guild_desk_submit(session->desk, &needs, &entry->task, &e);
    if (r == ERR_OK) {
        entry->stage = GUILD_STAGE_WAITING;
    } else {
        guild_look_leave(
            entry, true,
            arena_fmt(&entry->arena, "Ignorning staged run %s (%s)", entry->run.id, e.text));
    }
}

/* True when the scheduler may see one more run: with order=fifo only while no earlier run waits. */
static bool line_moves(const struct guild_session *session)
{
    for (size_t i = 0; i < session->entries.count; i++) {
        const struct guild_entry *entry = session->entries.at[i];
        if (entry->stage == GUILD_STAGE_WAITING && !entry->granted) {
            return false;
        }
    }
    return true;
}

static void grants_take(struct guild_session *session)
{
    uint64_t task;
    guild_desk_pass(session->desk);
    while ((task = guild_desk_next(session->desk)) != 0) {
        struct guild_entry *entry = entry_of(session, task);
        if (entry != NULL) {
            entry->granted = true;
        }
    }
}

/* Shows queued runs to the scheduler and takes what it starts. */
static void decide(struct guild_session *session)
{
    for (size_t i = 0; i < session->entries.count; i++) {
        struct guild_entry *entry = session->entries.at[i];
        if (entry->stage != GUILD_STAGE_QUEUED) {
            continue;
        }
        if (session->flags.fifo) {
            grants_take(session);
            if (!line_moves(session)) {
                return;
            }
        }
        submit(session, entry);
    }
    grants_take(session);
}

static void scheduling_say(struct guild_entry *entry)
{
    const char *needs = guild_needs_text(&entry->run.needs, &entry->arena);
    entry->announced = true;
    if (*needs == '\0') {
        guild_log(GUILD_INFO, "Scheduling run %s", entry->run.id);
    } else {
        guild_log(GUILD_INFO, "Scheduling run %s (requires %s)", entry->run.id, needs);
    }
}

/* Runs that waited before this pass start first; their `Scheduling` was said long ago. */
static void old_start(struct guild_session *session)
{
    for (size_t i = 0; i < session->entries.count; i++) {
        struct guild_entry *entry = session->entries.at[i];
        if (entry->granted && entry->announced) {
            start(session, entry);
        }
    }
}

static void new_start(struct guild_session *session)
{
    struct guild_entry *held = NULL;
    bool first = true;
    for (size_t i = 0; i < session->entries.count; i++) {
        struct guild_entry *entry = session->entries.at[i];
        if (entry->announced ||
            (entry->stage != GUILD_STAGE_QUEUED && entry->stage != GUILD_STAGE_WAITING)) {
            continue;
        }
        scheduling_say(entry);
        if (held != NULL) {
            start(session, held);
            held = NULL;
        }
        if (entry->granted && first) {
            start(session, entry);
        } else if (entry->granted) {
            held = entry;
        }
        first = false;
    }
    if (held != NULL) {
        start(session, held);
    }
}

void guild_pass_run(struct guild_session *session)
{
    /* A starter that answers at once that its run is gone gives its place back: the next run gets it now. */
    const size_t rounds_max = session->entries.count + 1;
    session->again = true;
    for (size_t round = 0; session->again && round < rounds_max; round++) {
        session->again = false;
        decide(session);
        old_start(session);
        new_start(session);
    }
}

bool guild_pass_busy(const struct guild_session *session)
{
    for (size_t i = 0; i < session->entries.count; i++) {
        const enum guild_stage stage = session->entries.at[i]->stage;
        if (stage >= GUILD_STAGE_QUEUED && stage < GUILD_STAGE_DONE) {
            return true;
        }
    }
    return false;
}
