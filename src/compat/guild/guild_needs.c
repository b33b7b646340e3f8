/* guild_needs.c - see guild_needs.h. A number is written out as Python and PyYAML write it, because log lines show amounts so.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/guild/guild_needs.h"

#include "base/buf.h"
#include "compat/guild/guild_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 17, NUMBER_LEN_MAX = 64, FIXED_EXPONENT_MAX = 16, FIXED_EXPONENT_MIN = -4 };

/* Only signs, digits and a point: Python's int(), without its underscores and colons, which Guild keeps as text. */
static bool is_whole(const char *text)
{
    text += *text == '+' || *text == '-' ? 1 : 0;
    return *text != '\0' && strspn(text, "0123456789") == strlen(text);
}

static bool is_hex(const char *text)
{
    return text[0] == '0' && text[1] == 'x' && text[2] != '\0' &&
           strspn(text + 2, "0123456789abcdefABCDEF") == strlen(text + 2);
}

/* Does Python's float() take the text? strtod() alone takes also hexadecimal numbers. */
static bool is_float(const char *text, double *ret)
{
    char *end;
    if (*text == '\0' || strpbrk(text, "xXpP_:()") != NULL ||
        strchr(" \t\n\v\f\r", *text) != NULL) {
        return false;
    }
    *ret = strtod(text, &end);
    return *end == '\0';
}

/* The shortest digits that read back as the same number, in the form that PyYAML gives them. */
static const char *float_text(double value, struct arena *arena)
{
    char digits[NUMBER_LEN_MAX];
    if (isinf(value)) {
        return ".inf";
    }
    for (int n = 1; n <= DIGITS_MAX; n++) {
        (void)snprintf(digits, sizeof digits, "%.*e", n - 1, value);
        if (strtod(digits, NULL) == value) {
            break;
        }
    }
    const char *e = strchr(digits, 'e');
    const int exponent = e == NULL ? 0 : (int)strtol(e + 1, NULL, 10);
    if (exponent >= FIXED_EXPONENT_MIN && exponent < FIXED_EXPONENT_MAX) {
        const int mantissa = (int)(e - digits) - (strchr(digits, '.') == NULL ? 1 : 2);
        const int places = mantissa - exponent;
        return arena_fmt(arena, "%.*f", places < 1 ? 1 : places, value);
    }
    const bool point = strchr(digits, '.') != NULL;
    return arena_fmt(arena, "%.*s%s%s", (int)(e - digits), digits, point ? "" : ".0", e);
}

static int64_t milli_of(double value)
{
    const double milli = ceil(value * 1000.0 - 1e-6);
    return milli >= (double)NEEDS_MILLI_MAX ? NEEDS_MILLI_MAX : (int64_t)milli;
}

static enum err amount_read(const char *text, struct arena *arena, struct guild_need *ret,
                            struct error *e)
{
    double value = 0;
    if (is_whole(text)) {
        const char *digits = text + strspn(text, "+-0");
        ret->shown = *digits == '\0' ? "0" : arena_str(arena, digits);
        value = strtod(text, NULL);
    } else if (is_hex(text)) {
        ret->shown = arena_fmt(arena, "%llu", strtoull(text, NULL, 16));
        value = (double)strtoull(text, NULL, 16);
    } else if (is_float(text, &value) && !isnan(value)) {
        ret->shown = float_text(value, arena);
    } else {
        return fail(e, ERR_INVALID, "%.64s=%.64s is not a number; 0 or more would do", ret->name,
                    text);
    }
    if (value < 0) {
        return fail(e, ERR_INVALID, "%.64s=%.64s is below 0; 0 or more would do", ret->name, text);
    }
    ret->milli = milli_of(value);
    return ERR_OK;
}

static enum err need_put(struct guild_needs *needs, const struct guild_need *need, struct error *e)
{
    size_t i = 0;
    while (i < needs->count && strcmp(needs->at[i].name, need->name) < 0) {
        i++;
    }
    if (i < needs->count && strcmp(needs->at[i].name, need->name) == 0) {
        needs->at[i] = *need;
        return ERR_OK;
    }
    if (needs->count == GUILD_NEEDS_MAX) {
        return fail(e, ERR_LIMIT, "more than %d resources are named", GUILD_NEEDS_MAX);
    }
    memmove(&needs->at[i + 1], &needs->at[i], (needs->count - i) * sizeof needs->at[0]);
    needs->at[i] = *need;
    needs->count++;
    return ERR_OK;
}

enum err guild_needs_add(struct guild_needs *needs, struct str text, struct arena *arena,
                         bool *ret_ignored, struct error *e)
{
    struct guild_words words;
    *ret_ignored = false;
    enum err r = guild_words_split(text, arena, &words, e);
    for (size_t i = 0; r == ERR_OK && i < words.count; i++) {
        struct str value;
        const struct str name = str_cut(words.at[i], '=', &value);
        if (name.len == 0 || name.len == words.at[i].len) {
            *ret_ignored = true; /* no `=`, or no name in front of it */
            continue;
        }
        struct guild_need need = {.name = arena_strn(arena, name.p, name.len)};
        r = amount_read(value.p, arena, &need, e);
        r = r == ERR_OK ? need_put(needs, &need, e) : r;
    }
    return r;
}

const struct guild_need *guild_needs_find(const struct guild_needs *needs, const char *name)
{
    for (size_t i = 0; i < needs->count; i++) {
        if (strcmp(needs->at[i].name, name) == 0) {
            return &needs->at[i];
        }
    }
    return NULL;
}

const char *guild_needs_text(const struct guild_needs *needs, struct arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < needs->count; i++) {
        text = arena_fmt(arena, "%s%s%s=%s", text, i == 0 ? "" : " ", needs->at[i].name,
                         needs->at[i].shown);
    }
    return text;
}
