/* json_out.c - the JSON writer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"

#include "base/must.h"
#include "base/time_text.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <string.h>

void json_out_init(struct json_out *j, struct buf *out)
{
    *j = (struct json_out){.out = out};
}

/* Call before each value: writes the comma, and checks that an object's value has a key. */
static void value_begin(struct json_out *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->depth > 0) {
        must(j->in_array[j->depth - 1]);
        if (j->not_first[j->depth - 1]) {
            buf_add_char(j->out, ',');
        }
        j->not_first[j->depth - 1] = true;
    }
}

static void nest(struct json_out *j, bool array)
{
    value_begin(j);
    must(j->depth < JSON_OUT_DEPTH_MAX);
    j->in_array[j->depth] = array;
    j->not_first[j->depth] = false;
    j->depth++;
    buf_add_char(j->out, array ? '[' : '{');
}

void json_out_object(struct json_out *j)
{
    nest(j, false);
}

void json_out_array(struct json_out *j)
{
    nest(j, true);
}

void json_out_end(struct json_out *j)
{
    must(j->depth > 0);
    must(!j->after_key);
    j->depth--;
    buf_add_char(j->out, j->in_array[j->depth] ? ']' : '}');
}

static const char *escape_of(unsigned char c)
{
    switch (c) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        return NULL;
    }
}

/* The characters that stand in JSON as they are. Most texts have only such characters. */
static const bool is_plain[256] = {
    [' ' ... '"' - 1] = true, ['"' + 1 ... '\\' - 1] = true, ['\\' + 1 ... 0x7e] = true};

enum { EIGHT = sizeof(uint64_t) };

/* Copies eight characters. Returns false if one of them is not plain. For a byte below 0x80, the
 * highest bit of one of the five terms is set if the byte is below a blank, a quote, a backslash or
 * DEL. */
static bool eight_copy(char *to, const char *from)
{
    const uint64_t each = 0x0101010101010101U;
    uint64_t word;
    memcpy(&word, from, sizeof word);
    const uint64_t quote = word ^ (each * '"');
    const uint64_t backslash = word ^ (each * '\\');
    const uint64_t odd =
        word | (word - each * ' ') | (quote - each) | (backslash - each) | (word + each);
    memcpy(to, &word, sizeof word);
    return (odd & (each * 0x80)) == 0;
}

/* Copies a text. Returns false if a character is not plain. The last eight characters of a long text are
 * copied together, and overlap those before. */
static bool plain_copy(char *to, struct str text)
{
    size_t i = 0;
    if (text.len >= EIGHT) {
        for (; text.len - i > EIGHT; i += EIGHT) {
            if (!eight_copy(to + i, text.p + i)) {
                return false;
            }
        }
        return eight_copy(to + text.len - EIGHT, text.p + text.len - EIGHT);
    }
    for (; i < text.len; i++) {
        if (!is_plain[(unsigned char)text.p[i]]) {
            return false;
        }
        to[i] = text.p[i];
    }
    return true;
}

/* Writes a text that has only plain characters, which most texts are. False: the text has other
 * characters, or the buffer has no room, and the buffer is as it was. */
static bool plain_put(struct buf *out, struct str text)
{
    if (!buf_has_room(out, text.len + 2)) {
        return false;
    }
    char *to = out->data + out->len;
    if (!plain_copy(to + 1, text)) {
        *to = '\0'; /* the buffer ends here as before */
        return false;
    }
    to[0] = '"';
    to[text.len + 1] = '"';
    to[text.len + 2] = '\0';
    out->len += text.len + 2;
    return true;
}

static void quoted(struct buf *out, struct str text)
{
    if (plain_put(out, text)) {
        return;
    }
    buf_add_char(out, '"');
    size_t plain = 0; /* start of the text that is not yet written */
    size_t i = 0;
    while (i < text.len) {
        unsigned char c = (unsigned char)text.p[i];
        if (is_plain[c]) {
            i++;
            continue;
        }
        size_t step = c < 0x80 ? 1 : utf8_step(text.p + i, text.len - i);
        const char *escape = escape_of(c);
        if (step > 0 && escape == NULL && c >= 0x20 && c != 0x7f) {
            i += step;
            continue;
        }
        buf_add(out, text.p + plain, i - plain);
        if (step == 0) {
            buf_add_str(out, "\xef\xbf\xbd");
        } else if (escape != NULL) {
            buf_add_str(out, escape);
        } else {
            buf_addf(out, "\\u%04x", c);
        }
        i++;
        plain = i;
    }
    buf_add(out, text.p + plain, text.len - plain);
    buf_add_char(out, '"');
}

/* Call before each key: writes the comma, and checks that a key may stand here. */
static void key_begin(struct json_out *j)
{
    must(j->depth > 0);
    must(!j->in_array[j->depth - 1]);
    must(!j->after_key);
    if (j->not_first[j->depth - 1]) {
        buf_add_char(j->out, ',');
    }
    j->not_first[j->depth - 1] = true;
    j->after_key = true;
}

void json_out_key_str(struct json_out *j, struct str key)
{
    key_begin(j);
    quoted(j->out, key);
    buf_add_char(j->out, ':');
}

void json_out_key(struct json_out *j, const char *key)
{
    json_out_key_str(j, str_of(key));
}

void json_out_str(struct json_out *j, struct str text)
{
    value_begin(j);
    quoted(j->out, text);
}

void json_out_text(struct json_out *j, const char *text)
{
    if (text == NULL) {
        json_out_null(j);
    } else {
        json_out_str(j, str_of(text));
    }
}

static void digits(struct buf *out, uint64_t value)
{
    char text[STR_U64_MAX];
    buf_add(out, text, str_u64(text, value));
}

void json_out_u64(struct json_out *j, uint64_t value)
{
    value_begin(j);
    digits(j->out, value);
}

void json_out_i64(struct json_out *j, int64_t value)
{
    value_begin(j);
    if (value < 0) {
        buf_add_char(j->out, '-');
    }
    digits(j->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void json_out_milli(struct json_out *j, int64_t milli)
{
    value_begin(j);
    uint64_t magnitude = milli < 0 ? 0 - (uint64_t)milli : (uint64_t)milli;
    if (milli < 0) {
        buf_add_char(j->out, '-');
    }
    digits(j->out, magnitude / 1000);
    unsigned rest = (unsigned)(magnitude % 1000);
    if (rest > 0) {
        char text[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                        (char)('0' + rest % 10)};
        size_t len = rest % 10 != 0 ? 4 : rest % 100 != 0 ? 3 : 2;
        buf_add(j->out, text, len);
    }
}

void json_out_bool(struct json_out *j, bool value)
{
    value_begin(j);
    buf_add_str(j->out, value ? "true" : "false");
}

void json_out_null(struct json_out *j)
{
    value_begin(j);
    buf_add_str(j->out, "null");
}

void json_out_raw(struct json_out *j, struct str json)
{
    value_begin(j);
    buf_add(j->out, json.p, json.len);
}

void json_out_time(struct json_out *j, int64_t ms)
{
    char text[TIME_TEXT_MAX];
    if (ms == 0) {
        json_out_null(j);
        return;
    }
    time_text(ms, text);
    json_out_text(j, text);
}

void json_out_kv_text(struct json_out *j, const char *key, const char *text)
{
    json_out_key(j, key);
    json_out_text(j, text);
}

void json_out_kv_u64(struct json_out *j, const char *key, uint64_t value)
{
    json_out_key(j, key);
    json_out_u64(j, value);
}

void json_out_kv_i64(struct json_out *j, const char *key, int64_t value)
{
    json_out_key(j, key);
    json_out_i64(j, value);
}

void json_out_kv_bool(struct json_out *j, const char *key, bool value)
{
    json_out_key(j, key);
    json_out_bool(j, value);
}

void json_out_kv_milli(struct json_out *j, const char *key, int64_t milli)
{
    json_out_key(j, key);
    json_out_milli(j, milli);
}

void json_out_kv_time(struct json_out *j, const char *key, int64_t ms)
{
    json_out_key(j, key);
    json_out_time(j, ms);
}

static void u64_or_null(struct json_out *j, uint64_t value)
{
    if (value != 0) {
        json_out_u64(j, value);
    } else {
        json_out_null(j);
    }
}

/* Writes the value of one conversion, which begins behind `%`. Returns the end of the conversion. */
static const char *conversion_put(struct json_out *j, const char *at, va_list *values)
{
    switch (*at) {
    case 's':
        json_out_text(j, va_arg(*values, const char *));
        return at + 1;
    case 'i':
        json_out_bool(j, va_arg(*values, int) != 0);
        return at + 1;
    case 'u':
        json_out_u64(j, va_arg(*values, unsigned));
        return at + 1;
    case 'd':
        json_out_i64(j, va_arg(*values, int));
        return at + 1;
    case 'z':
        u64_or_null(j, va_arg(*values, uint64_t));
        return at + strlen("zu");
    case 't':
        json_out_time(j, va_arg(*values, int64_t));
        return at + strlen("td");
    case '.':
        json_out_milli(j, va_arg(*values, int64_t));
        return at + strlen(".3ld");
    default:
        must(*at == 'l');
        if (at[1] == 'u') {
            json_out_u64(j, va_arg(*values, uint64_t));
        } else {
            json_out_i64(j, va_arg(*values, int64_t));
        }
        return at + strlen("ld");
    }
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
}

/* Writes the key that the shape begins with. A word needs no escapes. Returns the end of the key. */
static const char *word_put(struct json_out *j, const char *shape)
{
    size_t len = 1;
    while (in_word(shape[len])) {
        len++;
    }
    key_begin(j);
    buf_add_char(j->out, '"');
    buf_add(j->out, shape, len);
    buf_add(j->out, "\":", 2);
    return shape + len;
}

void json_out_put(struct json_out *j, const char *shape, ...)
{
    va_list values;
    va_start(values, shape);
    while (*shape != '\0') {
        if (in_word(*shape)) {
            shape = word_put(j, shape);
        } else if (*shape == '%') {
            shape = conversion_put(j, shape + 1, &values);
        } else {
            const char mark = *shape++;
            if (mark == '{' || mark == '[') {
                nest(j, mark == '[');
            } else if (mark == '}' || mark == ']') {
                json_out_end(j);
            } else {
                must(mark == ':' || mark == ',');
            }
        }
    }
    va_end(values);
}
