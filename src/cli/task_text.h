/* task_text.h - texts about one task object of the API.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/doc.h"

/* True when an attempt ran in the job directory, because the user of the task cannot enter the
 * task's working directory. */
bool task_text_workdir_missed(const struct doc *task);

/* Returns why the program could not be started; "": it was started, or the reason is not known
 * yet. */
const char *task_text_message(const struct doc *task);

/* True for the newest attempt of an instance, in the `attempts` of a task. */
bool task_text_newest(const struct doc *attempt);

/* Writes "evicted 12m ago for task 31 (project nlp, its guarantee)" from the `evicted` of a task or
 * from an event of the type `evicted`. `now_ms` 0: without the time. */
void task_text_evicted(struct buf *out, const struct doc *evicted, int64_t now_ms);

/* True for a task that waits, or of which an instance waits, because it was evicted. */
bool task_text_waits_again(const struct doc *task);

/* Cells of lists: the name, or else the command; "3 done, 2 running, 1 failed, 4 waiting"; why
 * the task waits; why the task waits or how it ended; the working directory. */
void task_text_name(struct buf *out, const struct doc *task, int64_t now_ms);
void task_text_counts(struct buf *out, const struct doc *task, int64_t now_ms);
/* How far the update is of which the task is a part; nothing where it is a part of none. */
void task_text_update(struct buf *out, const struct doc *task, int64_t now_ms);
void task_text_reason(struct buf *out, const struct doc *task, int64_t now_ms);
void task_text_detail(struct buf *out, const struct doc *task, int64_t now_ms);
void task_text_workdir(struct buf *out, const struct doc *task, int64_t now_ms);

/* The CPU time and the peak memory of a task or an attempt; nothing where nobody has said. */
void task_text_cpu(struct buf *out, const struct doc *used, int64_t now_ms);
/* What a running attempt uses of what it holds: "0.498 of 0.5 cpu, 60Mi of 100Mi memory". */
enum { TASK_USE_TEXT_MAX = 256 };
void task_text_use(struct buf *out, const struct doc *attempt, int64_t now_ms);
void task_text_memory(struct buf *out, const struct doc *used, int64_t now_ms);

/* What its evictions have cost it: "1.5 slot-hours"; nothing where they cost nothing. */
void task_text_work_lost(struct buf *out, const struct doc *task, int64_t now_ms);
