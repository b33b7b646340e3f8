/* qarnot_size.c - how many nodes a pool of the SDK has: a fixed number of slots, elastic, or one policy.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/qarnot/qarnot_internal.h"

#include <inttypes.h>

/* A part of a change: above 0, at most 1. Weir makes each change at once, so it is only checked. */
static bool factor_ok(const struct doc *elastic, const char *key)
{
    const struct doc *value = doc_get(elastic, key);
    if (value == NULL || value->kind == DOC_NULL) {
        return true;
    }
    const double factor = value->kind == DOC_NUMBER ? strtod(value->text.p, NULL) : 0;
    return factor > 0 && factor <= 1;
}

/* The numbers of an elastic pool, as they stand. */
struct elastic {
    uint64_t low;
    uint64_t high;
    uint64_t idle_s;
    uint64_t period_s;
    uint64_t headroom;
};

/* `map` has the names of both forms: elasticProperty, and a policy ManagedTasksQueue. */
static enum err elastic_numbers(const struct doc *map, struct elastic *ret, struct error *e)
{
    enum err r = qarnot_types_number(map, "minTotalSlots", 0, &ret->low, e);
    r = r == ERR_OK ? qarnot_types_number(map, "maxTotalSlots", 1, &ret->high, e) : r;
    r = r == ERR_OK ? qarnot_types_number(map, "minIdleTimeSeconds", 0, &ret->idle_s, e) : r;
    r = r == ERR_OK ? qarnot_types_number(map, "resizePeriod", 90, &ret->period_s, e) : r;
    r = r == ERR_OK ? qarnot_types_number(map, "minIdleSlots", 0, &ret->headroom, e) : r;
    if (r == ERR_OK && (!factor_ok(map, "rampResizeFactor") || !factor_ok(map, "scalingFactor"))) {
        r = fail_at(e, ERR_INVALID, "elasticProperty", "a factor must be above 0 and at most 1");
    }
    return r;
}

static enum err elastic_read(const struct doc *map, struct qarnot_size *ret, struct error *e)
{
    const uint64_t k = ret->slots_per_node;
    struct elastic want;
    if (elastic_numbers(map, &want, e) != ERR_OK) {
        return e->code;
    }
    if (want.high < 1 || want.low > want.high || want.high > POOL_NODES_MAX * k) {
        return fail_at(e, ERR_INVALID, "elasticProperty",
                       "the slots must be from minTotalSlots to maxTotalSlots, at least 1 and at "
                       "most %" PRIu64 ", not %" PRIu64 " to %" PRIu64,
                       POOL_NODES_MAX * k, want.low, want.high);
    }
    if (want.period_s < 1 || want.period_s > UINT32_MAX || want.idle_s > UINT32_MAX) {
        return fail_at(e, ERR_INVALID, "elasticProperty",
                       "resizePeriod must be 1 s or more, and minIdleTimeSeconds 0 or more");
    }
    ret->nodes = 0;
    ret->min = (want.low + k - 1) / k;
    ret->max = want.high / k;
    ret->idle_s = want.idle_s > want.period_s ? want.idle_s : want.period_s;
    ret->headroom = want.headroom;
    if (ret->max < ret->min || ret->max == 0) {
        return fail_at(e, ERR_INVALID, "elasticProperty",
                       "nodes of %" PRIu64 " slots cannot make %" PRIu64 " to %" PRIu64 " slots", k,
                       want.low, want.high);
    }
    return ERR_OK;
}

static enum err fixed_read(const struct doc *map, const char *key, struct qarnot_size *ret,
                           struct error *e)
{
    uint64_t slots = 0;
    if (!doc_u64(doc_get(map, key), &slots) || slots < 1 ||
        slots > POOL_NODES_MAX * ret->slots_per_node) {
        return fail_at(e, ERR_INVALID, key, "it must be from 1 to %" PRIu64,
                       POOL_NODES_MAX * ret->slots_per_node);
    }
    ret->nodes = (slots + ret->slots_per_node - 1) / ret->slots_per_node;
    ret->cap = slots % ret->slots_per_node != 0 ? slots : 0;
    return ERR_OK;
}

/* One policy that always holds. Policies by the day of the week are refused: accepting and ignoring them would be a lie. */
static enum err scaling_read(const struct doc *scaling, struct qarnot_size *ret, struct error *e)
{
    const struct doc *policies = doc_get(scaling, "policies");
    const struct doc *policy = policies->first;
    const struct doc *periods = doc_get(policy, "enabledPeriods");
    const char *type = "";
    const char *period = "Always";
    (void)doc_text(doc_get(policy, "type"), &type);
    if (periods != NULL && periods->count > 0) {
        (void)doc_text(doc_get(periods->first, "type"), &period);
    }
    if (policies->count != 1 || strcmp(period, "Always") != 0) {
        return fail_at(e, ERR_INVALID, "scaling",
                       "Weir supports one policy, and only one that always holds");
    }
    if (strcmp(type, "Fixed") == 0) {
        return fixed_read(policy, "slotsCount", ret, e);
    }
    if (strcmp(type, "ManagedTasksQueue") == 0) {
        return elastic_read(policy, ret, e);
    }
    return fail_at(e, ERR_INVALID, "scaling", "unknown type of policy '%.40s'", type);
}

enum err qarnot_size_read(const struct doc *body, struct qarnot_size *ret, struct error *e)
{
    const struct doc *elastic = doc_get(body, "elasticProperty");
    const struct doc *multi = doc_get(body, "multiSlotsSettings");
    const struct doc *scaling = doc_get(body, "scaling");
    bool is_elastic = false;
    *ret = (struct qarnot_size){.slots_per_node = 1};
    if (multi != NULL && multi->kind == DOC_MAP) {
        if (qarnot_types_number(multi, "slotsPerNode", 1, &ret->slots_per_node, e) != ERR_OK) {
            return e->code;
        }
        if (ret->slots_per_node < 1 || ret->slots_per_node > 1024) {
            return fail_at(e, ERR_INVALID, "multiSlotsSettings.slotsPerNode",
                           "it must be from 1 to 1024");
        }
    }
    if (scaling != NULL && scaling->kind == DOC_MAP && qarnot_fields_given(scaling, "policies")) {
        return scaling_read(scaling, ret, e);
    }
    if (elastic != NULL && doc_bool(doc_get(elastic, "isElastic"), &is_elastic) && is_elastic) {
        return elastic_read(elastic, ret, e);
    }
    return fixed_read(body, "instanceCount", ret, e);
}
