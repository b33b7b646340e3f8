/* fuzz.h - a fuzz target: one function over bytes, for libFuzzer and for the replay of the
 * corpus. The function returns 0 for every input; a broken assumption aborts.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
