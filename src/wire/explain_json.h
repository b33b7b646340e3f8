/* explain_json.h - why a task waits and why an instance was evicted, as in docs/api/objects.md.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/core.h"
#include "core/sched/explain/explain.h"

enum {
    SUGGESTIONS_MAX = 5,
    POSITION_MAX = 10000, /* positions further back are not counted */
};

/* Lists commands that would help this task, the most helpful first, in the arena. Returns how
 * many. */
uint32_t explain_json_suggestions(const struct core *core, task_id id,
                                  const struct explanation *why, struct arena *arena,
                                  const char *ret[SUGGESTIONS_MAX]);

/* Writes the answer to GET /tasks/{id}/explain at `now_ms`: what a proposal costs and whether it helps depends on the time. */
void explain_json(struct json_out *j, const struct core *core, const struct task *task,
                  int64_t now_ms, struct arena *arena);

/* Writes why an instance was evicted: "rule" into the open object. If another task took the place,
 * "claimant", "resource", "victim":{…} and "taker":{…} follow, with what both held at that time. */
void explain_json_eviction(struct json_out *j, const struct core *core, const struct eviction *why);

/* Appends the eviction as a sentence, without a full stop. */
void explain_json_eviction_text(const struct core *core, const struct eviction *why,
                                struct buf *out);

/* Writes "evicted":{…}, the last eviction of an instance of the task. null: there was none. */
void explain_json_evicted(struct json_out *j, const struct core *core, const struct task *task);
