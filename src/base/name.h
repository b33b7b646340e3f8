/* name.h - the names of resources, pools, nodes and accounts.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"

/* A resource, pool or node name: letters, digits, `-`, `_` and `.`, 1..63, starting with a letter
 * or digit. `what` names it. */
must_use enum err name_check(struct str name, const char *what, struct error *e);
