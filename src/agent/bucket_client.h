/* bucket_client.h - the buckets of a task, for `weir box`. The server holds the credentials of the store and signs each
 * request in advance; the bytes go between this node and the store. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/box.h"
#include "base/doc.h"
#include "core/model/ids.h"

struct bucket_client;

/* `path` is the server's interface that knows the task's buckets: "/qarnot". */
must_use enum err bucket_client_open(struct box *box, const struct attempt_key *key,
                                     const char *path, struct bucket_client **ret, struct error *e);
void bucket_client_close(struct bucket_client *client); /* NULL is allowed */

/* What the task wants of its buckets now (docs/dev/formats/node-buckets.md). The document is in the arena. */
must_use enum err bucket_client_orders(struct bucket_client *client, struct arena *arena,
                                       const struct doc **ret, struct error *e);

/* Tells the server what became of an order; `json` is a report of that format. */
must_use enum err bucket_client_report(struct bucket_client *client, struct str json,
                                       struct error *e);

/* Calls `each` for every object of the bucket whose key begins with the prefix, until one call fails. */
typedef enum err (*bucket_object_fn)(void *ctx, const char *key, uint64_t size, struct error *e);
must_use enum err bucket_client_list(struct bucket_client *client, const char *bucket,
                                     const char *prefix, bucket_object_fn each, void *ctx,
                                     struct error *e);

/* Writes the object to the file, or the file to an object. ERR_IO and ERR_UNREACHABLE have the store's own words. */
must_use enum err bucket_client_fetch(struct bucket_client *client, const char *bucket,
                                      const char *key, uint64_t size, int fd, struct error *e);
must_use enum err bucket_client_send(struct bucket_client *client, const char *bucket,
                                     const char *key, uint64_t size, int fd, struct error *e);
