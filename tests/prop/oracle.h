/* oracle.h - the laws, judged by plain counting over all tasks and nodes, without any of the
 * scheduler's code.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ledger.h"

/* P1: the allocation of this attempt is within what its node has. */
void oracle_not_over(const struct core *core, struct attempt_key key);
/* Like oracle_not_over(), for large states. Uses the core's own list of instances on the node,
 * which core_check() compares with the rows. */
void oracle_not_over_listed(const struct core *core, struct attempt_key key);

/* P2: each gang that a pass starts has all its instances among the allocations of the pass. */
void oracle_gangs_whole(const struct core *core, const struct facts *facts);

/* P2: after a look at deadlines no gang has been below its minimum for longer than allowed. */
void oracle_gangs_in_time(const struct core *core, int64_t now_ms);

/* P4, P6: no account within its guarantee loses an instance to other accounts, and the figures
 * of an eviction are true. The claimant and every moved task get a promise in the same decision. */
void oracle_evictions(struct ledger *ledger, const struct core *core, const struct facts *facts);

/* P4, P6: a claimant that ends above its guarantee took nothing that would fit the guarantee of
 * the account that paid, beside what this account keeps. */
void oracle_floors(struct ledger *ledger, const struct core *core, const struct facts *facts);

/* P6: without arrivals no two tasks evict each other in turn, and an account that paid for a claim on surplus does not take the place back
 * by its guarantee. For histories of few tasks and accounts. */
enum { ORACLE_TURNS_TASKS = 64, ORACLE_TURNS_ACCOUNTS = 16 };
struct oracle_turns {
    bool took[ORACLE_TURNS_TASKS]
             [ORACLE_TURNS_TASKS]; /* [claimant][victim], since the last arrival */
    /* [claimant][account]: the account paid for the claimant by its share, and lost nothing by other rules since */
    bool paid[ORACLE_TURNS_TASKS][ORACLE_TURNS_ACCOUNTS];
};
void oracle_turns_forget(struct oracle_turns *turns);
void oracle_turns(struct oracle_turns *turns, const struct core *core, const struct facts *facts);

/* P6: no instance is evicted at the moment at which it started. */
void oracle_starts_last(const struct core *core, const struct facts *facts, int64_t now_ms);

/* P5: no queued task of the pool fits the places that are free and not kept. */
void oracle_nothing_idles(const struct ledger *ledger, pool_id pool, int64_t now_ms);

/* Returns the slots of a pool at rest that are surely idle because places are kept for holders, and for which the idle budget pays. 0
 * where time limits may prove starts, or where more than slots decides. */
int64_t oracle_kept_idle(const struct ledger *ledger, pool_id pool, int64_t now_ms);

/* P8: each waiting task has a reason. In the pool `settled` no reason is "next". */
void oracle_reasons(const struct core *core, pool_id settled);

/* All places of a task are in one pool; what finds no place in a full pool waits in its next pool, too. */
void oracle_fallback(const struct core *core, pool_id settled);

/* Check a checkpoint before and after it is applied: the attempt runs (P11), the time is within
 * the attempt, checkpoints are not too frequent, and all of a gang have the time. */
void oracle_may_save(const struct core *core, const struct fact *fact);
void oracle_has_saved(const struct core *core, const struct fact *fact);

/* What a trial counts for each account of the pool, now and later, is the sum of the rows. */
void oracle_tally(const struct ledger *ledger, pool_id pool);

/* P3: the start of this attempt took no account above its bounds. */
void oracle_limits(const struct ledger *ledger, struct attempt_key key);
/* Like oracle_limits(), for large states. Uses the core's own sums, which core_check() compares
 * with the rows. */
void oracle_limits_summed(const struct core *core, struct attempt_key key);

/* True when the two accounts have a common ancestor. */
bool oracle_related(const struct core *core, account_id a, account_id b);

/* True when the next chunks of two tasks of one project together exceed a bound of the project
 * or of an account above it. */
bool oracle_bounded_both(const struct ledger *ledger, const struct task *first,
                         uint32_t first_count, const struct task *task, uint32_t count);

/* Like oracle_bounded_both() for tasks of two projects: checks the accounts above both. */
bool oracle_bounded_beside(const struct ledger *ledger, const struct task *first,
                           uint32_t first_count, const struct task *task, uint32_t count);

/* True when `count` more instances on this node exceed a bound of the task's accounts. NULL:
 * without the cpu and memory that come with slots. */
bool oracle_bounded(const struct ledger *ledger, const struct task *task, const struct node *node,
                    uint32_t count);

/* Like oracle_bounded() for one more instance with this request. */
bool oracle_bounded_by(const struct ledger *ledger, const struct task *task,
                       const struct node *node, const struct request *request);

/* Returns the slots that one instance takes on this node. */
int64_t oracle_slots(const struct node *node, const struct request *request);

/* P9: true when the nodes of the pool, if empty, hold `count` instances of this request
 * together. True for a pool without nodes. */
bool oracle_possible(const struct core *core, pool_id pool, const struct request *request,
                     uint32_t count);

/* Return how many instances of a request, at most `count`, fit on the node: beside everything
 * held and promised, or on the empty node. */
uint32_t oracle_fits(const struct ledger *ledger, const struct node *node,
                     const struct request *request, uint32_t count);
uint32_t oracle_holds(const struct node *node, const struct request *request, uint32_t count);

/* True when the node may take work and is not kept for a holder ahead of the task. `task` may be
 * NULL. */
bool oracle_usable(const struct node *node, const struct core *core, const struct task *task);

/* Topology. Instances of a gang that one step starts are in one domain of the required level.
 * P5: no gang of `count` instances that may run fits a domain. P9: a gang that no domain can
 * ever hold is refused. */
void oracle_form_together(const struct core *core, const struct facts *facts);
void oracle_form_idles(const struct ledger *ledger, const struct task *task, uint32_t count);
void oracle_form_possible(const struct core *core, const struct fact *fact);
/* True when two nodes of one pool are in the same domain of this level. */
bool oracle_together(const struct core *core, const struct node *a, const struct node *b,
                     const char *level);

/* Gangs with groups (oracle_grouped). P2: a gang that has just started meets its minimums; a
 * running gang meets them or is broken. P5: no whole gang has a group that could get one more
 * instance. */
bool oracle_grouped(const struct core *core, const struct task *task);
void oracle_groups_whole(const struct core *core, const struct task *task);
bool oracle_groups_broken(const struct core *core, const struct task *task);
void oracle_groups_idle(const struct ledger *ledger, const struct task *task);
/* P9: of a task just submitted enough groups have instances that could run, each instance looked
 * at alone. */
void oracle_groups_possible(const struct core *core, const struct fact *fact);
