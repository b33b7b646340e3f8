/* task_filter.c - see task_filter.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/task_filter.h"

#include "base/doc.h"
#include "io/http_request.h"

/* The texts of wire/task_filters.def, and where the filter keeps each. */
#define WORDS(id, letter, value, help, complete)
#define TEXT(id, letter, value, help, complete) {#id, offsetof(struct task_filter, id)},
static const struct {
    const char *name;
    size_t at;
} texts[] = {
#include "wire/task_filters.def"
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

static const char **text_of(struct task_filter *filter, size_t i)
{
    return (const char **)(void *)((char *)filter + texts[i].at);
}

/* The states of ended tasks. All other states are live. */
static uint64_t ended_states(void)
{
    uint64_t bits = 0;
    for (unsigned state = 0; state < TASK_STATE_COUNT; state++) {
        bits |= task_state_ended((enum task_state)state) ? UINT64_C(1) << state : 0;
    }
    return bits;
}

static uint64_t all_states(void)
{
    return (UINT64_C(1) << TASK_STATE_COUNT) - 1;
}

/* Reads words such as ?state=pending,running: any of them matches. */
static bool words_read(struct call *call, const char *name, bool (*parse)(const char *, unsigned *),
                       const char *all, uint64_t *ret)
{
    const char *text = http_request_query(call->request, name);
    if (text == NULL) {
        return true;
    }
    struct str rest = str_of(text);
    while (rest.p != NULL) {
        struct str word = str_cut(rest, ',', &rest);
        unsigned bit;
        if (!parse(arena_strn(call_arena(call), word.p, word.len), &bit)) {
            call_failf(call, ERR_INVALID, name, "no %s is called '%.*s'; there are %s", name,
                       (int)(word.len < 60 ? word.len : 60), word.p, all);
            return false;
        }
        *ret |= UINT64_C(1) << bit;
    }
    return true;
}

/* "pending, starting, …": what a filter may name. */
static const char *states_text(struct call *call)
{
    const char *all = "";
    for (unsigned i = 0; i < TASK_STATE_COUNT; i++) {
        all = arena_fmt(call_arena(call), "%s%s%s", all, i == 0 ? "" : ", ",
                        names_task_state((enum task_state)i));
    }
    return all;
}

static const char *kinds_text(struct call *call)
{
    const char *all = "";
    for (unsigned i = 0; i < TASK_KIND_COUNT; i++) {
        all = arena_fmt(call_arena(call), "%s%s%s", all, i == 0 ? "" : ", ",
                        names_task_kind((enum task_kind)i));
    }
    return all;
}

static bool state_word(const char *word, unsigned *ret)
{
    enum task_state state;
    if (!names_task_state_parse(word, &state)) {
        return false;
    }
    *ret = (unsigned)state;
    return true;
}

static bool kind_word(const char *word, unsigned *ret)
{
    enum task_kind kind;
    if (!names_task_kind_parse(word, &kind)) {
        return false;
    }
    *ret = (unsigned)kind;
    return true;
}

/* A contradictory filter matches nothing: it gets a bit beyond the last state. */
static void states_keep(struct task_filter *filter, uint64_t side)
{
    const uint64_t asked = filter->states != 0 ? filter->states : all_states();
    filter->states = (asked & side) != 0 ? asked & side : UINT64_C(1) << TASK_STATE_COUNT;
}

static bool ended_read(struct call *call, struct task_filter *filter)
{
    bool ended = false;
    if (http_request_query(call->request, "ended") == NULL) {
        return true;
    }
    if (!call_query_bool(call, "ended", &ended)) {
        return false;
    }
    states_keep(filter, ended ? ended_states() : all_states() & ~ended_states());
    return true;
}

bool task_filter_read(struct call *call, struct task_filter *ret, const char **ret_question)
{
    *ret = (struct task_filter){0};
    for (size_t i = 0; i < TEXTS; i++) {
        *text_of(ret, i) = http_request_query(call->request, texts[i].name);
    }
    if (!words_read(call, "state", state_word, states_text(call), &ret->states) ||
        !words_read(call, "kind", kind_word, kinds_text(call), &ret->kinds) ||
        !ended_read(call, ret)) {
        return false;
    }
    if (!call_query_time(call, "since", &ret->since_ms) ||
        !call_query_time(call, "until", &ret->until_ms)) {
        return false;
    }
    if (ret->until_ms != 0) {
        states_keep(ret, ended_states());
    }
    const char *question = arena_fmt(
        call_arena(call), "tasks %llx %llx %lld %lld", (unsigned long long)ret->states,
        (unsigned long long)ret->kinds, (long long)ret->since_ms, (long long)ret->until_ms);
    for (size_t i = 0; i < TEXTS; i++) {
        const char *text = *text_of(ret, i);
        question = arena_fmt(call_arena(call), "%s\n%s", question, text != NULL ? text : "");
    }
    *ret_question = question;
    return true;
}

void task_filter_keep(struct task_filter *filter, struct arena *arena)
{
    for (size_t i = 0; i < TEXTS; i++) {
        const char **text = text_of(filter, i);
        *text = *text != NULL ? arena_str(arena, *text) : NULL;
    }
}

bool task_filter_live(const struct task_filter *filter)
{
    /* A task stays among the live tasks for a moment after its end, so a filter for ended tasks
     * must look there too. */
    return filter->states != UINT64_C(1) << TASK_STATE_COUNT;
}

bool task_filter_ended(const struct task_filter *filter)
{
    return filter->states == 0 || (filter->states & ended_states()) != 0;
}

bool task_filter_total(const struct task_filter *filter, const struct core *core, uint64_t *ret)
{
    struct task_filter copy = *filter;
    bool only_states = filter->kinds == 0 && filter->since_ms == 0 && filter->until_ms == 0 &&
                       !task_filter_ended(filter);
    for (size_t i = 0; i < TEXTS; i++) {
        only_states = only_states && *text_of(&copy, i) == NULL;
    }
    uint64_t total = 0;
    for (unsigned state = 0; state < TASK_STATE_COUNT; state++) {
        const bool asked = (filter->states >> state & 1) != 0;
        total += asked ? query_task_count(core, (enum task_state)state) : 0;
    }
    *ret = total;
    return only_states;
}

static bool text_is(const char *asked, const char *text)
{
    return asked == NULL || strcmp(asked, text) == 0;
}

static bool text_has(const char *asked, const char *text)
{
    return asked == NULL || strstr(text, asked) != NULL;
}

bool task_filter_matches(const struct task_filter *filter, const struct core *core,
                         const struct task *task, struct arena *arena)
{
    const bool late = filter->until_ms != 0 && task->ended_ms >= filter->until_ms;
    const bool early = task->ended_ms != 0 && task->ended_ms < filter->since_ms;
    if (late || early || (filter->states != 0 && (filter->states >> task->state & 1) == 0) ||
        (filter->kinds != 0 && (filter->kinds >> task->kind & 1) == 0) ||
        !text_is(filter->pool, query_pool_name(core, task->pool))) {
        return false;
    }
    if (filter->user == NULL && filter->project == NULL && filter->name == NULL &&
        filter->tag == NULL && filter->description == NULL) {
        return true;
    }
    struct task_spec spec;
    query_task_spec(core, task->id, arena, &spec);
    bool tagged = filter->tag == NULL;
    for (uint32_t i = 0; i < spec.tag_count && !tagged; i++) {
        tagged = strcmp(spec.tags[i], filter->tag) == 0;
    }
    return tagged && text_is(filter->user, spec.user) && text_is(filter->project, spec.project) &&
           text_is(filter->name, spec.name) && text_has(filter->description, spec.description);
}

bool task_filter_tagged(const struct task_filter *filter, struct str json, struct arena *arena)
{
    struct doc *task;
    struct error e;
    if (filter->tag == NULL && filter->description == NULL) {
        return true;
    }
    if (doc_json_parse(arena, json, &task, &e) != ERR_OK) {
        return false;
    }
    const struct doc *about = doc_get(task, "description"); /* older tasks have none */
    const bool text = about != NULL && about->kind == DOC_STRING;
    const struct doc *tags = doc_get(task, "tags");
    bool tagged = filter->tag == NULL;
    for (const struct doc *tag = tags != NULL ? tags->first : NULL; tag != NULL; tag = tag->next) {
        tagged = tagged || str_is(tag->text, filter->tag);
    }
    return tagged && text_has(filter->description, text ? about->text.p : "");
}
