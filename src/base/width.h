/* width.h - how many columns of a terminal a text takes. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"

/* Returns the columns that UTF-8 text takes. A byte that is not UTF-8 counts as 1. */
size_t width_of(struct str text);

/* Returns the length in bytes of the longest beginning that takes at most `columns`. */
size_t width_fit(struct str text, size_t columns);
