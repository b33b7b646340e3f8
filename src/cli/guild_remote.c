/* guild_remote.c - see guild_remote.h. The Guild home must be reachable under the same path where the tasks run, and writable for the user
 * whom the tasks run as. The output of runs is read from their files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/guild_remote.h"

#include "base/json_out.h"
#include "cli/api.h"
#include "cli/guild_log.h"
#include "cli/guild_pass.h"
#include "cli/guild_screen.h"
#include "cli/item.h"
#include "compat/guild/guild_attrs.h"
#include "compat/guild/guild_home.h"
#include "compat/guild/guild_start.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of many tasks the server is asked about a tenth at a time. */
enum { NAMES_MAX = 256, BODY_MAX = 65536, CHUNK_BYTES = 65536, ASKED_ALWAYS_MAX = 20, TURNS = 10 };

struct guild_remote {
    const char *names[NAMES_MAX]; /* of resources of the pool's nodes */
    size_t name_count;
    const char *program; /* path of this program */
    const char *url;
    size_t looks; /* as many were done */
};

static void names_take(struct guild_session *session, struct guild_remote *remote,
                       const struct doc *nodes)
{
    const char *pool = session->flags.pool;
    const struct doc *items = item_at(nodes, "items");
    for (const struct doc *node = items == NULL ? NULL : items->first; node != NULL;
         node = node->next) {
        const struct doc *resources = item_at(node, "resources");
        if (pool != NULL && strcmp(item_text(node, "pool"), pool) != 0) {
            continue;
        }
        for (const struct doc *r = resources == NULL ? NULL : resources->first; r != NULL;
             r = r->next) {
            const struct doc *name = item_at(r, "name");
            const struct str key = name != NULL ? name->text : r->key;
            const char *text =
                arena_strn(&session->cli->arena, key.p == NULL ? "" : key.p, key.len);
            if (remote->name_count < NAMES_MAX && !guild_remote_has(remote, text)) {
                remote->names[remote->name_count++] = text;
            }
        }
    }
}

enum err guild_remote_open(struct guild_session *session, struct guild_remote **ret,
                           struct error *e)
{
    struct api_reply reply;
    struct cli *cli = session->cli;
    char program[PATH_MAX];
    *ret = NULL;
    if (session->flags.here || api_open(cli, e) != ERR_OK) {
        return ERR_OK;
    }
    enum err r = api_get(cli, &cli->arena, "/nodes?limit=1000", &reply, e);
    if (r == ERR_UNREACHABLE) {
        return ERR_OK;
    }
    if (r == ERR_OK && session->flags.devices.count > 0) {
        return fail(e, ERR_USAGE,
                    "devices= is for runs on this machine, and Weir at %.80s hands out the GPUs of "
                    "its nodes itself; here=yes starts runs here",
                    cli->login.url);
    }
    const ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (r != ERR_OK || len <= 0) {
        return r != ERR_OK ? fail_in(e, "Weir at %.80s", cli->login.url)
                           : fail(e, ERR_IO, "cannot find this program's path");
    }
    struct guild_remote *remote = xcalloc(1, sizeof *remote);
    remote->program = arena_strn(&cli->arena, program, (size_t)len);
    remote->url = cli->login.url;
    names_take(session, remote, reply.doc);
    *ret = remote;
    return ERR_OK;
}

void guild_remote_free(struct guild_remote *remote)
{
    free(remote);
}

const char *guild_remote_url(const struct guild_session *session)
{
    return session->remote == NULL ? NULL : session->remote->url;
}

bool guild_remote_has(const struct guild_remote *remote, const char *name)
{
    for (size_t i = 0; remote != NULL && i < remote->name_count; i++) {
        if (strcmp(remote->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

struct guild_needs guild_remote_needs(const struct guild_session *session,
                                      const struct guild_needs *needs)
{
    struct guild_needs ours = {0};
    if (session->remote == NULL) {
        return *needs;
    }
    for (size_t i = 0; i < needs->count; i++) {
        if (guild_needs_find(&session->flags.resources, needs->at[i].name) != NULL) {
            ours.at[ours.count++] = needs->at[i];
        }
    }
    return ours;
}

/* ---- the task ---- */

static void body_write(struct guild_session *session, const struct guild_entry *entry,
                       struct buf *out)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_text(&j, "name", arena_fmt(&session->cli->arena, "guild %.40s", entry->run.id));
    json_out_key(&j, "command");
    json_out_array(&j);
    const char *const words[] = {
        session->remote->program, "guild", "start", entry->run.id, "--home", session->flags.home};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        json_out_text(&j, words[i]);
    }
    if (session->flags.gpus != NULL && entry->run.gpus == NULL) {
        json_out_text(&j, "--gpus");
        json_out_text(&j, session->flags.gpus);
    }
    if (session->flags.guild != NULL) {
        json_out_text(&j, "--guild");
        json_out_text(&j, session->flags.guild);
    }
    if (session->flags.wait_for_running) {
        json_out_text(&j, "--alone");
    }
    json_out_end(&j);
    if (session->flags.pool != NULL) {
        json_out_put(&j, "pools:[%s]", session->flags.pool);
    }
    json_out_put(&j, "repeatable:%i,grace:%s,tags:[%s],resources:{", false, "60s", "guild");
    json_out_kv_u64(&j, "slots", 1);
    for (size_t i = 0; i < entry->run.needs.count; i++) {
        const struct guild_need *need = &entry->run.needs.at[i];
        if (need->milli > 0 && guild_remote_has(session->remote, need->name)) {
            json_out_kv_milli(&j, need->name, need->milli);
        }
    }
    json_out_end(&j);
    json_out_end(&j);
}

enum err guild_remote_send(struct guild_session *session, struct guild_entry *entry,
                           struct error *e)
{
    struct buf body;
    struct api_reply reply;
    buf_init(&body, BODY_MAX);
    body_write(session, entry, &body);
    enum err r = api_change(session->cli, &entry->arena, "POST", "/tasks",
                            (struct str){buf_text(&body), body.len}, &reply, e);
    buf_done(&body);
    if (r != ERR_OK) {
        return r;
    }
    const struct doc *tasks = item_at(reply.doc, "tasks");
    entry->remote =
        tasks == NULL || tasks->first == NULL ? 0 : (uint64_t)item_number(tasks->first, "id", 0);
    entry->shown = 0;
    return entry->remote != 0 ? ERR_OK : fail(e, ERR_INTERNAL, "the server's answer names no task");
}

/* ---- following ---- */

/* Shows what the run has written since the last look. */
static void output_show(struct guild_entry *entry, struct arena *arena)
{
    char chunk[CHUNK_BYTES];
    const int fd = open(arena_fmt(arena, "%s/.guild/output", entry->run.dir), O_RDONLY | O_CLOEXEC);
    ssize_t n;
    while (fd >= 0 && (n = pread(fd, chunk, sizeof chunk, entry->shown)) > 0) {
        guild_screen_output(entry->order, 0, (struct str){chunk, (size_t)n});
        entry->shown += n;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void ended(struct guild_session *session, struct guild_entry *entry, const struct doc *task,
                  struct arena *arena)
{
    int64_t exit_status = 0;
    struct guild_told told = {.kind = GUILD_TOLD_ENDED};
    const int64_t code = item_number(task, "exit_code", EXIT_WEIR_FAILED);
    const enum guild_status status = guild_home_status(arena, entry->run.dir);
    if (status == GUILD_STAGED) {
        told.kind = GUILD_TOLD_FAILED;
        (void)snprintf(told.text, sizeof told.text,
                       "its task %llu could not take it; `weir task logs %llu` says why",
                       (unsigned long long)entry->remote, (unsigned long long)entry->remote);
    } else if (code == EXIT_WEIR_FAILED && entry->stage == GUILD_STAGE_TAKING &&
               (!guild_attrs_number(arena, entry->run.dir, "exit_status", &exit_status) ||
                (exit_status & 0xFF) != code)) {
        told.kind = GUILD_TOLD_GONE;
    } else if (entry->stage == GUILD_STAGE_TAKING) {
        guild_pass_step(session, entry, &(struct guild_told){.kind = GUILD_TOLD_STARTED});
    }
    if (told.kind == GUILD_TOLD_ENDED) {
        const bool known = guild_attrs_number(arena, entry->run.dir, "exit_status", &exit_status);
        told.value = (int32_t)((known ? exit_status : code) & 0xFF);
        output_show(entry, arena);
    }
    guild_pass_step(session, entry, &told);
}

static void entry_look(struct guild_session *session, struct guild_entry *entry,
                       struct arena *arena)
{
    struct error e;
    struct api_reply reply;
    const char *path = arena_fmt(arena, "/tasks/%llu", (unsigned long long)entry->remote);
    enum err r = api_get(session->cli, arena, path, &reply, &e);
    if (r == ERR_NOT_FOUND) {
        ended(session, entry, NULL, arena);
        return;
    }
    if (r != ERR_OK) {
        return; /* the server restarts: the run goes on, and the next look asks again */
    }
    const char *state = item_text(reply.doc, "state");
    if (item_at(reply.doc, "ended_at") != NULL &&
        item_at(reply.doc, "ended_at")->kind == DOC_STRING) {
        ended(session, entry, reply.doc, arena);
        return;
    }
    if (entry->stage == GUILD_STAGE_TAKING && strcmp(state, "running") == 0 &&
        guild_home_status(arena, entry->run.dir) == GUILD_RUNNING) {
        guild_pass_step(session, entry, &(struct guild_told){.kind = GUILD_TOLD_STARTED});
    }
    if (entry->stage == GUILD_STAGE_RUNNING) {
        output_show(entry, arena);
    }
}

/* The run's files say that the run began or ended: the server is asked at once. */
static bool has_news(const struct guild_entry *entry, struct arena *arena)
{
    const enum guild_status known =
        entry->stage == GUILD_STAGE_TAKING ? GUILD_STAGED : GUILD_RUNNING;
    return guild_home_status(arena, entry->run.dir) != known;
}

void guild_remote_look(struct guild_session *session)
{
    struct arena arena;
    size_t under_way = 0;
    arena_init(&arena);
    for (size_t i = 0; i < session->entries.count; i++) {
        under_way += session->entries.at[i]->remote != 0 ? 1 : 0;
    }
    const size_t turns = under_way <= ASKED_ALWAYS_MAX ? 1 : TURNS;
    const size_t turn = session->remote->looks++ % turns;
    for (size_t i = 0; i < session->entries.count; i++) {
        struct guild_entry *entry = session->entries.at[i];
        if (entry->remote == 0) {
            continue;
        }
        if (entry->remote % turns == turn || has_news(entry, &arena)) {
            entry_look(session, entry, &arena);
        } else if (entry->stage == GUILD_STAGE_RUNNING) {
            output_show(entry, &arena);
        }
        arena_clear(&arena);
    }
    arena_done(&arena);
}

void guild_remote_withdraw(struct guild_session *session)
{
    struct error e;
    struct api_reply reply;
    struct arena *arena = &session->cli->arena;
    for (size_t i = 0; i < session->entries.count; i++) {
        const struct guild_entry *entry = session->entries.at[i];
        if (entry->remote == 0 || entry->stage != GUILD_STAGE_TAKING) {
            continue;
        }
        const char *path = arena_fmt(arena, "/tasks/%llu/kill", (unsigned long long)entry->remote);
        if (guild_home_status(arena, entry->run.dir) == GUILD_STAGED &&
            api_change(session->cli, arena, "POST", path, (struct str){"{}", 2}, &reply, &e) !=
                ERR_OK) {
            guild_log(GUILD_WARNING, "task %llu of run %s goes on waiting: %s",
                      (unsigned long long)entry->remote, entry->run.id, e.text);
        }
    }
}
