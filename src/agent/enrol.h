/* enrol.h - the server's address, and the node's credential. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "base/arena.h"
#include "base/fail.h"
#include "core/model/spec.h"

#include <time.h>

/* The server's address: --server, or D/server.url when the file is younger than `started` or there
 * is no --server. Read before every connection, because the server may have moved. */
must_use enum err enrol_url(const struct agent_options *options, struct timespec started,
                            struct arena *arena, const char **ret, struct error *e);

/* The node's credential from D/credential. Where the file is gone and `known` is not NULL, `known` is
 * the credential and the file is written anew. Else, and where the node has no certificate to show to a server with TLS, joins with the
 * join token and stores the credential. ERR_DENIED: there is no join token, or the server refuses the token; trying again
 * cannot help. */
must_use enum err enrol_credential(const struct agent_options *options,
                                   const struct node_spec *node, const char *url, const char *known,
                                   struct arena *arena, const char **ret, struct error *e);

/* Writes D/credential anew, and logs that. */
void enrol_restore(const struct agent_options *options, const char *credential);

/* Drops the stored credential, because the server no longer knows it. The next connection joins
 * anew. */
void enrol_forget(const struct agent_options *options);

/* The highest epoch that a server has shown this node, kept in D/epoch. */
uint64_t enrol_epoch(const char *dir);
void enrol_epoch_set(const char *dir, uint64_t epoch);
