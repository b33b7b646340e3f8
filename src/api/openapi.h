/* openapi.h - docs/api/openapi.yaml, as the build puts it into the program.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

extern const unsigned char openapi_text[];
extern const size_t openapi_text_len;
