/* http_url.h - the target of a request ("/tasks/7?follow=true") taken apart and decoded. Bytes come
 * from outside: anything may be in them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

#include <stddef.h>

struct http_param {
    const char *name;
    const char *value; /* "" when there is none */
};

struct http_url {
    const char *path; /* decoded */
    struct http_param *params;
    size_t param_count;
};

/* Decodes into the arena. ERR_INVALID for bytes no URL may have, broken escapes, NUL, or what is not
 * UTF-8 once decoded; ERR_LIMIT for more than `params_max` parameters. */
must_use enum err http_url_parse(const char *target, size_t params_max, struct arena *arena,
                                 struct http_url *ret, struct error *e);
