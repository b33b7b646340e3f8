/* peers.h - other systems' decision cases, tried against Weir. A translator turns one case into the inputs that Weir's own code
 * takes and compares what comes out; it decides nothing itself.
 *
 * A kind of case is one function; one file per kind. To add a kind: write its function, name it in the table of peers.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"

enum outcome { CASE_PASSED, CASE_FAILED, CASE_SKIPPED };

/* One case while it is tried. */
struct trial {
    struct arena *arena;
    const struct doc *group; /* what the cases of this kind share, or NULL */
    const struct doc *test;  /* the case itself */
    bool eager;              /* try it although the scheduler lacks what it needs */
    struct error why;        /* when it failed or was skipped */
};

typedef enum outcome (*peer_fn)(struct trial *trial);

/* The case went otherwise than expected; says how. */
enum outcome trial_failed(struct trial *trial, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The case needs something that cannot be expressed yet; says what. */
enum outcome trial_skipped(struct trial *trial, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum outcome kai_action(struct trial *trial);
enum outcome kai_capacity(struct trial *trial);
enum outcome kai_order(struct trial *trial);
enum outcome kai_reclaim(struct trial *trial);
enum outcome kai_runtime(struct trial *trial);
enum outcome kai_share(struct trial *trial);

enum outcome det_compare(struct trial *trial);
enum outcome det_fit(struct trial *trial);
enum outcome det_move(struct trial *trial);
enum outcome det_order(struct trial *trial);
enum outcome det_schedule(struct trial *trial);
enum outcome det_score(struct trial *trial);
enum outcome det_stats_filter(struct trial *trial);
enum outcome det_summary(struct trial *trial);
