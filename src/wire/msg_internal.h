/* msg_internal.h - taking fields out of a decoded message. The first failure is remembered, later
 * calls then give zeroes, so that a decoder looks once, at the end.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"
#include "core/model/ids.h"

struct msg {
    struct arena *arena;
    struct error *error;
    bool bad;
};

/* Parses one JSON object into `*ret`. */
must_use enum err msg_parse(struct msg *msg, struct str text, struct arena *arena,
                            const struct doc **ret, struct error *e);

/* Notes that `key` is wrong. */
void msg_bad(struct msg *msg, const char *key, const char *wanted);

/* A whole number from 0 to `max`; `otherwise` when the field is missing. */
uint64_t msg_u64(struct msg *msg, const struct doc *map, const char *key, uint64_t max,
                 uint64_t otherwise);
int64_t msg_i64(struct msg *msg, const struct doc *map, const char *key, int64_t max,
                int64_t otherwise);

bool msg_bool(struct msg *msg, const struct doc *map, const char *key, bool otherwise);

/* An amount in thousandths, written as a decimal number. */
int64_t msg_milli(struct msg *msg, const struct doc *map, const char *key);

/* A text of at most `max` bytes; `otherwise` when the field is missing, NULL: it is required. */
const char *msg_text(struct msg *msg, const struct doc *map, const char *key, size_t max,
                     const char *otherwise);

/* A name as of name_check(). */
const char *msg_name(struct msg *msg, const struct doc *map, const char *key);

/* An attempt key; required. */
struct attempt_key msg_key(struct msg *msg, const struct doc *map);

/* A list of at most `max` items, or NULL when it is missing or empty. */
const struct doc *msg_list(struct msg *msg, const struct doc *map, const char *key, uint32_t max);

/* A list of at most `max` texts, NULL-terminated. */
const char *const *msg_texts(struct msg *msg, const struct doc *map, const char *key, uint32_t max,
                             uint32_t *ret_count);

/* A list of device indices as bits. */
uint64_t msg_devices(struct msg *msg, const struct doc *map, const char *key);

/* ERR_OK, or the code of the first failure. */
must_use enum err msg_result(const struct msg *msg);
