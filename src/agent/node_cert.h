/* node_cert.h - the node's certificate and key (D/node.pem, mode 0600), and the authority that the
 * server must have (D/ca.pem). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "io/http_trust.h"

/* The credential and these files in memory, as they were when the server last took them. All threads of the agent share this. */
struct node_cert *node_cert_new(void);
void node_cert_free(struct node_cert *cert);

/* Writes a file anew that no longer is what the server took: the file is gone, cut, damaged, another node's or an older one. Logs that. */
void node_cert_hold(const struct agent_options *options);

/* Fails where D/node.pem has no certificate and key that a client could show. */
must_use enum err node_cert_check(const struct agent_options *options, struct error *e);

/* Call when the server has taken this credential. Keeps the credential and the present text of the files. */
void node_cert_taken(const struct agent_options *options, const char *credential);

/* Forgets the credential, so that its file is not written again. */
void node_cert_credential_drop(const struct agent_options *options);

/* What a client of this agent trusts and shows, as the files are now. Texts live in the arena. */
void node_cert_trust(const struct agent_options *options, struct arena *arena,
                     struct http_trust *ret);

/* Writes certificate and key as one file, whole or not at all. The server has just made the certificate. */
must_use enum err node_cert_store(const struct agent_options *options, const char *certificate,
                                  const char *key, struct error *e);

/* Asks the server for the next certificate and stores it. The key is new each time. */
must_use enum err node_cert_renew(const struct agent_options *options, const char *url,
                                  const char *credential, struct error *e);

/* After how long the certificate should be renewed: half of its life. 0: now; -1: there is none. */
int64_t node_cert_due_ms(const char *dir);
