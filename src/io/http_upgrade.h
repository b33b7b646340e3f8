/* http_upgrade.h - a connection that leaves HTTP: after the answer 101 both sides send bytes as they
 * like. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"

struct http_request;
struct http_upgrade;

/* Called once. `fd` does not block and belongs to the server until http_upgrade_end(); `early` are bytes
 * that came behind the request's head and are borrowed. `upgrade` NULL: the client has left. */
typedef void (*http_upgraded_fn)(void *ctx, struct http_upgrade *upgrade, int fd, struct str early);

/* True: the client asks for this protocol ("Connection: Upgrade", "Upgrade: NAME"). */
bool http_upgrade_asked(const struct http_request *request, const char *protocol);

/* Answers 101 with the headers added so far. Ends the request like http_request_answer(): the next that
 * is heard of it is fn. */
void http_upgrade_answer(struct http_request *request, const char *protocol, http_upgraded_fn fn,
                         void *ctx);

/* Closes the connection. Every upgrade ends so, and before the server is freed. */
void http_upgrade_end(struct http_upgrade *upgrade);
