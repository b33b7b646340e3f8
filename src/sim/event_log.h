/* event_log.h - the events of a run, line by line, for people and for scenario tests.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "sim/engine.h"

struct event_log;

/* Writes lines to `out`. With `why` also writes the reason of each wait when the reason changes. */
struct event_log *event_log_new(struct buf *out, bool why);
void event_log_free(struct event_log *event_log);
void event_log_freep(struct event_log **event_log);

struct watcher event_log_watcher(struct event_log *event_log);
