/* reporter.h - the thread that reads the spool and ships it to the server.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/inbox.h"
#include "agent/spool.h"

struct reporter;

struct reporter_options {
    const char *dir;
    struct spool_position acked; /* what the server has already */
    struct mailbox *inbox;
};

must_use enum err reporter_new(const struct reporter_options *options, struct reporter **ret,
                               struct error *e);

/* Ends the thread; false: it did not end within two seconds, and its memory is left alone. */
bool reporter_free(struct reporter *reporter);

struct reporter_session {
    const char *url;
    const char *credential;
    uint64_t epoch;
    uint32_t incarnation;
    uint64_t report_bytes; /* a batch's size at most */
};

/* The server has welcomed us; NULL: the connection is over. Copied. */
void reporter_session(struct reporter *reporter, const struct reporter_session *session);

/* The spool has more. */
void reporter_grown(struct reporter *reporter);

/* Send a batch, if only an empty one. */
void reporter_ping(struct reporter *reporter);

/* `type` is AGENT_LOST or AGENT_REFUSED; `why` a constant. */
void reporter_tell(struct reporter *reporter, enum agent_report_type type,
                   const struct attempt_key *key, const char *why);

/* The supervisor died with these orders under way: should its spool not tell of them, they are
 * lost. INBOX_CROSSED follows when the spool has come to the next supervisor. */
void reporter_supervisor_died(struct reporter *reporter, const struct attempt_key *keys,
                              size_t count);
