/* pool_spec.c - the fields of a pool. Policies, placements and providers that do not exist yet are
 * refused by name, saying which do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/pool_spec.h"

#include "base/amount.h"
#include "spec/pool_internal.h"
#include "spec/task_internal.h"
#include "core/model/limits.h"
#include "core/model/names.h"

#include <stdio.h>
#include <string.h>

void pool_spec_init(struct pool_spec *spec, const char *name)
{
    *spec = (struct pool_spec){
        .name = name,
        .title = "",
        .description = "",
        .patience_ms = PATIENCE_MS_DEFAULT,
        .placement = PLACEMENT_TIGHT,
        .aux_tasks = NODE_AUX_TASKS_DEFAULT,
        .consolidation_max = CONSOLIDATION_DEFAULT,
        .stale_grace_ms = STALE_GRACE_MS_DEFAULT,
        .history_factor = HISTORY_FACTOR_DEFAULT,
    };
}

/* One of the words that exist, which `note` lists. */
static void word_check(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object)
{
    (void)object;
    const char *word;
    if (!fields_value_text(in, place, doc, SIZE_MAX, &word)) {
        return;
    }
    struct str rest = str_of(field->note);
    while (rest.p != NULL) {
        if (str_equal(str_cut(rest, ' ', &rest), doc->text)) {
            return;
        }
    }
    fields_problem(in, place, doc, "'%.40s' does not exist yet; there is: %s", word, field->note);
}

/* The word as the number it stands for: the first that `name` gives it back for. False: a problem was
 * noted. Only words that `note` lists exist so far. */
static bool choice_value(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, const char *(*name)(unsigned value),
                         unsigned *ret)
{
    uint32_t before = in->problems->total;
    word_check(in, place, doc, field, NULL);
    if (in->problems->total != before) {
        return false;
    }
    for (unsigned value = 0; name(value) != NULL; value++) {
        if (str_is(doc->text, name(value))) {
            *ret = value;
            return true;
        }
    }
    fields_problem(in, place, doc, "'%.40s' does not exist; there is: %s", doc->text.p,
                   field->note);
    return false;
}

static const char *policy_word(unsigned value)
{
    return names_pool_policy((enum pool_policy)value);
}

static const char *placement_word(unsigned value)
{
    return names_pool_placement((enum pool_placement)value);
}

static const char *victims_word(unsigned value)
{
    return names_pool_victims((enum pool_victims)value);
}

static const char *order_word(unsigned value)
{
    return names_pool_order((enum pool_order)value);
}

static void policy_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        const struct field *field, void *object)
{
    struct pool_spec *spec = object;
    unsigned value;
    if (choice_value(in, place, doc, field, policy_word, &value)) {
        spec->policy = (enum pool_policy)value;
    }
}

static void placement_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           const struct field *field, void *object)
{
    struct pool_spec *spec = object;
    unsigned value;
    if (choice_value(in, place, doc, field, placement_word, &value)) {
        spec->placement = (enum pool_placement)value;
    }
}

static void victims_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object)
{
    struct pool_spec *spec = object;
    unsigned value;
    if (choice_value(in, place, doc, field, victims_word, &value)) {
        spec->victims = (enum pool_victims)value;
    }
}

static void order_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object)
{
    struct pool_spec *spec = object;
    unsigned value;
    if (choice_value(in, place, doc, field, order_word, &value)) {
        spec->order = (enum pool_order)value;
    }
}

/* on, off, true, false; what is kept is whether it is off. */
static void switch_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        const struct field *field, void *object)
{
    bool *switched_off = (bool *)((char *)object + field->offset);
    bool on = doc->kind == DOC_STRING && str_is(doc->text, "on");
    bool off = doc->kind == DOC_STRING && str_is(doc->text, "off");
    if (doc->kind == DOC_BOOL) {
        on = doc->yes;
    } else if (!on && !off) {
        fields_problem(in, place, doc, "on or off is wanted, not %s",
                       doc->kind == DOC_STRING ? "another word" : fields_what(doc));
        return;
    }
    *switched_off = !on;
}

/* A duration, or 'never'. */
static void stale_grace_read(struct reader *in, const struct doc_place *place,
                             const struct doc *doc, const struct field *field, void *object)
{
    struct pool_spec *spec = object;
    if (doc->kind == DOC_STRING && str_is(doc->text, "never")) {
        spec->stale_grace_ms = STALE_GRACE_NEVER;
        return;
    }
    fields_duration(in, place, doc, field, object);
}

/* Slots of one user: an amount, or 'unlimited'. */
static void user_slots_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const struct field *field, void *object)
{
    (void)field;
    struct pool_spec *spec = object;
    struct error e;
    if (doc->kind == DOC_STRING && str_is(doc->text, "unlimited")) {
        spec->user_slots_max = 0;
    } else if (doc->kind != DOC_NUMBER && doc->kind != DOC_STRING) {
        fields_problem(in, place, doc, "a number or 'unlimited' is wanted, not %s",
                       fields_what(doc));
    } else if (amount_milli(doc->text, &spec->user_slots_max, &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
    } else if (spec->user_slots_max == 0) {
        fields_problem(in, place, doc, "a cap is above 0; 'unlimited' is none");
    }
}

#define IN_POOL(member) offsetof(struct pool_spec, member)

/* How much the past counts: 0 to 10, at most three places. */
static void factor_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        const struct field *field, void *object)
{
    struct pool_spec *spec = object;
    struct error e;
    int64_t milli;
    if (doc->kind != DOC_NUMBER && doc->kind != DOC_STRING) {
        fields_problem(in, place, doc, "a number is wanted, not %s", fields_what(doc));
    } else if (amount_milli(doc->text, &milli, &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
    } else if (milli > field->max) {
        fields_problem(in, place, doc, "a factor is at most %d", (int)(field->max / 1000));
    } else {
        spec->history_factor = (uint32_t)milli;
    }
}

static const struct field history_fields[] = {
    {"half_life", fields_duration, IN_POOL(history_half_life_ms), 0, 0, NULL},
    {"window", fields_duration, IN_POOL(history_window_ms), 0, 0, NULL},
    {"factor", factor_read, 0, 0, HISTORY_FACTOR_MAX, NULL},
    {0},
};

/* 'off', or {half_life, window, factor}. */
static void history_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object)
{
    (void)field;
    struct pool_spec *spec = object;
    if (doc->kind == DOC_STRING && str_is(doc->text, "off")) {
        spec->history_half_life_ms = 0;
        spec->history_window_ms = 0;
        return;
    }
    if (doc->kind != DOC_MAP) {
        fields_problem(in, place, doc, "a map like {half_life: 7d} or 'off' is wanted, not %s",
                       doc->kind == DOC_STRING ? "another word" : fields_what(doc));
        return;
    }
    const uint32_t before = in->problems->total;
    fields_read(in, place, doc, history_fields, object);
    if (in->problems->total == before && spec->history_half_life_ms == 0 &&
        spec->history_window_ms == 0) {
        fields_problem(in, place, doc, "it needs a half_life or a window, like {half_life: 7d}");
    }
}

static const struct field scheduler_fields[] = {
    {"policy", policy_read, 0, 0, 0, "fair-share priority fifo round-robin"},
    {"placement", placement_read, 0, 0, 0, "tight pack spread"},
    {"order", order_read, 0, 0, 0, "submission short-first"},
    {"patience", fields_duration, IN_POOL(patience_ms), 0, 0, NULL},
    {"preemption", switch_read, IN_POOL(preemption_off), 0, 0, NULL},
    {"uneven", switch_read, IN_POOL(uneven_off), 0, 0, NULL},
    {"victims", victims_read, 0, 0, 0, "least-loss youngest"},
    {"consolidation", fields_u32, IN_POOL(consolidation_max), 0, CONSOLIDATION_MAX, NULL},
    {"stale_grace", stale_grace_read, IN_POOL(stale_grace_ms), 0, 0, NULL},
    {"preempt_min_runtime", fields_duration, IN_POOL(preempt_min_runtime_ms), 0, 0, NULL},
    {"reclaim_min_runtime", fields_duration, IN_POOL(reclaim_min_runtime_ms), 0, 0, NULL},
    {"preempt_delay", fields_duration, IN_POOL(preempt_delay_ms), 0, 0, NULL},
    {"user_slots", user_slots_read, 0, 0, 0, NULL},
    {"history", history_read, 0, 0, 0, NULL},
    {0},
};

static const struct field provider_fields[] = {
    {"type", word_check, 0, 0, 0, "static local"},
    {0},
};

/* A map of its own fields inside the pool's. */
static void scheduler_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           const struct field *field, void *object)
{
    (void)field;
    fields_read(in, place, doc, scheduler_fields, object);
}

/* Nothing of it is kept: agents of a static pool are started by hand. A type that does not exist is
 * the one problem; its own fields would only distract from that. */
static void provider_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          const struct field *field, void *object)
{
    (void)field;
    const struct doc *type = doc_get(doc, "type");
    struct doc_place at = {.up = place, .key = "type"};
    uint32_t before = in->problems->total;
    if (doc->kind == DOC_MAP && type == NULL) {
        fields_problem(in, &at, doc, "it is missing; there is: static local");
        return;
    }
    if (type != NULL) {
        word_check(in, &at, type, &provider_fields[0], object);
    }
    if (in->problems->total == before) {
        fields_read(in, place, doc, provider_fields, object);
    }
}

static void accepts_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object)
{
    (void)field;
    struct pool_spec *spec = object;
    if (doc->kind != DOC_LIST) {
        fields_problem(in, place, doc, "a list of task kinds is wanted, not %s", fields_what(doc));
        return;
    }
    uint32_t accepts = 0;
    uint32_t index = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = index++};
        const char *name;
        enum task_kind kind;
        if (!fields_value_text(in, &at, item, SIZE_MAX, &name)) {
            return;
        }
        if (!names_task_kind_parse(name, &kind)) {
            fields_problem(
                in, &at, item,
                "a kind is experiment, command, shell, notebook, tensorboard or service, "
                "not '%.40s'",
                name);
            return;
        }
        accepts |= (uint32_t)1 << kind;
    }
    bool all = accepts == ((uint32_t)1 << TASK_KIND_COUNT) - 1;
    spec->accepts = all ? 0 : accepts; /* all of them and none are one thing: everything */
}

/* Keys of node labels, the widest level first. */
static void topology_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          const struct field *field, void *object)
{
    struct pool_spec *spec = object;
    if (doc->kind != DOC_LIST || doc->count > field->max) {
        fields_problem(in, place, doc,
                       "a list of at most %d node labels, the widest first, is wanted, like [zone, "
                       "rack], not %s",
                       (int)field->max, doc->kind == DOC_LIST ? "a longer one" : fields_what(doc));
        return;
    }
    const char **levels = arena_new(in->arena, const char *, doc->count + 1);
    uint32_t count = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = count};
        if (!task_groups_level_read(in, &at, item, &levels[count])) {
            return;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (strcmp(levels[i], levels[count]) == 0) {
                fields_problem(in, &at, item, "'%s' is there twice", levels[count]);
                return;
            }
        }
        count++;
    }
    spec->topology = levels;
    spec->topology_count = count;
}

static void name_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      const struct field *field, void *object)
{
    struct pool_spec *spec = object;
    const char *before = spec->name;
    fields_name(in, place, doc, field, object);
    if (before != NULL && strcmp(before, spec->name) != 0) {
        fields_problem(in, place, doc, "a pool cannot be renamed");
    }
}

static const struct field pool_fields[] = {
    {"name", name_read, IN_POOL(name), 0, 0, "a pool"},
    {"title", fields_text, IN_POOL(title), 0, TEXT_LEN_MAX, NULL},
    {"description", fields_text, IN_POOL(description), 0, TEXT_LEN_MAX, NULL},
    {"paused", fields_bool, IN_POOL(paused), 0, 0, NULL},
    {"accepts", accepts_read, 0, 0, 0, NULL},
    {"patience", fields_duration, IN_POOL(patience_ms), 0, 0, NULL},
    {"aux_tasks", fields_u32, IN_POOL(aux_tasks), 0, AUX_TASKS_MAX, NULL},
    {"topology", topology_read, 0, 0, TOPOLOGY_LEVELS_MAX, NULL},
    {"scheduler", scheduler_read, 0, 0, 0, NULL},
    {"provider", provider_read, 0, 0, 0, NULL},
    {"access", NULL, 0, 0, 0, "pools are open to every user for now"},
    {"zones", NULL, 0, 0, 0, "zones do not exist yet"},
    {"network", NULL, 0, 0, 0, "networks do not exist yet"},
    {"flavor", NULL, 0, 0, 0, "flavors do not exist yet"},
    {"nodes", NULL, 0, 0, 0, "a static pool has the nodes whose agents join it"},
    {"selector", NULL, 0, 0, 0, "label selectors do not exist yet; an agent names its pool"},
    {0},
};

void pool_spec_fields(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      bool create, struct pool_spec *spec)
{
    uint32_t before = in->problems->total;
    fields_read(in, place, doc, pool_fields, spec);
    if (create && spec->name == NULL && in->problems->total == before) {
        struct doc_place at = {.up = place, .key = "name"};
        fields_problem(in, &at, doc, "it is missing");
    }
}

static enum err read_into(const struct doc *doc, struct arena *arena, bool create,
                          struct pool_spec *spec, struct error *e)
{
    struct problems problems = {0};
    struct reader in = {.arena = arena, .problems = &problems};
    struct pool_spec draft = *spec;
    pool_spec_fields(&in, NULL, doc, create, &draft);
    enum err r = problem_error(&problems, e);
    if (r == ERR_OK) {
        *spec = draft;
    }
    return r;
}

enum err pool_spec_read(const struct doc *doc, struct arena *arena, struct pool_spec *ret,
                        struct error *e)
{
    struct pool_spec spec;
    pool_spec_init(&spec, NULL);
    enum err r = read_into(doc, arena, true, &spec, e);
    if (r == ERR_OK) {
        *ret = spec;
    }
    return r;
}

enum err pool_spec_patch(const struct doc *doc, struct arena *arena, struct pool_spec *spec,
                         struct error *e)
{
    return read_into(doc, arena, false, spec, e);
}
