/* xml.c - see xml.h. SPDX-License-Identifier: Apache-2.0 */
#include "base/xml.h"

#include "base/must.h"
#include "base/utf8.h"

#include <string.h>

struct xml_reader {
    struct arena *arena;
    const char *begin;
    const char *at;
    const char *end;
    struct xml_node *open[XML_DEPTH_MAX]; /* the elements around the place */
    struct xml_node *last[XML_DEPTH_MAX]; /* the last element inside each of them */
    unsigned depth;
    uint32_t count;
    struct xml_node *root;
    struct error *e;
};

static enum err bad(struct xml_reader *in, const char *what)
{
    return fail(in->e, ERR_INVALID, "malformed XML at byte %zu: %s", (size_t)(in->at - in->begin),
                what);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ':';
}

static void blanks(struct xml_reader *in)
{
    while (in->at < in->end && is_blank(*in->at)) {
        in->at++;
    }
}

static bool next_is(const struct xml_reader *in, const char *text)
{
    const size_t len = strlen(text);
    return (size_t)(in->end - in->at) >= len && memcmp(in->at, text, len) == 0;
}

static enum err name_read(struct xml_reader *in, struct str *ret)
{
    const char *from = in->at;
    while (in->at < in->end && is_name(*in->at)) {
        in->at++;
    }
    const size_t len = (size_t)(in->at - from);
    if (len == 0 || len > XML_NAME_MAX) {
        return bad(in, "a name of at most 64 characters is wanted");
    }
    const char *colon = memchr(from, ':', len);
    const char *own = colon != NULL ? colon + 1 : from;
    *ret = (struct str){own, (size_t)(in->at - own)};
    if (ret->len == 0 || colon == from || memchr(own, ':', ret->len) != NULL) {
        return bad(in, "a name has at most one prefix");
    }
    return ERR_OK;
}

/* Passes over one attribute: name="value". */
static enum err attribute_skip(struct xml_reader *in)
{
    struct str name;
    if (name_read(in, &name) != ERR_OK) {
        return in->e->code;
    }
    if (!next_is(in, "=")) {
        return bad(in, "an attribute without a value");
    }
    in->at++;
    if (in->at == in->end || (*in->at != '"' && *in->at != '\'')) {
        return bad(in, "an attribute's value without quotation marks");
    }
    const char *close = memchr(in->at + 1, *in->at, (size_t)(in->end - in->at) - 1);
    if (close == NULL || memchr(in->at, '<', (size_t)(close - in->at)) != NULL) {
        return bad(in, "an attribute's value without an end");
    }
    in->at = close + 1;
    return ERR_OK;
}

/* Reads "&name;" or "&#number;" at the place. */
static enum err entity_read(struct xml_reader *in, uint32_t *ret)
{
    static const struct {
        const char *text;
        char c;
    } named[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (next_is(in, named[i].text)) {
            in->at += strlen(named[i].text);
            *ret = (uint32_t)named[i].c;
            return ERR_OK;
        }
    }
    if (!next_is(in, "&#")) {
        return bad(in, "an unknown entity");
    }
    const bool hex = next_is(in, "&#x");
    const char *p = in->at + (hex ? 3 : 2);
    uint32_t code = 0;
    unsigned digits = 0;
    for (; p < in->end && *p != ';' && digits < 8; p++, digits++) {
        const char lower = (char)(*p | 0x20);
        const bool digit = *p >= '0' && *p <= '9';
        if (!digit && !(hex && lower >= 'a' && lower <= 'f')) {
            return bad(in, "a character's number that is none");
        }
        code = code * (hex ? 16 : 10) + (uint32_t)(digit ? *p - '0' : lower - 'a' + 10);
    }
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    const bool blank = code == '\t' || code == '\n' || code == '\r';
    if (p == in->end || *p != ';' || code > 0x10ffff || surrogate || (code < 0x20 && !blank)) {
        return bad(in, "a character that does not exist");
    }
    in->at = p + 1;
    *ret = code;
    return ERR_OK;
}

/* Writes a character as UTF-8. */
static char *char_put(char *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    const unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    *out++ = (char)(lead[more] | (code >> (6 * more)));
    for (unsigned i = more; i > 0; i--) {
        *out++ = (char)(0x80 | ((code >> (6 * (i - 1))) & 0x3f));
    }
    return out;
}

/* Reads the text up to the next '<' and gives it to the open element. */
static enum err text_read(struct xml_reader *in)
{
    const char *stop = memchr(in->at, '<', (size_t)(in->end - in->at));
    if (stop == NULL) {
        return bad(in, "the end comes too early");
    }
    struct xml_node *node = in->open[in->depth - 1];
    /* An entity is never shorter than what it stands for. */
    char *text = arena_alloc(in->arena, (size_t)(stop - in->at) + 1);
    char *out = text;
    bool blank = true;
    while (in->at < stop) {
        uint32_t code = 0;
        if (*in->at != '&') {
            blank = blank && is_blank(*in->at);
            *out++ = *in->at++;
            continue;
        }
        if (entity_read(in, &code) != ERR_OK) {
            return in->e->code;
        }
        blank = false;
        out = char_put(out, code);
    }
    if (blank) {
        return ERR_OK;
    }
    if (node->first != NULL || node->text.len > 0) {
        return bad(in, "text beside elements");
    }
    if (!utf8_valid(text, (size_t)(out - text)) ||
        memchr(text, '\0', (size_t)(out - text)) != NULL) {
        return bad(in, "text that is not UTF-8");
    }
    node->text = (struct str){text, (size_t)(out - text)};
    return ERR_OK;
}

static enum err element_open(struct xml_reader *in)
{
    struct xml_node *node = arena_new(in->arena, struct xml_node, 1);
    in->at++; /* '<' */
    if (in->depth == XML_DEPTH_MAX || ++in->count > XML_NODES_MAX) {
        return fail(in->e, ERR_LIMIT, "XML of more than %d elements, or deeper than %d",
                    XML_NODES_MAX, XML_DEPTH_MAX);
    }
    node->text.p = "";
    if (name_read(in, &node->name) != ERR_OK) {
        return in->e->code;
    }
    for (blanks(in); in->at < in->end && is_name(*in->at); blanks(in)) {
        if (attribute_skip(in) != ERR_OK) {
            return in->e->code;
        }
    }
    const bool empty = next_is(in, "/>");
    if (!empty && !next_is(in, ">")) {
        return bad(in, "the start of an element has no end");
    }
    in->at += empty ? 2 : 1;
    if (in->depth == 0) {
        in->root = node;
    } else {
        struct xml_node *up = in->open[in->depth - 1];
        struct xml_node **last = &in->last[in->depth - 1];
        if (up->text.len > 0) {
            return bad(in, "text beside elements");
        }
        *(*last != NULL ? &(*last)->next : &up->first) = node;
        *last = node;
    }
    if (!empty) {
        in->last[in->depth] = NULL;
        in->open[in->depth++] = node;
    }
    return ERR_OK;
}

static enum err element_close(struct xml_reader *in)
{
    struct str name;
    in->at += 2; /* "</" */
    if (name_read(in, &name) != ERR_OK) {
        return in->e->code;
    }
    blanks(in);
    if (!next_is(in, ">") || !str_equal(name, in->open[in->depth - 1]->name)) {
        return bad(in, "an end that does not belong to the start");
    }
    in->at++;
    in->depth--;
    return ERR_OK;
}

/* Passes over '<?xml version="1.0"?>' at the very beginning. */
static enum err declaration_skip(struct xml_reader *in)
{
    if (next_is(in, "<?xml ")) {
        const char *close = memmem(in->at, (size_t)(in->end - in->at), "?>", 2);
        if (close == NULL) {
            return bad(in, "a declaration without an end");
        }
        in->at = close + 2;
    }
    blanks(in);
    return ERR_OK;
}

enum err xml_parse(struct arena *arena, struct str text, struct xml_node **ret, struct error *e)
{
    struct xml_reader in = {
        .arena = arena, .begin = text.p, .at = text.p, .end = text.p + text.len, .e = e};
    if (text.len == 0) {
        return bad(&in, "nothing is there");
    }
    enum err r = declaration_skip(&in);
    if (r == ERR_OK && !next_is(&in, "<")) {
        r = bad(&in, "an element is wanted");
    }
    r = r == ERR_OK ? element_open(&in) : r;
    while (r == ERR_OK && in.depth > 0) {
        r = text_read(&in);
        if (r == ERR_OK) {
            r = next_is(&in, "</") ? element_close(&in) : element_open(&in);
        }
    }
    blanks(&in);
    if (r == ERR_OK && in.at != in.end) {
        r = bad(&in, "there is more behind the end");
    }
    if (r == ERR_OK) {
        *ret = in.root;
    }
    return r;
}

const struct xml_node *xml_child(const struct xml_node *node, const char *name)
{
    const struct xml_node *child = node != NULL ? node->first : NULL;
    while (child != NULL && !str_is(child->name, name)) {
        child = child->next;
    }
    return child;
}

const char *xml_text(const struct xml_node *node, const char *name)
{
    const struct xml_node *child = xml_child(node, name);
    return child != NULL ? child->text.p : "";
}
