/* http_url.h - splits and decodes the target of a request ("/tasks/7?follow=true"). The bytes come
 * from outside, so any byte may occur. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

#include <stddef.h>

struct http_param {
    const char *name;
    const char *value; /* "" when the parameter has no value */
};

struct http_url {
    const char *path; /* decoded */
    struct http_param *params;
    size_t param_count;
};

/* Decodes into the arena. ERR_INVALID: bytes that no URL may have, a broken escape, NUL, or text
 * that is not UTF-8 once decoded. ERR_LIMIT: more than `params_max` parameters. */
must_use enum err http_url_parse(const char *target, size_t params_max, struct arena *arena,
                                 struct http_url *ret, struct error *e);
