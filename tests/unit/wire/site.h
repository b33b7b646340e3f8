/* site.h - a small state for tests of the encoders, built through core_decide() and core_apply().
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"
#include "base/json_out.h"
#include "core/core.h"

struct site {
    struct core *core;
    struct arena arena;
    struct buf out;
    struct json_out j;
    struct facts facts; /* facts of the last step */
    int64_t now_ms;
    void (*on_fact)(const struct fact *fact); /* called after each fact was applied; may be NULL */
};

/* Makes a started server with one node n1 of 2 slots and foo=7. */
void site_init(struct site *site);
void site_done(struct site *site);

/* Decides and applies. Returns the verdict. */
enum verdict site_step(struct site *site, struct input in);

/* Submits one task that runs `true` and requests this much foo (thousandths; 0: one slot). */
task_id site_submit(struct site *site, int64_t foo_milli);

/* Runs the scheduler on the default pool. */
void site_pass(struct site *site);

/* Reports about attempt 1 of instance 0, as its agent. */
void site_report(struct site *site, task_id task, enum report_type type, int32_t exit_code);

/* Returns what was written to site->out as a document, and clears site->out. */
const struct doc *site_written(struct site *site);

/* Returns the text at a path like "reason.code" of a document. The test fails if there is none. */
const char *text_at(const struct doc *doc, const char *path);

/* Returns the number, boolean or null at a path, as it is written. */
const char *value_at(const struct doc *doc, const char *path);
