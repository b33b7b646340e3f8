/* scenario_check.h - checks a whole scenario, and finds the place of its parts in the file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "sim/scenario.h"

/* Checks a sorted scenario for broken references: two nodes of one name, a department below
 * itself, a quota of an unknown project or in an unknown pool, a task after a task that does not
 * come before it. ERR_INVALID says what was found and where. */
must_use enum err scenario_check(const struct scenario *scenario, struct error *e);

/* Finds an item of a list in the scenario's file, by number or name; NULL: the item is not from
 * a file. */
const struct doc *scenario_check_item(const struct scenario *scenario, const char *list,
                                      size_t index);
const struct doc *scenario_check_item_named(const struct scenario *scenario, const char *list,
                                            const char *name);

/* Returns the value of a key, or the map itself if it has no such key. */
const struct doc *scenario_check_value(const struct doc *map, const char *key);

/* Puts "file:line:column: " before the text of `e`; nothing if `doc` is NULL. Returns
 * ERR_INVALID. */
enum err scenario_check_fail_in(const struct scenario *scenario, const struct doc *doc,
                                struct error *e);
