/* doc_json.c - reads RFC 8259 strictly: one value, no trailing commas, no comments, no duplicate
 * keys, valid UTF-8, paired surrogates.
 *
 * The text is copied into the arena once, and strings are unescaped in place (a string only gets
 * shorter); the closing quote becomes the NUL. The copy ends in a NUL, which no JSON token may
 * contain, so most loops need no other end. Surprising: a string with \u0000 is refused, because
 * all users of a document treat texts as C strings. SPDX-License-Identifier: Apache-2.0 */
#include "base/doc_internal.h"

#include "base/utf8.h"

#include <string.h>

struct json_reader {
    struct doc_builder builder;
    char *p;
    char *end;
    const char *line_start;
    unsigned line;
    unsigned line_tails; /* continuation bytes of UTF-8 characters in this line */
};

/* What item_read() has read. */
enum item { ITEM_WHOLE, ITEM_OPENED, ITEM_BAD };

static unsigned column_of(const struct json_reader *in, const char *p)
{
    return (unsigned)(p - in->line_start) + 1 - in->line_tails;
}

static enum err bad_at(struct json_reader *in, const char *p, const char *text)
{
    return doc_build_fail(&in->builder, in->line, column_of(in, p), text);
}

/* Fails because the text at the reading position is not what `wanted` says. */
static enum err bad(struct json_reader *in, const char *wanted)
{
    char text[96];
    unsigned char c = (unsigned char)*in->p;
    if (in->p == in->end) {
        (void)snprintf(text, sizeof text, "%s is wanted, not the end of the text", wanted);
    } else if (c > ' ' && c < 0x7f) {
        (void)snprintf(text, sizeof text, "%s is wanted, not '%c'", wanted, c);
    } else {
        (void)snprintf(text, sizeof text, "%s is wanted, not the byte 0x%02x", wanted, c);
    }
    return bad_at(in, in->p, text);
}

static void blanks_skip(struct json_reader *in)
{
    for (;; in->p++) {
        char c = *in->p;
        if (c == '\n') {
            in->line++;
            in->line_start = in->p + 1;
            in->line_tails = 0;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

/* Four hex digits at p, or -1. The NUL at the text's end stops the loop in time. */
static int32_t hex4(const char *p)
{
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = str_hex_digit(p[i]);
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

static char *utf8_put(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | (c >> 6));
        *out++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *out++ = (char)(0xe0 | (c >> 12));
        *out++ = (char)(0x80 | ((c >> 6) & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    } else {
        *out++ = (char)(0xf0 | (c >> 18));
        *out++ = (char)(0x80 | ((c >> 12) & 0x3f));
        *out++ = (char)(0x80 | ((c >> 6) & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    }
    return out;
}

/* Decodes \uXXXX, or a surrogate pair. *from is at the backslash and moves behind the escape. */
static const char *escape_unicode(const char **from, char **out)
{
    const char *p = *from + 2;
    int32_t c = hex4(p);
    if (c < 0) {
        return "four hex digits are wanted after \\u";
    }
    p += 4;
    if (c >= 0xdc00 && c <= 0xdfff) {
        return "a low surrogate without the high one before it";
    }
    if (c >= 0xd800 && c <= 0xdbff) {
        int32_t low = p[0] == '\\' && p[1] == 'u' ? hex4(p + 2) : -1;
        if (low < 0xdc00 || low > 0xdfff) {
            return "a high surrogate without the low one after it";
        }
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        p += 6;
    }
    if (c == 0) {
        return "a NUL character in a string is not possible";
    }
    *out = utf8_put(*out, (uint32_t)c);
    *from = p;
    return NULL;
}

static const char *escape_read(const char **from, char **out)
{
    char plain = '\0';
    switch ((*from)[1]) {
    case '"':
    case '\\':
    case '/':
        plain = (*from)[1];
        break;
    case 'b':
        plain = '\b';
        break;
    case 'f':
        plain = '\f';
        break;
    case 'n':
        plain = '\n';
        break;
    case 'r':
        plain = '\r';
        break;
    case 't':
        plain = '\t';
        break;
    case 'u':
        return escape_unicode(from, out);
    default:
        return "an unknown escape: \\ is followed by one of \" \\ / b f n r t u";
    }
    *(*out)++ = plain;
    *from += 2;
    return NULL;
}

/* Reads a string whose opening quote is at the reading position. */
static enum err string_read(struct json_reader *in, struct str *ret)
{
    char *start = in->p + 1;
    const char *from = start;
    char *out = start;
    for (;;) {
        unsigned char c = (unsigned char)*from;
        if (c == '"') {
            break;
        }
        if (c == '\\') {
            const char *wrong = escape_read(&from, &out);
            if (wrong != NULL) {
                return bad_at(in, from, wrong);
            }
        } else if (c >= 0x80) {
            size_t step = utf8_step(from, (size_t)(in->end - from));
            if (step == 0) {
                return bad_at(in, from, "not valid UTF-8");
            }
            memmove(out, from, step);
            in->line_tails += (unsigned)step - 1;
            out += step;
            from += step;
        } else if (c < 0x20) {
            return bad_at(in, from,
                          from == in->end ? "a string without its closing quote"
                                          : "a control character in a string; write it as \\u00XX");
        } else {
            *out++ = (char)c;
            from++;
        }
    }
    *out = '\0';
    *ret = (struct str){start, (size_t)(out - start)};
    in->p = start + (from - start) + 1;
    return ERR_OK;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *digits_skip(const char *p)
{
    while (is_digit(*p)) {
        p++;
    }
    return p;
}

/* The end of the number at p, or NULL: not a number. */
static const char *number_end(const char *p)
{
    if (*p == '-') {
        p++;
    }
    if (!is_digit(*p)) {
        return NULL;
    }
    p = *p == '0' ? p + 1 : digits_skip(p);
    if (*p == '.') {
        if (!is_digit(p[1])) {
            return NULL;
        }
        p = digits_skip(p + 1);
    }
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '+' || p[1] == '-' ? 2 : 1;
        if (!is_digit(*p)) {
            return NULL;
        }
        p = digits_skip(p);
    }
    return is_digit(*p) ? NULL : p; /* a digit here means a leading zero */
}

static enum item number_read(struct json_reader *in)
{
    const char *end = number_end(in->p);
    if (end == NULL) {
        (void)bad_at(in, in->p, "not a number as JSON writes them");
        return ITEM_BAD;
    }
    struct doc *doc = doc_build_add(&in->builder, DOC_NUMBER, in->line, column_of(in, in->p));
    if (doc == NULL) {
        return ITEM_BAD;
    }
    size_t len = (size_t)(end - in->p);
    doc->text = (struct str){arena_strn(in->builder.arena, in->p, len), len};
    in->p += len;
    return ITEM_WHOLE;
}

static enum item word_read(struct json_reader *in)
{
    static const struct {
        const char *word;
        enum doc_kind kind;
        bool yes;
    } words[] = {{"true", DOC_BOOL, true}, {"false", DOC_BOOL, false}, {"null", DOC_NULL, false}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t len = strlen(words[i].word);
        if (strncmp(in->p, words[i].word, len) == 0) {
            struct doc *doc =
                doc_build_add(&in->builder, words[i].kind, in->line, column_of(in, in->p));
            if (doc == NULL) {
                return ITEM_BAD;
            }
            doc->yes = words[i].yes;
            in->p += len;
            return ITEM_WHOLE;
        }
    }
    (void)bad(in, "a value");
    return ITEM_BAD;
}

static enum item text_read(struct json_reader *in)
{
    unsigned line = in->line;
    unsigned column = column_of(in, in->p);
    struct str text;
    if (string_read(in, &text) != ERR_OK) {
        return ITEM_BAD;
    }
    struct doc *doc = doc_build_add(&in->builder, DOC_STRING, line, column);
    if (doc == NULL) {
        return ITEM_BAD;
    }
    doc->quoted = true;
    doc->text = text;
    return ITEM_WHOLE;
}

/* Opens a list or map. An empty list or map is closed at once. */
static enum item container_read(struct json_reader *in, enum doc_kind kind, char closer)
{
    if (doc_build_open(&in->builder, kind, in->line, column_of(in, in->p)) == NULL) {
        return ITEM_BAD;
    }
    in->p++;
    blanks_skip(in);
    if (*in->p != closer) {
        return ITEM_OPENED;
    }
    in->p++;
    return doc_build_close(&in->builder) == ERR_OK ? ITEM_WHOLE : ITEM_BAD;
}

static enum item value_read(struct json_reader *in)
{
    switch (*in->p) {
    case '{':
        return container_read(in, DOC_MAP, '}');
    case '[':
        return container_read(in, DOC_LIST, ']');
    case '"':
        return text_read(in);
    case '-':
    case '0' ... '9':
        return number_read(in);
    default:
        return word_read(in);
    }
}

/* Reads one item of the innermost container (in a map with its key), or the text's only value. */
static enum item item_read(struct json_reader *in)
{
    const struct doc *top = doc_build_top(&in->builder);
    blanks_skip(in);
    if (top != NULL && top->kind == DOC_MAP) {
        if (*in->p != '"') {
            (void)bad(in, "a key in double quotes");
            return ITEM_BAD;
        }
        const unsigned line = in->line;
        const unsigned column = column_of(in, in->p);
        struct str key;
        if (string_read(in, &key) != ERR_OK) {
            return ITEM_BAD;
        }
        doc_build_key(&in->builder, key, line, column);
        blanks_skip(in);
        if (*in->p != ':') {
            (void)bad(in, "':'");
            return ITEM_BAD;
        }
        in->p++;
        blanks_skip(in);
    }
    return value_read(in);
}

/* Closes the containers that end after a whole value. *ret_more: another item follows. */
static enum err closers_read(struct json_reader *in, bool *ret_more)
{
    for (;;) {
        blanks_skip(in);
        const struct doc *top = doc_build_top(&in->builder);
        if (top == NULL) {
            *ret_more = false;
            return in->p == in->end ? ERR_OK : bad(in, "the end of the text");
        }
        char closer = top->kind == DOC_MAP ? '}' : ']';
        if (*in->p == ',') {
            in->p++;
            *ret_more = true;
            return ERR_OK;
        }
        if (*in->p != closer) {
            return bad(in, closer == '}' ? "',' or '}'" : "',' or ']'");
        }
        in->p++;
        enum err r = doc_build_close(&in->builder);
        if (r != ERR_OK) {
            return r;
        }
    }
}

enum err doc_json_parse(struct arena *arena, struct str text, struct doc **ret, struct error *e)
{
    char *copy = arena_strn(arena, text.p, text.len);
    struct json_reader in = {.p = copy, .end = copy + text.len, .line_start = copy, .line = 1};
    doc_build_init(&in.builder, arena, e);
    bool more = true;
    while (more) {
        enum item item = item_read(&in);
        if (item == ITEM_BAD) {
            return ERR_INVALID;
        }
        if (item == ITEM_WHOLE) {
            enum err r = closers_read(&in, &more);
            if (r != ERR_OK) {
                return r;
            }
        }
    }
    *ret = in.builder.root;
    return ERR_OK;
}
