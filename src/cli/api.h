/* api.h - calls of the server's API: the answer as a document, or an error with the server's own
 * words. Changing calls carry an idempotency key and ride through a restart of the server.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/doc.h"
#include "cli/context.h"

enum { API_RIDE_MS = 30000, API_KEY_MAX = 40 };

struct api_reply {
    struct str body;
    struct doc *doc; /* NULL when the answer has no body */
};

/* The address, for messages; asks for a login when there is none (ERR_UNREACHABLE). */
must_use enum err api_open(struct cli *cli, struct error *e);

/* GET /api/v1<path>; fails at once when the server is away. */
must_use enum err api_get(struct cli *cli, struct arena *arena, const char *path,
                          struct api_reply *ret, struct error *e);

/* The same, but waits for a server that restarts. */
must_use enum err api_get_patient(struct cli *cli, struct arena *arena, const char *path,
                                  struct api_reply *ret, struct error *e);

/* POST, PATCH, DELETE with a fresh idempotency key; waits up to --retry for a server that is away,
 * and says so. */
must_use enum err api_change(struct cli *cli, struct arena *arena, const char *method,
                             const char *path, struct str body, struct api_reply *ret,
                             struct error *e);

/* A stream broke off, or could not be opened: is the server there again within `ride_ms`? */
must_use enum err api_await(struct cli *cli, int64_t ride_ms, struct error *e);

/* The answer as an error: the code by status, the text by {"error":{…}}. */
enum err api_refusal(unsigned status, struct str body, struct error *e);

/* A path segment or query value, percent-encoded. */
const char *api_escape(struct arena *arena, const char *text);

/* 32 random hexadecimal digits. */
void api_key(char *out);
