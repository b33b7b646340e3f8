/* preview_internal.h - what the files of the preview share. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/preview.h"

/* A copy of the core in which the preview tries something. */
struct preview_try {
    struct core *copy;
    int64_t now_ms;
    uint64_t work_left;   /* units of work that the passes may still spend */
    struct preview *note; /* where the facts are noted; NULL: nowhere */
    bool later;           /* the stopped attempts have left: what starts now starts later */
};

/* Applies the facts, and notes which tasks they stop, end and start. */
void preview_facts(struct preview_try *try, const struct facts *facts);

/* Notes the machine that a fact launches or ends, before the fact is applied. */
void preview_launch_note(const struct preview_try *try, const struct fact *fact);

/* Handles the deadlines that have come. False: there are more than the preview looks at. */
bool preview_launch_ticks(struct preview_try *try);

/* Notes the machines that end as soon as their nodes have no work. Notes the tasks that are told to
 * stop when their node is replaced, or when the deadline of their node comes. */
void preview_leave(struct preview *preview, int64_t now_ms);

/* Notes that the instance is told to stop. `as` has the cause, and says whether the instance stops
 * now or later. */
void preview_stop_note(struct preview *preview, const struct instance *instance,
                       const struct preview_stop *as, int64_t now_ms);

/* Notes one machine that ends. */
void preview_launch_end_note(struct preview *preview, struct preview_machine_end end);

/* Runs the passes that are due. False: the work was spent before the last pass. */
bool preview_passes(struct preview_try *try);

/* Notes what starts once the stopped attempts have left. */
void preview_later(struct preview *preview, int64_t now_ms);

/* Looks for a running task whose end would let the waiting task start. */
void preview_later_first(const struct preview *preview, int64_t now_ms, struct preview_wait *wait);

/* Notes which tasks wait because of the inputs, and why. */
void preview_waits(struct preview *preview, const struct preview_ask *ask);
