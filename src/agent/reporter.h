/* reporter.h - the thread that reads the spool and sends reports to the server.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "agent/inbox.h"
#include "agent/spool.h"

struct reporter;

struct reporter_options {
    const struct agent_options *options;
    const char *dir;
    struct spool_position acked; /* the server has every record before this position */
    struct mailbox *inbox;
};

must_use enum err reporter_new(const struct reporter_options *options, struct reporter **ret,
                               struct error *e);

/* Ends the thread. False: the thread did not end within two seconds, and its memory is not
 * freed. */
bool reporter_free(struct reporter *reporter);

struct reporter_session {
    const char *url;
    const char *credential;
    uint64_t epoch;
    uint32_t incarnation;
    uint64_t report_bytes; /* size of a batch at most */
};

/* The server has welcomed the agent. NULL: the connection has ended. The session is copied. */
void reporter_session(struct reporter *reporter, const struct reporter_session *session);

/* The spool has more records. */
void reporter_grown(struct reporter *reporter);

/* Asks for a batch, be it empty. */
void reporter_ping(struct reporter *reporter);

/* Reports an event that stands in no spool. `type` is AGENT_LOST or AGENT_REFUSED; `why` is a
 * constant text. */
void reporter_tell(struct reporter *reporter, enum agent_report_type type,
                   const struct attempt_key *key, const char *why);

/* Reports what an attempt uses, with the next batch that is sent anyway. A later figure replaces one
 * that was not sent. */
void reporter_use(struct reporter *reporter, const struct agent_report *use);

/* The supervisor died while these starts were under way. An attempt whose end the spool does not
 * tell is reported lost. INBOX_CROSSED follows when the spool has come to the next supervisor. */
void reporter_supervisor_died(struct reporter *reporter, const struct attempt_key *keys,
                              size_t count);
