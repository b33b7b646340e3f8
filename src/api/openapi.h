/* openapi.h - docs/api/openapi.yaml, which the build embeds in the program.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

extern const unsigned char openapi_text[];
extern const size_t openapi_text_len;
