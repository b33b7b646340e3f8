/* name.h - the names of resources, pools, nodes and accounts.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"

/* Checks the name of a resource, pool, node or account: 1 to 63 letters, digits, `-`, `_` and `.`,
 * the first a letter or digit. `what` says in the error what is named. */
must_use enum err name_check(struct str name, const char *what, struct error *e);
