/* body.h - small JSON bodies, field by field. Each function answers the call with the path and
 * returns false when something is wrong; unknown fields are refused by name.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "base/doc.h"

/* The body as a JSON document. */
must_use bool body_read(struct call *call, const struct doc **ret);

/* The body as an object that has none but these fields (NULL-terminated). An empty body is an empty
 * object. */
must_use bool body_object(struct call *call, const char *const *fields, const struct doc **ret);

/* A field that is absent or null leaves *ret as it was. */
must_use bool body_text(struct call *call, const struct doc *body, const char *field,
                        const char **ret); /* at most TEXT_LEN_MAX bytes */
must_use bool body_name(struct call *call, const struct doc *body, const char *field,
                        const char **ret); /* as name_check() */
must_use bool body_duration(struct call *call, const struct doc *body, const char *field,
                            int64_t *ret_ms); /* "2h", or seconds as a number */

/* The field is there and not null. */
bool body_has(const struct doc *body, const char *field);
