/* watch.h - "something changed": a thread that follows the event stream, across restarts of the
 * server, and wakes the code that shows the state.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"
#include "cli/login.h"

struct cli_watch;

/* Follows /events with this query ("task=12"; NULL: all events). The login must outlive the
 * watch. */
struct cli_watch *watch_start(const struct login *login, const char *query);

/* Ends the thread, which takes up to a second. */
void watch_free(struct cli_watch *watch);

/* Waits for a change or for `timeout_ms`; true: something changed. Changes in quick succession
 * are reported together, at most four times a second. */
bool watch_wait(struct cli_watch *watch, int timeout_ms);

/* Remembers the last form of each object. */
struct watch_seen;
struct watch_seen *watch_seen_new(void);
void watch_seen_free(struct watch_seen *seen);

/* True when the object is new or has changed. Remembers the present form. */
bool watch_seen_changed(struct watch_seen *seen, const char *id, struct str form);
