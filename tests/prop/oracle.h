/* oracle.h - the laws, judged by plain counting over all tasks and nodes, with none of the
 * scheduler's code. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ledger.h"

/* P1: what this attempt was just given is within what its node has. */
void oracle_not_over(const struct core *core, struct attempt_key key);
/* The same for large states: by the core's own list of what is on the node, which core_check() compares with the rows. */
void oracle_not_over_listed(const struct core *core, struct attempt_key key);

/* P2: each gang among the allocations of one pass is there with all its instances. */
void oracle_gangs_whole(const struct core *core, const struct facts *facts);

/* P2: no gang has been below its minimum for longer than it may, once deadlines were looked at. */
void oracle_gangs_in_time(const struct core *core, int64_t now_ms);

/* P4, P6: nobody within his guarantee is told to leave for others, by figures that are true; whoever takes is promised a place in the
 * same decision, and so is who is moved. */
void oracle_evictions(struct ledger *ledger, const struct core *core, const struct facts *facts);

/* P5: no queued task of the pool fits what is free and not kept. */
void oracle_nothing_idles(const struct ledger *ledger, pool_id pool, int64_t now_ms);

/* P8: each task that waits has a reason; none of the pool that a pass has settled is "next". */
void oracle_reasons(const struct core *core, pool_id settled);

/* A checkpoint, before it is applied and after: of an attempt that runs (P11), in its time, not too often; known of all of a gang. */
void oracle_may_save(const struct core *core, const struct fact *fact);
void oracle_has_saved(const struct core *core, const struct fact *fact);

/* P3: the start of this attempt took no account above its bounds. */
void oracle_limits(const struct ledger *ledger, struct attempt_key key);
/* The same for large states: by the core's own sums, which core_check() compares with the rows. */
void oracle_limits_summed(const struct core *core, struct attempt_key key);

/* Is there an account above both? */
bool oracle_related(const struct core *core, account_id a, account_id b);

/* Would the next instances of both, of one project, pass a bound of theirs? */
bool oracle_bounded_both(const struct ledger *ledger, const struct task *first,
                         uint32_t first_count, const struct task *task, uint32_t count);

/* The same of different projects, at the accounts above both. */
bool oracle_bounded_beside(const struct ledger *ledger, const struct task *first,
                           uint32_t first_count, const struct task *task, uint32_t count);

/* Would `count` more instances pass a bound of the task's accounts, started on this node (NULL: without what comes with slots)? */
bool oracle_bounded(const struct ledger *ledger, const struct task *task, const struct node *node,
                    uint32_t count);

/* The same for one more that asks for this. */
bool oracle_bounded_by(const struct ledger *ledger, const struct task *task,
                       const struct node *node, const struct request *request);

/* The slots of one instance on this node. */
int64_t oracle_slots(const struct node *node, const struct request *request);

/* P9: could the pool's nodes, empty, hold `count` instances of this request together? True for a
 * pool without nodes. */
bool oracle_possible(const struct core *core, pool_id pool, const struct request *request,
                     uint32_t count);

/* How many instances of a request, at most `count`, the node takes: beside what is there and promised; empty. */
uint32_t oracle_fits(const struct ledger *ledger, const struct node *node,
                     const struct request *request, uint32_t count);
uint32_t oracle_holds(const struct node *node, const struct request *request, uint32_t count);

/* May the node take work, and is it kept for nobody who comes before the task (or NULL)? */
bool oracle_usable(const struct node *node, const struct core *core, const struct task *task);

/* Topology. What one step starts of a gang is in one domain of the level it requires; P5: no gang of `count` instances that may run
 * fits one; P9: what none can ever hold is refused. */
void oracle_form_together(const struct core *core, const struct facts *facts);
void oracle_form_idles(const struct ledger *ledger, const struct task *task, uint32_t count);
void oracle_form_possible(const struct core *core, const struct fact *fact);
/* Are two nodes of one pool in one domain of this level? */
bool oracle_together(const struct core *core, const struct node *a, const struct node *b,
                     const char *level);

/* Gangs with groups (oracle_grouped). P2: one that was just started has what it needs; one of which a part runs has it, or is broken.
 * P5: none that is whole has a group that could have one more. */
bool oracle_grouped(const struct core *core, const struct task *task);
void oracle_groups_whole(const struct core *core, const struct task *task);
bool oracle_groups_broken(const struct core *core, const struct task *task);
void oracle_groups_idle(const struct ledger *ledger, const struct task *task);
/* P9: enough of the groups of a task just submitted have instances that could run, each alone. */
void oracle_groups_possible(const struct core *core, const struct fact *fact);
