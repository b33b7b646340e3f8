/* inert.h - text that a terminal shows and does not obey. Names, files, messages of other machines and
 * everything that a person typed pass through here on their way to a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"

/* Appends text with everything that a terminal would obey made visible: \n, \t, \x1b, \u202e. A
 * byte that is not UTF-8 becomes \xNN. What was made visible once stays as it is. */
void inert_add(struct buf *out, struct str text);

/* Like inert_add(), and lines stay lines. */
void inert_add_lines(struct buf *out, struct str text);

/* Prints "weir sim: text" on standard error, for a program that ends with this error. */
void inert_print_error(const char *who, const struct error *e);
