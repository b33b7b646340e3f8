/* item.h - reads values out of the API's objects, and writes documents as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/doc.h"
#include "base/json_out.h"

/* Returns the value at a path such as "nodes.up" below `doc`, or NULL. */
const struct doc *item_at(const struct doc *doc, const char *path);

/* Returns the value as text: a string without quotes, a number as written, true or false. "":
 * null, a list or a map. */
const char *item_text(const struct doc *doc, const char *path);

/* Returns the whole number at `path`, or `none`. */
int64_t item_number(const struct doc *doc, const char *path, int64_t none);

bool item_true(const struct doc *doc, const char *path);

/* Reads the time at `path` in milliseconds since 1970; false: there is none. */
bool item_time(const struct doc *doc, const char *path, int64_t *ret_ms);

/* Writes the document as JSON in one line. Numbers stay as they were written. */
void item_json(struct buf *out, const struct doc *doc);

/* Writes a member of a map, key and value, into an open object. With `plain_is_text` an unquoted
 * YAML scalar becomes a string; without, it becomes what it looks like. */
void item_json_field(struct json_out *j, const struct doc *doc, bool plain_is_text);

/* Compares two values: numbers by size, other values by their bytes. A missing value comes
 * first. */
int item_order(const struct doc *a, const struct doc *b);
