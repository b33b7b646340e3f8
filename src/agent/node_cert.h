/* node_cert.h - the node's certificate and key (D/node.pem, mode 0600), and the authority that the
 * server must have (D/ca.pem). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "io/http_trust.h"

/* What a client of this agent trusts and shows, as the files are now. Texts live in the arena. */
void node_cert_trust(const struct agent_options *options, struct arena *arena,
                     struct http_trust *ret);

/* Writes certificate and key as one file, whole or not at all. */
must_use enum err node_cert_store(const char *dir, const char *certificate, const char *key,
                                  struct error *e);

/* Asks the server for the next certificate and stores it. The key is new each time. */
must_use enum err node_cert_renew(const struct agent_options *options, const char *url,
                                  const char *credential, struct error *e);

/* After how long the certificate should be renewed: half of its life. 0: now; -1: there is none. */
int64_t node_cert_due_ms(const char *dir);
