/* upload.h - what client, server and agent know about uploads. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    UPLOAD_DIGEST_LEN = 64,             /* hexadecimal digits of a SHA-256 */
    UPLOAD_PIECE_MAX = 4 * 1024 * 1024, /* bytes sent at once */
};
#define UPLOAD_BYTES_MAX ((uint64_t)1 << 30) /* of one archive */

/* Is the text a digest as Weir writes it? */
bool upload_digest_check(const char *text);
