/* task_query.c - see task_query.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/task_query.h"

#include "cli/api.h"
#include "cli/text.h"

#include <string.h>

/* Flags whose value goes to the API as it is. */
static const char *const texts[] = {
#define WORDS(id, letter, value, help, complete) #id,
#define TEXT WORDS
#include "wire/task_filters.def"
};

const char task_query_filters[] =
#undef WORDS
#define WORDS(id, letter, value, help, complete) #id " "
#include "wire/task_filters.def"
    ;

static const char *const others[] = {"filter", "since", "until", "active", "ended"};

enum { TEXT_COUNT = sizeof texts / sizeof *texts, OTHER_COUNT = sizeof others / sizeof *others };

enum err task_query_moment(struct cli *cli, const char *name, const char **query, struct error *e)
{
    const char *text = args_text(&cli->args, name);
    int64_t at_ms;
    if (text == NULL) {
        return ERR_OK;
    }
    enum err r = text_moment_flag(name, text, &at_ms, e);
    if (r != ERR_OK) {
        return r;
    }
    char time[TEXT_TIME_MAX];
    text_time(at_ms, time);
    *query = arena_fmt(&cli->arena, "%s&%s=%s", *query, name, api_escape(&cli->arena, time));
    return ERR_OK;
}

enum err task_query_path(struct cli *cli, const char **ret_path, struct error *e)
{
    struct arena *arena = &cli->arena;
    const char *query = "";
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        const char *value = args_text(&cli->args, texts[i]);
        if (value != NULL) {
            query = arena_fmt(arena, "%s&%s=%s", query, texts[i], api_escape(arena, value));
        }
    }
    if (task_query_moment(cli, "since", &query, e) != ERR_OK ||
        task_query_moment(cli, "until", &query, e) != ERR_OK) {
        return ERR_USAGE;
    }
    bool active = args_has(&cli->args, "active");
    bool ended = args_has(&cli->args, "ended");
    if (active != ended) {
        query = arena_fmt(arena, "%s&ended=%s", query, ended ? "true" : "false");
    }
    *ret_path = query[0] == '\0' ? "/tasks" : arena_fmt(arena, "/tasks?%s", query + 1);
    return ERR_OK;
}

static void flag_add(struct buf *out, const struct args *args, const char *name)
{
    const char *value = args_text(args, name);
    if (args_has(args, name)) {
        buf_addf(out, " --%s%s%s", name, value == NULL ? "" : " ", value == NULL ? "" : value);
    }
}

void task_query_empty(struct cli *cli)
{
    struct buf raw;
    struct buf flags;
    buf_init(&raw, ERROR_TEXT_MAX);
    buf_init(&flags, ERROR_TEXT_MAX * 6);
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        flag_add(&raw, &cli->args, texts[i]);
    }
    for (size_t i = 0; i < OTHER_COUNT; i++) {
        flag_add(&raw, &cli->args, others[i]);
    }
    if (raw.len == 0) {
        context_say("no tasks; `weir run -- echo hello` runs one");
    } else {
        text_escape(&flags, (struct str){.p = buf_text(&raw), .len = raw.len});
        context_say("no tasks match%s; `weir task list` shows all tasks", buf_text(&flags));
    }
    buf_done(&flags);
    buf_done(&raw);
}
