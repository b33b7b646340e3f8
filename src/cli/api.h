/* api.h - calls of the server's API. The answer is a document, or an error with the server's own
 * words. A changing call carries an idempotency key and survives a restart of the server.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/doc.h"
#include "cli/context.h"

enum { API_RIDE_MS = 30000, API_KEY_MAX = 40 };

struct api_reply {
    struct str body;
    struct doc *doc; /* NULL when the answer has no body */
};

/* Finds the login and makes the client. ERR_UNREACHABLE: there is no login. */
must_use enum err api_open(struct cli *cli, struct error *e);

/* GET /api/v1<path>, of the moment of --at where there is one. Fails at once when the server cannot be reached. */
must_use enum err api_get(struct cli *cli, struct arena *arena, const char *path,
                          struct api_reply *ret, struct error *e);

/* Like api_get(), but waits for a server that restarts. */
must_use enum err api_get_patient(struct cli *cli, struct arena *arena, const char *path,
                                  struct api_reply *ret, struct error *e);

/* POST, PATCH or DELETE with a new idempotency key. Waits up to --retry for a server that cannot
 * be reached, and tells the user so. */
must_use enum err api_change(struct cli *cli, struct arena *arena, const char *method,
                             const char *path, struct str body, struct api_reply *ret,
                             struct error *e);

/* Waits up to `ride_ms` for the server, after a stream broke off or could not be opened. */
must_use enum err api_await(struct cli *cli, int64_t ride_ms, const volatile int *stop,
                            struct error *e);

/* Turns an answer into an error: the code from the status, the text from {"error":{…}}. */
enum err api_refusal(unsigned status, struct str body, struct error *e);

/* Percent-encodes a path segment or the value of a query. */
const char *api_escape(struct arena *arena, const char *text);

/* Writes 32 random hexadecimal digits. */
void api_key(char *out);
