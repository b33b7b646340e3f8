/* http_status.c - see http_status.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/http_status.h"

#include "wire/reason_text.h"

unsigned http_status_of(enum err code)
{
    switch (code) {
    case ERR_OK:
        return 200;
    case ERR_USAGE:
    case ERR_INVALID:
    case ERR_LIMIT:
        return 400;
    case ERR_DENIED:
        return 403;
    case ERR_NOT_FOUND:
        return 404;
    case ERR_CONFLICT:
        return 409;
    case ERR_NEVER:
        return 422;
    case ERR_UNREACHABLE:
    case ERR_BUSY:
        return 503;
    case ERR_TIMEOUT:
        return 504;
    case ERR_IO:
    case ERR_CORRUPT:
    case ERR_INTERNAL:
        return 500;
    }
    return 500;
}

unsigned http_status_of_refusal(enum verdict verdict, const struct reason *reason)
{
    if (reason->code == REASON_KEY_REUSED) {
        return 422;
    }
    switch (verdict) {
    case VERDICT_NOT_FOUND:
        return 404;
    case VERDICT_CONFLICT:
        return 409;
    case VERDICT_REFUSED:
        return http_status_of(reason_text_err(reason->code));
    case VERDICT_OK:
    case VERDICT_REPEATED:
        break;
    }
    return 500;
}
