/* crc32c.h - the checksum of log records and snapshots (Castagnoli). The checksum finds damage, not
 * forgery. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Adds `len` bytes to the checksum `crc` of the bytes before them. Start with 0. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

/* The same without special instructions, for tests. */
uint32_t crc32c_by_tables(uint32_t crc, const void *data, size_t len);
