/* relay.h - carries bytes between two descriptors, in both directions, on the loop. Each direction has
 * one bounded buffer: a reader that is slow stops the writer, and nothing is dropped.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"
#include "io/loop.h"

struct relay;

enum { RELAY_BYTES_MAX = 64 * 1024 }; /* of one direction */

struct relay_end {
    int fd;           /* does not block; stays the caller's */
    struct str early; /* bytes that were read from fd already; at most RELAY_BYTES_MAX; copied */
};

/* When one end closes, what it sent is still delivered to the other end, also where it left bytes of the
 * other end unread. Then ended(ctx) is called once; it may free the relay, and is not called inside
 * relay_new(). */
struct relay *relay_new(struct loop *loop, const struct relay_end ends[2], void (*ended)(void *ctx),
                        void *ctx);
void relay_free(struct relay *relay); /* NULL is allowed */

/* Bytes taken from this end so far, and the loop's time of the last byte of either end. */
uint64_t relay_bytes(const struct relay *relay, unsigned end);
int64_t relay_used_ms(const struct relay *relay);
