/* body.h - reads small JSON bodies field by field. When the body is wrong, each function answers
 * the call with the path of the error and returns false. Unknown fields are refused by name.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "base/doc.h"

/* Reads the body as a JSON document. */
must_use bool body_read(struct call *call, const struct doc **ret);

/* Reads the body as an object that has no fields but these (NULL at the end). An empty body is an
 * empty object. */
must_use bool body_object(struct call *call, const char *const *fields, const struct doc **ret);

/* Read one field. A field that is absent or null leaves *ret as it was. */
must_use bool body_text(struct call *call, const struct doc *body, const char *field,
                        const char **ret); /* at most TEXT_LEN_MAX bytes */
must_use bool body_name(struct call *call, const struct doc *body, const char *field,
                        const char **ret); /* checked by name_check() */
must_use bool body_duration(struct call *call, const struct doc *body, const char *field,
                            int64_t *ret_ms); /* "2h", or seconds as a number */

/* True: the field is present and not null. */
bool body_has(const struct doc *body, const char *field);
