/* spread.c - see spread.h. The submission is decided once more, and nothing of that is applied: what a
 * task becomes is known only to the core. SPDX-License-Identifier: Apache-2.0 */
#include "api/spread.h"

#include "api/api_internal.h"
#include "core/model/pool.h"
#include "core/model/resource.h"
#include "core/state/elastic.h"
#include "io/http_request.h"

#include <string.h>

enum { PARTS_TRIED_MAX = 64 };

/* Only such a task can be divided. */
static bool may_be_wide(const struct task_spec *spec)
{
    return spec->instances == 1 && !spec->gang && spec->slots_milli > SLOT_MILLI;
}

/* Would the core accept the submission? */
static bool decided(struct call *call, const struct submission *submission, struct facts *ret)
{
    const struct input in = {.type = INPUT_TASK_SUBMIT,
                             .now_ms = call_now_ms(call),
                             .actor = call->actor,
                             .cause = call->cause,
                             .submit = *submission};
    return core_decide(call_core(call), &in, ret) == VERDICT_OK;
}

/* Returns the slots of the largest node that the pool has, or that the pool's provider can still
 * bring up. */
static long long largest_node(const struct core *core, pool_id pool)
{
    const struct pool *row = query_pool(core, pool);
    const bool comes = row != NULL && elastic_nodes_to_come(row) > 0;
    int64_t most = comes ? (int64_t)pool_node_slots(row) * SLOT_MILLI : 0;
    node_id after = {0};
    const struct node *node;
    while ((node = query_pool_node_next(core, pool, after)) != NULL) {
        after = node->id;
        most = node->slots_milli > most ? node->slots_milli : most;
    }
    return (long long)(most / SLOT_MILLI);
}

/* The fewest equal instances that the pool can hold together; 0: equal parts do not fit, or there are very many. */
static uint32_t equal_parts(struct call *call, const struct task_spec *asked)
{
    const int64_t slots = asked->slots_milli / SLOT_MILLI;
    for (uint32_t parts = 2; parts <= slots && parts <= PARTS_TRIED_MAX; parts++) {
        struct task_spec spec = *asked;
        spec.instances = parts;
        spec.gang = true;
        spec.slots_milli = asked->slots_milli / parts;
        const struct submission submission = {.specs = &spec, .count = 1};
        struct facts facts;
        fact_list_init(&facts, call_arena(call));
        if (slots % parts == 0 && decided(call, &submission, &facts)) {
            return parts;
        }
    }
    return 0;
}

static void refuse(struct call *call, const struct task_spec *asked, const struct fact *fact)
{
    const struct core *core = call_core(call);
    const pool_id pool = fact->task_submitted.pool;
    const long long slots = (long long)(asked->slots_milli / SLOT_MILLI);
    const char *flag = asked->needs_gpu ? "gpus" : "slots";
    const uint32_t spread = fact->task_submitted.spec->instances;
    const uint32_t parts = equal_parts(call, asked);
    const char *other = parts == 0 || parts == spread
                            ? ""
                            : arena_fmt(call_arena(call), ", --instances %u --gang --%s %lld as %u",
                                        parts, flag, slots / parts, parts);
    call_failf(call, ERR_NEVER, asked->needs_gpu ? "gpu" : "slots",
               "%lld %s are more than the %lld of the largest node in pool '%s'; --spread runs the "
               "task as %u instances of %lld each%s",
               slots, flag, largest_node(core, pool), query_pool_name(core, pool), spread,
               (long long)(fact->task_submitted.request->slots_milli / SLOT_MILLI), other);
}

bool spread_refused(struct call *call, const struct submission *submission)
{
    const char *consent = call_query(call, "spread");
    if (consent == NULL || strcmp(consent, "allow") == 0) {
        return false;
    }
    if (strcmp(consent, "refuse") != 0) {
        call_failf(call, ERR_INVALID, "spread", "'spread' must be allow or refuse");
        return true;
    }
    bool any = false;
    for (uint32_t i = 0; i < submission->count; i++) {
        any = any || may_be_wide(&submission->specs[i]);
    }
    struct facts facts;
    fact_list_init(&facts, call_arena(call));
    if (!any || !decided(call, submission, &facts)) {
        return false; /* the submission itself says what is wrong */
    }
    uint32_t at = 0;
    for (size_t i = 0; i < facts.count; i++) {
        if (facts.at[i].type != FACT_TASK_SUBMITTED) {
            continue;
        }
        const struct task_spec *asked = &submission->specs[at++];
        if (may_be_wide(asked) && facts.at[i].task_submitted.spec->instances > 1) {
            refuse(call, asked, &facts.at[i]);
            return true;
        }
    }
    return false;
}
