/* json_out.h - writes JSON into a buffer. Commas and quoting are done here, and nesting is checked.
 *
 *   struct json_out j; json_out_init(&j, &buf);
 *   json_out_object(&j); json_out_key(&j, "id"); json_out_u64(&j, 7); json_out_end(&j); {"id":7}
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { JSON_OUT_DEPTH_MAX = 32 };

struct json_out {
    struct buf *out;
    unsigned depth;
    bool after_key;
    bool in_array[JSON_OUT_DEPTH_MAX];
    bool not_first[JSON_OUT_DEPTH_MAX];
};

void json_out_init(struct json_out *j, struct buf *out);

void json_out_object(struct json_out *j);
void json_out_array(struct json_out *j);
void json_out_end(struct json_out *j); /* closes the innermost object or array */

void json_out_key(struct json_out *j, const char *key);
void json_out_key_str(struct json_out *j, struct str key);

void json_out_str(struct json_out *j, struct str text); /* bytes that are not UTF-8 become U+FFFD */
void json_out_text(struct json_out *j, const char *text); /* NULL is written as null */
void json_out_u64(struct json_out *j, uint64_t value);
void json_out_i64(struct json_out *j, int64_t value);
void json_out_bool(struct json_out *j, bool value);
void json_out_null(struct json_out *j);

/* Inserts text that is valid JSON already. */
void json_out_raw(struct json_out *j, struct str json);

/* Writes thousandths as a decimal number: 1500 -> 1.5, 2000 -> 2. */
void json_out_milli(struct json_out *j, int64_t milli);

/* Writes a moment in milliseconds since 1970 as a string (base/time_text.h); 0 is written as null. */
void json_out_time(struct json_out *j, int64_t ms);

/* Each writes key and value in one call. */
void json_out_kv_text(struct json_out *j, const char *key, const char *text);
void json_out_kv_u64(struct json_out *j, const char *key, uint64_t value);
void json_out_kv_i64(struct json_out *j, const char *key, int64_t value);
void json_out_kv_bool(struct json_out *j, const char *key, bool value);
void json_out_kv_milli(struct json_out *j, const char *key, int64_t milli);
void json_out_kv_time(struct json_out *j, const char *key, int64_t ms);

/* Writes several keys and values by the shape of the JSON:
 *
 *   json_out_put(&j, "{id:%lu,slots:{free:%.3ld},tags:[", id, milli); {"id":7,"slots":{"free":1.5},"tags":[
 *
 * A word is a key. Brackets may stay open: the next call goes on where this one ends, also behind
 * a key. The compiler checks the values, because each has the letters of printf():
 *
 *   %s                text; NULL is null                %i    bool
 *   %u %lu %d %ld     number                            %zu   number; 0 is written as null
 *   %.3ld             thousandths: json_out_milli()     %td   moment: json_out_time()
 *
 * Where the code chooses between a text and NULL, use json_out_kv_text(): gcc warns of a NULL for %s. */
void json_out_put(struct json_out *j, const char *shape, ...) __attribute__((format(printf, 2, 3)));
