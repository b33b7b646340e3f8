/* crc32c.h - the checksum of log records and snapshots (Castagnoli). Finds damage, not forgery.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The checksum of `len` more bytes behind those that gave `crc`; start with 0. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);
