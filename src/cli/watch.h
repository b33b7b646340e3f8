/* watch.h - "something changed": a thread that follows the event stream, across restarts of the
 * server, and wakes whoever shows the state. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"
#include "cli/login.h"

struct cli_watch;

/* Follows /events with this query ("task=12"; NULL: everything). The login must outlive it. */
struct cli_watch *watch_start(const struct login *login, const char *query);

/* Ends the thread (within a second). */
void watch_free(struct cli_watch *watch);

/* Waits until something changed, or for `timeout_ms`; true when something did. Bursts are answered
 * once: at most four times a second. */
bool watch_wait(struct cli_watch *watch, int timeout_ms);

/* Which objects were seen in which form. */
struct watch_seen;
struct watch_seen *watch_seen_new(void);
void watch_seen_free(struct watch_seen *seen);

/* Is this object new, or not as it was? Remembers it as it is now. */
bool watch_seen_changed(struct watch_seen *seen, const char *id, struct str form);
