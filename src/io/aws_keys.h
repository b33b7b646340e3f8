/* aws_keys.h - credentials in the form of AWS's own tools, from a file that only its owner may read.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "io/sigv4.h"

/* Reads the section [default] of the file. The error says what is missing, never what is there. */
must_use enum err aws_keys_read(const char *path, struct arena *arena, struct sigv4_keys *ret,
                                struct error *e);

/* Can the keys stand in a request? */
must_use enum err aws_keys_check(const struct sigv4_keys *keys, struct error *e);
