/* resources_text.c - reads the short texts of the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/resources_text.h"

#include "base/amount.h"
#include "base/name.h"
#include "base/utf8.h"
#include "core/model/limits.h"

#include <string.h>

enum { SHOWN_MAX = 60, ARRAY_LAST_MAX = INT32_MAX };

static int shown(struct str text)
{
    return text.len < SHOWN_MAX ? (int)text.len : SHOWN_MAX;
}

static bool is_separator(char c)
{
    return c == ' ' || c == ',' || c == '\t' || c == '\n';
}

bool resources_text_cut(struct str *rest, struct str *ret)
{
    while (rest->len > 0 && is_separator(rest->p[0])) {
        rest->p++;
        rest->len--;
    }
    size_t len = 0;
    while (len < rest->len && !is_separator(rest->p[len])) {
        len++;
    }
    *ret = (struct str){rest->p, len};
    rest->p += len;
    rest->len -= len;
    return len > 0;
}

static bool named_has(const struct resources_text *texts, struct str name)
{
    for (uint32_t i = 0; i < texts->named_count; i++) {
        if (str_is(name, texts->named[i].name)) {
            return true;
        }
    }
    return false;
}

/* Returns the member for a well-known name; NULL: the name is that of a named resource. */
static int64_t *known_target(struct resources_text *texts, struct str name, bool *ret_bytes)
{
    *ret_bytes = str_is(name, "memory") || str_is(name, "gpu_memory");
    return str_is(name, "slots")        ? &texts->slots_milli
           : str_is(name, "gpu")        ? &texts->gpu_milli
           : str_is(name, "cpu")        ? &texts->cpu_milli
           : str_is(name, "memory")     ? &texts->memory_bytes
           : str_is(name, "gpu_memory") ? &texts->gpu_memory_bytes
                                        : NULL;
}

static enum err item_read(struct resources_text *texts, struct str item, uint32_t named_max,
                          struct arena *arena, struct error *e)
{
    struct str value;
    struct str name = str_cut(item, '=', &value);
    if (value.p == NULL) {
        return fail(e, ERR_INVALID, "an amount is missing; write it as %.*s=1", shown(item),
                    item.p);
    }
    enum err r = name_check(name, "a resource", e);
    if (r != ERR_OK) {
        return r;
    }
    bool bytes;
    int64_t *known = known_target(texts, name, &bytes);
    if (known != NULL ? *known != ASK_NOTHING : named_has(texts, name)) {
        return fail(e, ERR_INVALID, "the name '%.*s' comes twice", shown(name), name.p);
    }
    int64_t amount;
    r = bytes ? amount_bytes(value, &amount, e) : amount_milli(value, &amount, e);
    if (r != ERR_OK) {
        return r;
    }
    if (known != NULL) {
        *known = amount;
        return ERR_OK;
    }
    if (texts->named_count == named_max) {
        return fail(e, ERR_INVALID, "more than %u named resources", named_max);
    }
    texts->named[texts->named_count++] =
        (struct named_amount){arena_strn(arena, name.p, name.len), amount};
    return ERR_OK;
}

enum err resources_text_parse(struct str text, uint32_t named_max, struct arena *arena,
                              struct resources_text *ret, struct error *e)
{
    struct resources_text texts = {
        .slots_milli = ASK_NOTHING,
        .gpu_milli = ASK_NOTHING,
        .cpu_milli = ASK_NOTHING,
        .memory_bytes = ASK_NOTHING,
        .gpu_memory_bytes = ASK_NOTHING,
        .named = arena_new(arena, struct named_amount, named_max),
    };
    struct str rest = text;
    struct str item;
    while (resources_text_cut(&rest, &item)) {
        if (item_read(&texts, item, named_max, arena, e) != ERR_OK) {
            return fail_in(e, "resources '%.*s'", shown(item), item.p);
        }
    }
    *ret = texts;
    return ERR_OK;
}

enum err resources_text_array(struct str text, uint32_t *ret_first, uint32_t *ret_count,
                              struct error *e)
{
    struct str rest;
    struct str head = str_cut(text, '-', &rest);
    uint64_t first;
    uint64_t last;
    bool good = str_to_u64(head, &first) && str_to_u64(rest.p != NULL ? rest : head, &last);
    if (!good || first > last || last > ARRAY_LAST_MAX) {
        return fail(e, ERR_INVALID, "an array is a range like 0-99, not '%.*s'", shown(text),
                    text.p);
    }
    if (last - first >= TASK_INSTANCES_MAX) {
        return fail(e, ERR_INVALID, "an array has at most %d instances, not %llu",
                    TASK_INSTANCES_MAX, (unsigned long long)(last - first + 1));
    }
    *ret_first = (uint32_t)first;
    *ret_count = (uint32_t)(last - first + 1);
    return ERR_OK;
}

enum err resources_text_env_name(struct str name, struct error *e)
{
    bool good = name.len > 0;
    for (size_t i = 0; i < name.len && good; i++) {
        unsigned char c = (unsigned char)name.p[i];
        good = c >= 0x20 && c != 0x7f && c != '=';
    }
    if (!good) {
        return fail(e, ERR_INVALID,
                    "the name of an environment variable is not empty and has no '=' and no "
                    "control characters, not '%.*s'",
                    shown(name), name.p);
    }
    return ERR_OK;
}

enum err resources_text_label_check(struct str key, struct str value, struct error *e)
{
    bool good = key.len > 0 && key.len <= TEXT_LEN_MAX;
    for (size_t i = 0; i < key.len && good; i++) {
        char c = key.p[i];
        bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        good = alnum || (i > 0 && (c == '-' || c == '_' || c == '.' || c == '/'));
    }
    if (!good) {
        return fail(e, ERR_INVALID,
                    "a label's key has 1 to %d letters, digits, '-', '_', '.' and '/', not '%.*s'",
                    TEXT_LEN_MAX, shown(key), key.p);
    }
    if (value.len > TEXT_LEN_MAX || !utf8_valid(value.p, value.len) ||
        (value.len > 0 && memchr(value.p, '\n', value.len) != NULL)) {
        return fail(e, ERR_INVALID, "the value of label '%.*s' is one line of at most %d bytes",
                    shown(key), key.p, TEXT_LEN_MAX);
    }
    return ERR_OK;
}

enum err resources_text_label(struct str text, struct arena *arena, struct label *ret,
                              struct error *e)
{
    struct str value;
    struct str key = str_cut(text, '=', &value);
    if (value.p == NULL) {
        return fail(e, ERR_INVALID, "a label is written key=value, not '%.*s'", shown(text),
                    text.p);
    }
    enum err r = resources_text_label_check(key, value, e);
    if (r != ERR_OK) {
        return r;
    }
    *ret = (struct label){arena_strn(arena, key.p, key.len), arena_strn(arena, value.p, value.len)};
    return ERR_OK;
}
