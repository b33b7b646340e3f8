/* peers.h - decision cases of other systems, tried against Weir.
 *
 * A translator turns one case into inputs of Weir's own code and compares the result. A
 * translator decides nothing itself. Each kind of case has one function, in a file of its own.
 * To add a kind, write its function and name it in the table of peers.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"

enum outcome { CASE_PASSED, CASE_FAILED, CASE_SKIPPED };

/* A case while it is tried. */
struct trial {
    struct arena *arena;
    const struct doc *group; /* what the cases of this kind share, or NULL */
    const struct doc *test;  /* the case itself */
    bool eager;              /* try the case although the scheduler lacks something that it needs */
    struct error why;        /* why the case failed or was skipped; of a passed case: a note */
};

typedef enum outcome (*peer_fn)(struct trial *trial);

/* The result differs from what the case expects. The text says how. */
enum outcome trial_failed(struct trial *trial, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The case needs something that Weir cannot express yet. The text says what. */
enum outcome trial_skipped(struct trial *trial, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The case itself has a fault that leaves nothing to compare. The text says which, and is printed
 * although the case passes. */
void trial_note(struct trial *trial, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum outcome kai_action(struct trial *trial);
enum outcome kai_capacity(struct trial *trial);
enum outcome kai_order(struct trial *trial);
enum outcome kai_reclaim(struct trial *trial);
enum outcome kai_runtime(struct trial *trial);
enum outcome kai_share(struct trial *trial);

enum outcome det_agent_slots(struct trial *trial);
enum outcome det_compare(struct trial *trial);
enum outcome det_config(struct trial *trial);
enum outcome det_desired(struct trial *trial);
enum outcome det_fit(struct trial *trial);
enum outcome det_launch(struct trial *trial);
enum outcome det_move(struct trial *trial);
enum outcome det_order(struct trial *trial);
enum outcome det_reconnect(struct trial *trial);
enum outcome det_routing(struct trial *trial);
enum outcome det_provision(struct trial *trial);
enum outcome det_scaling(struct trial *trial);
enum outcome det_schedule(struct trial *trial);
enum outcome det_score(struct trial *trial);
enum outcome det_states(struct trial *trial);
enum outcome det_stats_filter(struct trial *trial);
enum outcome det_sticky(struct trial *trial);
enum outcome det_summary(struct trial *trial);
enum outcome det_terminate(struct trial *trial);
