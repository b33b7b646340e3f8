/* hash.h - one 64-bit hash for indices. The hash is not for secrets, and never decides an order.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The result is the same on every machine. */
uint64_t hash_bytes(const void *data, size_t len);
uint64_t hash_u64(uint64_t value);

/* A hash of whole 8-byte words (`len` is a multiple of 8). The result differs from hash_bytes(),
 * and is eight times as fast to compute. */
uint64_t hash_words(const void *data, size_t len);
