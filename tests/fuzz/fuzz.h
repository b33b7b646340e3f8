/* fuzz.h - what a fuzz target is: one function over bytes, for libFuzzer and for the plain replay
 * of the corpus. It returns 0 for every input; a broken assumption aborts.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
