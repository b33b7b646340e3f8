/* core.h - the public interface of the core. The core is pure and deterministic: integers only, no clock, no
 * I/O, no threads, no randomness.
 *
 *   input ─core_decide─▶ facts ─core_apply─▶ state         (and store ─▶ disk)
 *                          └────core_react─▶ effects       (held until the facts are on disk)
 *
 * One input is one step. The facts of a step belong together and are stored in one commit. A decision sees
 * its own facts: the second report of a batch knows the first, and a failed task fails its dependents and
 * their dependents. The caller applies each fact in order and reacts to each fact. Facts borrow texts from
 * the input: the input must live as long as its facts are used.
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

/* A copy of the core. Core and copy share memory until one of them writes. A copy costs one pointer for each
 * few thousand rows. The copy may be used and freed on another thread. */
struct core *core_copy(const struct core *core);

/* Turns all caches off, for tests. Decisions are slower and the same. */
void core_caches_off(struct core *core);

/* Adds to `out` the facts that follow from an input, or refuses the input with out->refusal. Changes nothing
 * in the core. */
enum verdict core_decide(const struct core *core, const struct input *in, struct facts *out);

/* Applies one fact. Every fact that core_decide() made from the same state can be applied. query_seq() grows
 * by one. */
void core_apply(struct core *core, const struct fact *fact);

/* Adds the effects of a fact to `out`. Called right after core_apply() of the fact. */
void core_react(const struct core *core, const struct fact *fact, struct effects *out);

/* Adds all orders for a node that has connected: starts of attempts whose start was not reported yet, and
 * stops under way. An attempt that runs gets no order. The server itself reports an attempt that the node
 * should know and does not know (REPORT_UNKNOWN). */
void core_orders_for(const struct core *core, node_id node, struct effects *out);

/* A server has started: every order that its providers should have. Launches for what no provider
 * has answered yet, ends for what is to end; the providers know repeated ones by their numbers. */
void core_launch_orders(const struct core *core, struct effects *out);

/* Checks all invariants of the state and aborts on a breach. Call it between steps, not between the facts of
 * one step. */
void core_check(const struct core *core);
/* Checks the invariants that hold after each fact, and for every state that core_decode() accepts. */
void core_check_rows(const struct core *core);

/* The whole state as bytes (a snapshot), and back. Equal states have equal bytes, whatever facts led to them. */
void core_encode(const struct core *core, struct buf *out);
must_use enum err core_decode(struct str bytes, struct core **ret, struct error *e);

/* A pass over this pool was just decided and gave no facts. The pool is not due until something changes. */
void core_pass_idle(struct core *core, pool_id pool);
