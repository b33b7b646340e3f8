/* explain_depends.c - for which other tasks a task waits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain_depends.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/model/reason.h"
#include "core/model/spec.h"
#include "core/state/query.h"

static bool blocks_already(const struct explanation *why, task_id id)
{
    for (uint32_t i = 0; i < why->blocker_count; i++) {
        if (why->blockers[i].v == id.v) {
            return true;
        }
    }
    return false;
}

void explain_depends(const struct core *core, const struct task *task, struct explanation *ret)
{
    struct arena arena;
    struct task_spec spec;
    arena_init(&arena);
    query_task_spec(core, task->id, &arena, &spec);
    must(spec.depends_count <= 8 * sizeof task->depends_met); /* one bit for each dependency */
    for (uint32_t i = 0; i < spec.depends_count && ret->blocker_count < EXPLAIN_NODES_MAX; i++) {
        task_id other = {spec.depends_on[i]};
        if ((task->depends_met >> i & 1) == 0 && !blocks_already(ret, other)) {
            ret->blockers[ret->blocker_count++] = other;
        }
    }
    arena_done(&arena);
    ret->reason.code = REASON_DEPENDENCY;
    ret->reason.task = ret->blocker_count > 0 ? ret->blockers[0] : (task_id){0};
    ret->reason.need = task->depends_left;
}
