/* name.h - the names of resources, pools, nodes and accounts.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"

/* Checks the name of a resource, pool, node or account: 1 to 63 letters, digits, `-`, `_` and `.`,
 * the first a letter or digit. `what` says in the error what is named. */
must_use enum err name_check(struct str name, const char *what, struct error *e);

/* Compares names as people sort them: numbers inside count as numbers, n2 comes before n10. Names
 * that differ only in leading zeroes are equal. */
int name_order(const char *a, const char *b);
