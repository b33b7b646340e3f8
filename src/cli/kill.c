/* kill.c - see kill.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/kill.h"

#include "base/must.h"
#include "cli/cost.h"
#include "cli/item.h"
#include "cli/meter.h"
#include "cli/show.h"

enum { BODY_MAX = KILL_IDS_MAX * 24 };

/* The call that kills these tasks. */
static struct cost_call call_of(struct arena *arena, const uint64_t *ids, size_t count)
{
    must(count > 0);
    must(count <= KILL_IDS_MAX);
    struct buf body;
    struct json_out j;
    buf_init(&body, BODY_MAX);
    json_out_init(&j, &body);
    json_out_object(&j);
    json_out_key(&j, "ids");
    json_out_array(&j);
    for (size_t i = 0; i < count; i++) {
        json_out_u64(&j, ids[i]);
    }
    json_out_end(&j);
    json_out_end(&j);
    const struct str text = {arena_strn(arena, buf_text(&body), body.len), body.len};
    buf_done(&body);
    return (struct cost_call){"POST", "/tasks/kill", text, NULL};
}

enum err kill_call(struct cli *cli, struct arena *arena, const uint64_t *ids, size_t count,
                   struct api_reply *ret, struct error *e)
{
    const struct cost_call call = call_of(arena, ids, count);
    return api_change(cli, arena, call.method, call.path, call.body, ret, e);
}

int kill_dry(struct cli *cli, const uint64_t *ids, size_t count)
{
    int code = EXIT_OK;
    for (size_t at = 0; at < count; at += KILL_IDS_MAX) {
        struct error e;
        int some = EXIT_OK;
        const size_t part = count - at < KILL_IDS_MAX ? count - at : KILL_IDS_MAX;
        const struct cost_call call = call_of(&cli->arena, ids + at, part);
        if (cost_dry(cli, &call, &some, &e) != ERR_OK) {
            return context_fail(cli, &e);
        }
        code = some != EXIT_OK ? some : code;
    }
    return code;
}

void kill_say(struct cli *cli, const uint64_t *ids, size_t count)
{
    const size_t part = count < KILL_IDS_MAX ? count : KILL_IDS_MAX;
    const struct cost_call call = call_of(&cli->arena, ids, part);
    (void)cost_say(cli, &call, NULL);
    if (part < count) {
        context_say("and so on for %zu more tasks", count - part);
    }
}

/* Says which tasks were not killed. Returns the exit status of the first one, or EXIT_OK. */
static int misses_say(struct cli *cli, const struct doc *tasks)
{
    int code = EXIT_OK;
    for (const struct doc *d = tasks == NULL ? NULL : tasks->first; d != NULL; d = d->next) {
        struct error e;
        const char *id = item_text(d, "id");
        const char *state = item_text(d, "state");
        if (item_true(d, "killed")) {
            continue;
        }
        if (state[0] == '\0') {
            (void)fail(&e, ERR_NOT_FOUND, "no task %s", id);
        } else {
            (void)fail(&e, ERR_CONFLICT, "task %s: the task has ended: it is %s", id, state);
        }
        int failed = context_fail(cli, &e);
        code = code == EXIT_OK ? failed : code;
    }
    return code;
}

int kill_many(struct cli *cli, const uint64_t *ids, size_t count)
{
    int code = EXIT_OK;
    struct arena arena;
    struct meter meter;
    arena_init(&arena);
    meter_begin(&meter, "told to end:", count, false);
    for (size_t at = 0; at < count; at += KILL_IDS_MAX) {
        struct error e;
        struct api_reply reply;
        size_t some = count - at < KILL_IDS_MAX ? count - at : KILL_IDS_MAX;
        arena_clear(&arena);
        if (kill_call(cli, &arena, ids + at, some, &reply, &e) != ERR_OK) {
            meter_clear(&meter);
            code = context_fail(cli, &e);
            break;
        }
        meter_clear(&meter); /* what follows are lines of their own */
        (void)show_json(cli, &reply);
        int failed = misses_say(cli, item_at(reply.doc, "tasks"));
        code = code == EXIT_OK ? failed : code;
        meter_move(&meter, at + some);
    }
    meter_clear(&meter);
    arena_done(&arena);
    return code;
}
