/* core.h - the brain: pure, deterministic, integer-only. No clock, no I/O, no threads, no
 * randomness.
 *
 *   input ─core_decide─▶ facts ─core_apply─▶ state         (and store ─▶ disk)
 *                          └────core_react─▶ effects       (held until the facts are on disk)
 *
 * One input is one step: its facts belong together and are stored in one commit. A decision sees its
 * own facts (the second report of a batch knows of the first; a failed task fails its dependents, and
 * theirs), so the caller has nothing to follow up: decide, apply and react each fact in order, done.
 * Facts borrow their texts from the input, which must live as long as they are used.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/effect.h"
#include "core/model/input.h"
#include "core/model/names.h"
#include "core/model/reason.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/query.h"

struct core *core_new(void);
void core_free(struct core *core);

/* Another core with the same state; shares memory until one of them writes. Cost: independent of
 * the number of tasks but for a pointer per few thousand. The copy may be used and freed on another
 * thread. */
struct core *core_copy(const struct core *core);

/* Indices and negative memory off: slower, same decisions. For tests. */
void core_caches_off(struct core *core);

/* What does this input change? Reads the state, changes nothing. */
enum verdict core_decide(const struct core *core, const struct input *in, struct facts *out);

/* Make it so. Total on what core_decide() produced; numbers the fact: query_seq() grows by one. */
void core_apply(struct core *core, const struct fact *fact);

/* What must the outside now do because of this fact? Called right after core_apply() of it. */
void core_react(const struct core *core, const struct fact *fact, struct effects *out);

/* A node has (re)connected: every order it should have. Starts for what it has not said to run,
 * stops for those under way; nothing for what runs. What it does not know although it should is for
 * the server to report (REPORT_UNKNOWN). */
void core_orders_for(const struct core *core, node_id node, struct effects *out);

/* Every invariant of the state, by number; aborts on a breach. Between steps, not between the facts
 * of one. */
void core_check(const struct core *core);
/* Those of them that hold after each fact, and for whatever core_decode() accepts. */
void core_check_rows(const struct core *core);

/* The whole state as bytes: a snapshot. Equal states give equal bytes, whichever road led there. */
void core_encode(const struct core *core, struct buf *out);
must_use enum err core_decode(struct str bytes, struct core **ret, struct error *e);

/* The pass just decided for this pool gave no facts: it is not due until something changes. */
void core_pass_idle(struct core *core, pool_id pool);
