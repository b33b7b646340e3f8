/* upload.c - see upload.h. SPDX-License-Identifier: Apache-2.0 */
#include "wire/upload.h"

#include <string.h>

bool upload_digest_check(const char *text)
{
    return strlen(text) == UPLOAD_DIGEST_LEN &&
           strspn(text, "0123456789abcdef") == UPLOAD_DIGEST_LEN;
}
