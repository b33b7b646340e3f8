/* enrol.h - where the server is, and who we are to it. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "base/arena.h"
#include "base/fail.h"
#include "core/model/spec.h"

#include <time.h>

/* The server's address: --server, unless D/server.url is younger than `started` or there is no
 * --server. Looked up at every connection, because a server may come back elsewhere. */
must_use enum err enrol_url(const struct agent_options *options, struct timespec started,
                            struct arena *arena, const char **ret, struct error *e);

/* The node's own credential from D/credential, or by joining with the join token, then stored.
 * ERR_DENIED: there is no join token, or the server refuses it; trying again cannot help. */
must_use enum err enrol_credential(const struct agent_options *options,
                                   const struct node_spec *node, const char *url,
                                   struct arena *arena, const char **ret, struct error *e);

/* The server does not know the credential any more: join anew next time. */
void enrol_forget(const struct agent_options *options);

/* The highest epoch a server has shown us, kept in D/epoch. */
uint64_t enrol_epoch(const char *dir);
void enrol_epoch_set(const char *dir, uint64_t epoch);
