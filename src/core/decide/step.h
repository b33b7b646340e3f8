/* step.h - one decision under way: the input, the facts so far, and the state as they leave it.
 *
 * Later parts of a decision must see what earlier parts decided (the second report of a batch may
 * end the same task; a failed task fails its dependents and theirs). step_state() gives that: the
 * core itself while no fact has been made, afterwards a scratch copy to which the facts are applied.
 * A copy is cheap but not free, so decisions whose facts need no second look do without it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/state/state.h"

struct step {
    const struct core *core;
    const struct input *in;
    struct facts *out;
    struct core *scratch; /* NULL: not needed yet */
    size_t applied;       /* facts that the scratch has seen */
    uint32_t settled;     /* dependents looked at: SETTLE_MAX a step, the rest by ticks */
};

/* The state after all facts so far, each of which must be filled in. Pointers into it are good until
 * the next call. */
const struct core *step_state(struct step *step);

/* A new fact; fill it in before the next call of any of these. */
struct fact *step_fact(struct step *step, enum fact_type type);

/* Say no: the reason to fill in further. All facts are taken back. */
struct reason *step_refuse(struct step *step, enum reason_code code, const char *text);

/* ---- decisions by input ---- */

enum verdict decide_server_start(struct step *step);
enum verdict decide_pool_create(struct step *step);
enum verdict decide_pool_edit(struct step *step);
enum verdict decide_pool_delete(struct step *step);
enum verdict decide_node_join(struct step *step);
enum verdict decide_node_silent(struct step *step);
enum verdict decide_node_lost(struct step *step);
enum verdict decide_node_edit(struct step *step);
enum verdict decide_node_remove(struct step *step);
enum verdict decide_submit(struct step *step);
enum verdict decide_task_start(struct step *step);
enum verdict decide_task_pause(struct step *step);
enum verdict decide_task_activate(struct step *step);
enum verdict decide_move(struct step *step);
enum verdict decide_task_kill(struct step *step);
enum verdict decide_edit(struct step *step);
enum verdict decide_report(struct step *step);
enum verdict decide_tick(struct step *step);
enum verdict decide_account_set(struct step *step);
enum verdict decide_account_delete(struct step *step);
enum verdict decide_account_quota(struct step *step);
enum verdict decide_adopt(struct step *step);

/* ---- shared by them ---- */

/* The attempt that a report names has come to its end, with all that follows: the rest of its gang,
 * its task, the tasks that depend on it. The attempt must be live. */
void settle_attempt(struct step *step, const struct report *report);

/* When it happened: the agent's word, as far as it is possible (neither before the attempt was
 * allocated or had started nor after now); now, where the agent did not see it happen. */
int64_t settle_report_ms(const struct step *step, const struct instance *instance,
                         const struct report *report);

/* Every attempt on a node is given up. */
void settle_node(struct step *step, node_id node);

/* A task without allocations ends, and its dependents are told; it is archived when all have been. */
void settle_task(struct step *step, task_id id, enum task_state state, enum end_cause cause,
                 int32_t exit_code);

/* Tell the active instances of a task to end, those under way for the same cause excepted; with
 * `running_only` also all others that are under way. */
void settle_stop(struct step *step, task_id id, enum end_cause cause, bool running_only);

/* Those that wait for an ended task go free or fail, and theirs, as far as this step may go; a task
 * for whom nobody waits any more is archived. */
void settle_dependents(struct step *step, task_id id);
enum { SETTLE_MAX = 1000 };

/* Does the pool take this kind; can the request ever run there (P9)? Else refused; `spec` (or NULL) says how its groups are called. */
enum verdict decide_submit_accepts(struct step *step, const struct pool *pool, enum task_kind kind);
enum verdict decide_submit_possible(struct step *step, const struct pool *pool,
                                    const struct request *request, uint32_t gang_size);
enum verdict decide_form_possible(struct step *step, const struct pool *pool,
                                  const struct form *form, const struct task_spec *spec);

/* The form of a task with topology or groups, resolved; NULL: it has neither. `request` becomes that of its first instance. */
enum verdict decide_form_resolve(struct step *step, const struct task_spec *spec,
                                 struct request *request, const struct form **ret);

/* A task that asks for more slots than any node of the pool has, and for nothing else, as a gang of one-slot instances (of equal
 * parts that fill a node each, where the pool says so); others as they are. `request` follows. */
const struct task_spec *decide_spread(struct step *step, const struct pool *pool,
                                      const struct task_spec *spec, struct request *request);
/* The refusal of such a task in the words of what was asked for, with the smallest change. */
void decide_spread_refused(struct step *step, const struct pool *pool, const struct task_spec *spec,
                           const struct request *request);

/* What an instance asks for, with names resolved; the project that a spec names. */
enum verdict decide_submit_request(struct step *step, const struct task_spec *spec,
                                   struct request *ret);
enum verdict decide_submit_project(struct step *step, const char *name, account_id *ret);
/* The nodes to avoid: ascending, each once. */
enum verdict decide_submit_avoid(struct step *step, const char *const *names, uint32_t count,
                                 struct request *ret);

/* The live task that the input names; else NULL and the verdict. */
const struct task *step_task(struct step *step, enum verdict *ret);
/* Not possible in this state. */
enum verdict step_wrong_state(struct step *step, enum task_state state);

/* A spec is over a limit: refused. */
enum verdict step_refuse_limit(struct step *step, const char *limit, int64_t max);

/* The exit code shown for what never ran because of a kill, for what Weir itself ended, and for
 * programs that could not be started. */
enum {
    EXIT_CODE_KILLED = 143,
    EXIT_CODE_WEIR = 125,
    EXIT_CODE_NOT_RUN = 126,
    EXIT_CODE_NOT_FOUND = 127
};
