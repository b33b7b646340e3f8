/* task_text.h - what people read about one task object of the API.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/doc.h"

/* Did an attempt of it run in its job directory, because its user cannot enter the working directory
 * it was given? */
bool task_text_workdir_missed(const struct doc *task);

/* Why its program could not be started; "" where it could, or where that is not known yet. */
const char *task_text_message(const struct doc *task);

/* Cells of lists: its name, or else its command; its instances; why it waits or how it ended; where it was to run. */
void task_text_name(struct buf *out, const struct doc *task, int64_t now_ms);
void task_text_instances(struct buf *out, const struct doc *task, int64_t now_ms);
void task_text_detail(struct buf *out, const struct doc *task, int64_t now_ms);
void task_text_workdir(struct buf *out, const struct doc *task, int64_t now_ms);

/* The CPU time and the peak memory of a task or an attempt; nothing where nobody has said. */
void task_text_cpu(struct buf *out, const struct doc *used, int64_t now_ms);
void task_text_memory(struct buf *out, const struct doc *used, int64_t now_ms);

/* What its evictions have cost it: "1.5 slot-hours"; nothing where they cost nothing. */
void task_text_work_lost(struct buf *out, const struct doc *task, int64_t now_ms);
