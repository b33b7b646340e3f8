/* models.c - see models.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/models.h"

#include "base/amount.h"
#include "base/map.h"
#include "base/str.h"

#define MODEL_OFFER_MILLI (AMOUNT_MILLI_MAX / 2)

static const char *model_of(const struct node_spec *spec)
{
    for (uint32_t i = 0; i < spec->label_count; i++) {
        if (strcmp(spec->labels[i].key, MODEL_LABEL) == 0) {
            return spec->labels[i].value;
        }
    }
    return NULL;
}

static bool in_list(const char *models, const char *model)
{
    struct str rest = str_of(models);
    while (rest.p != NULL) {
        if (str_is(str_cut(rest, '|', &rest), model)) {
            return true;
        }
    }
    return false;
}

static bool any_model(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->nodes.count; i++) {
        if (model_of(&scenario->nodes.at[i].spec) != NULL) {
            return true;
        }
    }
    return false;
}

/* Adds the resource to what the node offers. */
static must_use enum err offer(struct scenario *scenario, struct node_spec *spec, const char *name,
                               struct error *e)
{
    if (spec->resource_count >= NODE_RESOURCES_MAX) {
        return fail(e, ERR_LIMIT, "more than %d resources of a node with lists of models",
                    NODE_RESOURCES_MAX);
    }
    struct named_amount *all =
        arena_new(&scenario->arena, struct named_amount, spec->resource_count + 1);
    if (spec->resource_count > 0) {
        memcpy(all, spec->resources, spec->resource_count * sizeof *all);
    }
    all[spec->resource_count] = (struct named_amount){name, MODEL_OFFER_MILLI};
    spec->resources = all;
    spec->resource_count++;
    return ERR_OK;
}

static must_use enum err list_offer(struct scenario *scenario, const char *models, const char *name,
                                    struct error *e)
{
    for (size_t i = 0; i < scenario->nodes.count; i++) {
        struct node_spec *spec = &scenario->nodes.at[i].spec;
        const char *model = model_of(spec);
        if (model != NULL && in_list(models, model)) {
            enum err r = offer(scenario, spec, name, e);
            if (r != ERR_OK) {
                return r;
            }
        }
    }
    return ERR_OK;
}

/* Makes a kind that also requests the resource. Jobs share kinds, so each such kind is made
 * once. */
static struct job_kind *asking(struct scenario *scenario, const struct job_kind *kind,
                               const char *name)
{
    struct job_kind *with = arena_dup(&scenario->arena, kind, sizeof *kind);
    struct named_amount *asked = arena_new(&scenario->arena, struct named_amount, 1);
    *asked = (struct named_amount){name, 1};
    with->spec.resources = asked;
    with->spec.resource_count = 1;
    return with;
}

enum err models_apply(struct scenario *scenario, struct error *e)
{
    if (!any_model(scenario)) {
        return ERR_OK;
    }
    struct map *lists = map_new(); /* list of models -> name of the resource */
    struct map *kinds = map_new(); /* kind -> the kind that also requests the resource */
    enum err r = ERR_OK;
    for (size_t i = 0; r == ERR_OK && i < scenario->jobs.count; i++) {
        struct job *job = &scenario->jobs.at[i];
        const char *models = job->kind->models;
        if (models == NULL || job->kind->spec.slots_milli == 0) {
            continue;
        }
        char *name = map_get(lists, models, strlen(models));
        if (name == NULL) {
            name = arena_fmt(&scenario->arena, "model-list-%zu", map_count(lists) + 1);
            (void)map_put(lists, models, strlen(models), name);
            r = list_offer(scenario, models, name, e);
        }
        struct job_kind *with = map_get(kinds, &job->kind, sizeof job->kind);
        if (with == NULL) {
            with = asking(scenario, job->kind, name);
            (void)map_put(kinds, &job->kind, sizeof job->kind, with);
        }
        job->kind = with;
    }
    map_free(lists);
    map_free(kinds);
    return r;
}
