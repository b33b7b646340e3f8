/* scenario_check.h - is a scenario whole? And where in its file something stands.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "sim/scenario.h"

/* A sorted scenario whose parts refer to each other: two nodes of one name, a department below itself, a quota of a project or in a
 * pool that is not there, a task after one that does not come before it. ERR_INVALID: what was found and where. */
must_use enum err scenario_check(const struct scenario *scenario, struct error *e);

/* An item of a list of the scenario's file, by its number or its name; NULL: it comes from elsewhere. */
const struct doc *scenario_check_item(const struct scenario *scenario, const char *list,
                                      size_t index);
const struct doc *scenario_check_item_named(const struct scenario *scenario, const char *list,
                                            const char *name);

/* The value of a key, or the map itself where there is none. */
const struct doc *scenario_check_value(const struct doc *map, const char *key);

/* Puts "file:line:column: " before the text of `e`; with NULL nothing. ERR_INVALID. */
enum err scenario_check_fail_in(const struct scenario *scenario, const struct doc *doc,
                                struct error *e);
