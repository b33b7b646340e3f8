/* guild_words.c - see guild_words.h. The rules are those of Python's shlex.split(), because Guild reads tags with it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/guild/guild_words.h"

#include "base/buf.h"
#include "base/vec.h"

#include <string.h>

enum { WORD_BYTES_MAX = 4 * 1024 * 1024 };

struct splitter {
    struct str text;
    size_t at;
    struct buf word;
    bool open; /* a word has begun; it may be empty: '' */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Reads up to the closing quotation mark. In double quotes a backslash protects itself and the mark. */
static enum err quoted_read(struct splitter *s, char mark, struct error *e)
{
    while (s->at < s->text.len && s->text.p[s->at] != mark) {
        char c = s->text.p[s->at++];
        if (c == '\\' && mark == '"' && s->at < s->text.len &&
            (s->text.p[s->at] == '"' || s->text.p[s->at] == '\\')) {
            c = s->text.p[s->at++];
        }
        buf_add_char(&s->word, c);
    }
    if (s->at == s->text.len) {
        return fail(e, ERR_INVALID, "no closing quotation");
    }
    s->at++;
    return ERR_OK;
}

/* Reads the next word into s->word. */
static enum err word_read(struct splitter *s, struct error *e)
{
    s->open = false;
    buf_clear(&s->word);
    while (s->at < s->text.len && is_blank(s->text.p[s->at])) {
        s->at++;
    }
    while (s->at < s->text.len && !is_blank(s->text.p[s->at])) {
        const char c = s->text.p[s->at++];
        s->open = true;
        if (c == '\'' || c == '"') {
            enum err r = quoted_read(s, c, e);
            if (r != ERR_OK) {
                return r;
            }
        } else if (c != '\\') {
            buf_add_char(&s->word, c);
        } else if (s->at < s->text.len) {
            buf_add_char(&s->word, s->text.p[s->at++]);
        } else {
            return fail(e, ERR_INVALID, "no character behind the last backslash");
        }
    }
    return ERR_OK;
}

enum err guild_words_split(struct str text, struct arena *arena, struct guild_words *ret,
                           struct error *e)
{
    struct splitter s = {.text = text};
    VEC(struct str) words = {0};
    buf_init(&s.word, WORD_BYTES_MAX);
    enum err r =
        text.len > WORD_BYTES_MAX
            ? fail(e, ERR_LIMIT, "the text has %zu bytes; %d would do", text.len, WORD_BYTES_MAX)
            : ERR_OK;
    while (r == ERR_OK) {
        r = word_read(&s, e);
        if (r != ERR_OK || !s.open) {
            break;
        }
        if (words.count == GUILD_WORDS_MAX) {
            r = fail(e, ERR_LIMIT, "the text has more than %d words", GUILD_WORDS_MAX);
            break;
        }
        const char *copy = arena_strn(arena, buf_text(&s.word), s.word.len);
        vec_push(&words, ((struct str){copy, s.word.len}));
    }
    if (r == ERR_OK) {
        *ret = (struct guild_words){arena_new(arena, struct str, words.count), words.count};
        if (words.count > 0) {
            memcpy(ret->at, words.at, words.count * sizeof *words.at);
        }
    }
    vec_done(&words);
    buf_done(&s.word);
    return r;
}

const char *guild_words_repr(struct arena *arena, struct str text)
{
    const bool single = memchr(text.p, '\'', text.len) != NULL;
    const char mark = single && memchr(text.p, '"', text.len) == NULL ? '"' : '\'';
    struct buf out;
    buf_init(&out, text.len * 4 + 16);
    buf_add_char(&out, mark);
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.p[i];
        if (c == (unsigned char)mark || c == '\\') {
            buf_add_char(&out, '\\');
            buf_add_char(&out, (char)c);
        } else if (c == '\n') {
            buf_add_str(&out, "\\n");
        } else if (c < ' ' || c == 127) {
            buf_addf(&out, "\\x%02x", c);
        } else {
            buf_add_char(&out, (char)c);
        }
    }
    buf_add_char(&out, mark);
    const char *copy = arena_strn(arena, buf_text(&out), out.len);
    buf_done(&out);
    return copy;
}
