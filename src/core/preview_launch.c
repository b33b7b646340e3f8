/* preview_launch.c - which machines a change would launch and end, and the deadlines that the change brings to an end at
 * once: a smaller maximum or a shorter `idle` of a pool ends nodes in the same moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/model/launch.h"
#include "core/model/leave.h"
#include "core/preview_internal.h"

/* Each tick ends at most one machine of a pool. */
enum { TICKS_MAX = 200 };

static void launch_note(struct preview *preview, pool_id pool)
{
    uint32_t at = 0;
    while (at < preview->launch_count && preview->launches[at].pool.v != pool.v) {
        at++;
    }
    preview->launch_total++;
    if (at == PREVIEW_POOLS_MAX) {
        preview->cut = true;
        return;
    }
    if (at == preview->launch_count) {
        preview->launches[preview->launch_count++] = (struct preview_launch){.pool = pool};
    }
    preview->launches[at].nodes++;
}

void preview_launch_end_note(struct preview *preview, struct preview_machine_end end)
{
    preview->machine_end_total++;
    if (preview->machine_end_count == PREVIEW_TASKS_MAX) {
        preview->cut = true;
        return;
    }
    preview->machine_ends[preview->machine_end_count++] = end;
}

void preview_launch_note(const struct preview_try *try, const struct fact *fact)
{
    if (fact->type == FACT_LAUNCH_ASKED) {
        launch_note(try->note, fact->launch.pool);
    } else if (fact->type == FACT_LAUNCH_CHANGED && fact->launch.state == LAUNCH_ENDING) {
        const struct launch *launch = query_launch(try->copy, fact->launch.launch);
        must(launch != NULL);
        if (launch->state != LAUNCH_ENDING) {
            const bool replaced = launch->leave == LEAVE_REPLACED || launch->leave == LEAVE_UNFIT;
            preview_launch_end_note(try->note, (struct preview_machine_end){
                                                   launch->pool, launch->node, false, replaced});
        }
    }
}

bool preview_launch_ticks(struct preview_try *try)
{
    struct arena arena;
    size_t decided = 1;
    arena_init(&arena);
    for (uint32_t i = 0; i < TICKS_MAX && decided > 0; i++) {
        const struct input tick = {
            .type = INPUT_TICK, .now_ms = try->now_ms, .actor = "timer", .cause = ""};
        struct facts facts;
        arena_clear(&arena);
        fact_list_init(&facts, &arena);
        must(core_decide(try->copy, &tick, &facts) == VERDICT_OK);
        decided = facts.count;
        preview_facts(try, &facts);
    }
    arena_done(&arena);
    return decided == 0;
}
