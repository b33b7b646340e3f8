/* patience.c - see patience.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/patience.h"

#include "base/amount.h"
#include "core/model/object.h"
#include "core/model/pool.h"
#include "spec/pool_spec.h"

/* One item of the list. */
struct patience_item {
    struct str pool; /* p is NULL: every pool */
    int64_t ms;      /* or PATIENCE_AUTO */
};

static must_use enum err item_read(struct str text, struct patience_item *ret, struct error *e)
{
    struct str value;
    const struct str first = str_trim(str_cut(text, '=', &value));
    ret->pool = value.p == NULL ? (struct str){NULL, 0} : first;
    value = value.p == NULL ? first : str_trim(value);
    struct error unsaid;
    if (first.len == 0 ||
        (!object_word_find(&pool_object_fields[POOL_FIELD_patience], value, &ret->ms) &&
         amount_duration(value, &ret->ms, &unsaid) != ERR_OK)) {
        return fail(e, ERR_USAGE,
                    "a duration like 60s, auto, or POOL=auto is wanted, several with commas "
                    "between them, not '%.*s'",
                    str_shown(text), text.p);
    }
    return ERR_OK;
}

enum err patience_check(const char *text, struct error *e)
{
    struct str rest = str_of(text);
    enum err r = ERR_OK;
    do {
        struct patience_item item;
        r = item_read(str_cut(rest, ',', &rest), &item, e);
    } while (r == ERR_OK && rest.p != NULL);
    return r;
}

/* Adds the pool `default`, which every cluster has, where the scenario does not declare it. */
static void default_add(struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->pools.count; i++) {
        if (strcmp(scenario->pools.at[i].name, POOL_DEFAULT_NAME) == 0) {
            return;
        }
    }
    struct pool_spec spec;
    pool_spec_init(&spec, POOL_DEFAULT_NAME);
    vec_push(&scenario->pools, spec);
}

static must_use enum err item_set(const struct patience_item *item, struct scenario *scenario,
                                  struct error *e)
{
    bool found = false;
    for (size_t i = 0; i < scenario->pools.count; i++) {
        struct pool_spec *pool = &scenario->pools.at[i];
        if (item->pool.p == NULL || str_is(item->pool, pool->name)) {
            pool->patience_ms = item->ms;
            found = true;
        }
    }
    return found ? ERR_OK
                 : fail(e, ERR_USAGE, "--patience: there is no pool '%.*s' in the scenario",
                        str_shown(item->pool), item->pool.p);
}

enum err patience_set(const char *text, struct scenario *scenario, struct error *e)
{
    struct str rest = str_of(text);
    enum err r = ERR_OK;
    default_add(scenario);
    do {
        struct patience_item item;
        r = item_read(str_cut(rest, ',', &rest), &item, e);
        r = r == ERR_OK ? item_set(&item, scenario, e) : r;
    } while (r == ERR_OK && rest.p != NULL);
    return r;
}
