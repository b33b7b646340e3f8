/* market.c - see market.h. SPDX-License-Identifier: Apache-2.0 */
#include "sim/market.h"

#include "sim/rng.h"
#include "spec/fields.h"

#include <string.h>

enum { RULES_MAX = 1000, PERCENT_MAX = 100, MILLIONTHS_PER_PERCENT = 10000 };

void market_done(struct market *market)
{
    vec_done(&market->sold_out);
    vec_done(&market->taken_back);
}

/* ---- reading ---- */

#define IN_RULE(member) offsetof(struct market_rule, member)
static const struct field sold_out_fields[] = {
    FIELDS_NAME("flavor", struct market_rule, flavor, "a flavor"),
    FIELDS_NAME("zone", struct market_rule, zone, "a zone"),
    {.name = "from", .read = fields_duration, .offset = IN_RULE(from_ms)},
    {.name = "until", .read = fields_duration, .offset = IN_RULE(until_ms)},
    {.name = "every", .read = fields_duration, .offset = IN_RULE(every_ms)},
    {0},
};

static const struct field taken_back_fields[] = {
    FIELDS_NAME("flavor", struct market_rule, flavor, "a flavor"),
    FIELDS_NAME("zone", struct market_rule, zone, "a zone"),
    {.name = "from", .read = fields_duration, .offset = IN_RULE(from_ms)},
    {.name = "until", .read = fields_duration, .offset = IN_RULE(until_ms)},
    {.name = "every", .read = fields_duration, .offset = IN_RULE(every_ms)},
    {.name = "mean", .read = fields_duration, .offset = IN_RULE(mean_ms)},
    {0},
};

static bool rule_read(const struct doc_value *v, const struct field *fields,
                      struct market_rule *ret)
{
    if (!fields_read(v, fields, ret)) {
        return false;
    }
    if (ret->until_ms != 0 && ret->until_ms <= ret->from_ms) {
        fields_problem_in(v, "until", "a time after 'from' is wanted");
        return false;
    }
    if (ret->every_ms != 0 &&
        (ret->until_ms == 0 || ret->every_ms < ret->until_ms - ret->from_ms)) {
        fields_problem_in(v, "every", "it needs an 'until', and is at least as long as the window");
        return false;
    }
    return true;
}

static bool is_list(const struct doc_value *v)
{
    return fields_bounded(v, DOC_LIST, RULES_MAX, "windows",
                          ", like [{zone: a, from: 1h, until: 2h}]");
}

static void sold_out_read(const struct doc_value *v, void *object)
{
    struct market *market = object;
    for (struct doc_value item = is_list(v) ? fields_first(v) : (struct doc_value){0};
         item.doc != NULL; fields_next(&item)) {
        struct market_rule rule = {0};
        if (rule_read(&item, sold_out_fields, &rule)) {
            vec_push(&market->sold_out, rule);
        }
    }
}

static void taken_back_read(const struct doc_value *v, void *object)
{
    struct market *market = object;
    for (struct doc_value item = is_list(v) ? fields_first(v) : (struct doc_value){0};
         item.doc != NULL; fields_next(&item)) {
        struct market_rule rule = {0};
        if (!rule_read(&item, taken_back_fields, &rule)) {
            continue;
        }
        if ((rule.mean_ms == 0) == (rule.until_ms == 0)) {
            fields_problem(&item, "either 'mean' is wanted, or a window with 'from' and 'until'");
            continue;
        }
        vec_push(&market->taken_back, rule);
    }
}

static const struct field market_fields[] = {
    FIELDS_COUNT("fail_percent", struct market, fail_percent, 0, PERCENT_MAX),
    {.name = "sold_out", .read = sold_out_read},
    {.name = "taken_back", .read = taken_back_read},
    {0},
};

void market_read(const struct doc_value *v, struct market *market)
{
    (void)fields_read(v, market_fields, market);
}

/* ---- asking ---- */

static bool is_about(const struct market_rule *rule, const char *flavor, const char *zone)
{
    return (rule->flavor == NULL || strcmp(rule->flavor, flavor) == 0) &&
           (rule->zone == NULL || strcmp(rule->zone, zone) == 0);
}

/* The time since the beginning of the window that began last, or since `from`; below 0: none has begun. */
static int64_t since_begin(const struct market_rule *rule, int64_t at_ms)
{
    const int64_t past = at_ms - rule->from_ms;
    return past >= 0 && rule->every_ms > 0 ? past % rule->every_ms : past;
}

static bool is_open(const struct market_rule *rule, int64_t at_ms)
{
    const int64_t past = since_begin(rule, at_ms);
    return past >= 0 && (rule->until_ms == 0 || past < rule->until_ms - rule->from_ms);
}

/* While nodes are taken back, none can be had either. */
bool market_sold_out(const struct market *market, const char *flavor, const char *zone,
                     int64_t at_ms)
{
    for (size_t i = 0; i < market->sold_out.count; i++) {
        const struct market_rule *rule = &market->sold_out.at[i];
        if (is_about(rule, flavor, zone) && is_open(rule, at_ms)) {
            return true;
        }
    }
    for (size_t i = 0; i < market->taken_back.count; i++) {
        const struct market_rule *rule = &market->taken_back.at[i];
        if (rule->mean_ms == 0 && is_about(rule, flavor, zone) && is_open(rule, at_ms)) {
            return true;
        }
    }
    return false;
}

/* When the rule takes a node back that is not there before `at_ms`; INT64_MAX: never. */
static int64_t rule_taken_ms(const struct market_rule *rule, int64_t at_ms, struct rng *rng)
{
    if (rule->mean_ms > 0) {
        return is_open(rule, at_ms) ? at_ms + rng_exponential(rng, rule->mean_ms) : INT64_MAX;
    }
    const int64_t past = since_begin(rule, at_ms);
    if (past < 0) {
        return rule->from_ms;
    }
    return rule->every_ms > 0 ? at_ms - past + rule->every_ms : INT64_MAX;
}

int64_t market_taken_ms(const struct market *market, const char *flavor, const char *zone,
                        int64_t at_ms, uint64_t seed, uint64_t launch)
{
    struct rng rng = rng_of(seed, "taken back", launch);
    int64_t first_ms = INT64_MAX;
    for (size_t i = 0; i < market->taken_back.count; i++) {
        const struct market_rule *rule = &market->taken_back.at[i];
        if (is_about(rule, flavor, zone)) {
            const int64_t taken_ms = rule_taken_ms(rule, at_ms, &rng);
            first_ms = taken_ms < first_ms ? taken_ms : first_ms;
        }
    }
    return first_ms;
}

bool market_fails(const struct market *market, uint64_t seed, uint64_t launch)
{
    struct rng rng = rng_of(seed, "launches", launch);
    return market->fail_percent > 0 &&
           rng_chance(&rng, market->fail_percent * MILLIONTHS_PER_PERCENT);
}
