/* item.h - values out of the API's objects, and documents back to JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/doc.h"
#include "base/json_out.h"

/* The value at "nodes.up" below `doc`, or NULL. */
const struct doc *item_at(const struct doc *doc, const char *path);

/* As text: a string's own, a number as written, true or false; "" for null, lists and maps. */
const char *item_text(const struct doc *doc, const char *path);

/* A whole number at `path`, or `none`. */
int64_t item_number(const struct doc *doc, const char *path, int64_t none);

bool item_true(const struct doc *doc, const char *path);

/* A time at `path` in milliseconds since 1970; false when there is none. */
bool item_time(const struct doc *doc, const char *path, int64_t *ret_ms);

/* The document as JSON, in one line, its numbers as they were written. */
void item_json(struct buf *out, const struct doc *doc);

/* A map's member, key and value, into an open object. `plain_is_text`: an unquoted YAML scalar is a
 * string; else it is what it looks like. */
void item_json_field(struct json_out *j, const struct doc *doc, bool plain_is_text);

/* Appends a string as JSON. */
void item_json_text(struct buf *out, struct str text);

/* Order of two values: numbers by size, anything else by its bytes; nothing comes first. */
int item_order(const struct doc *a, const struct doc *b);
