/* hash.h - one 64-bit hash for indices. Not for secrets, and never the last word of an order.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The same on every machine. */
uint64_t hash_bytes(const void *data, size_t len);
uint64_t hash_u64(uint64_t value);

/* Of rows of whole 8-byte words (`len` is a multiple of 8): another number than hash_bytes(), eight times as fast. */
uint64_t hash_words(const void *data, size_t len);
