/* doc_yaml.c - reads YAML through libyaml's events, strictly: one document, no anchors, aliases or
 * tags, no duplicate keys. Scalars keep their text; only a plain `null`, `~` or an empty value is
 * null.
 *
 * libyaml's nesting is bounded (1000) and libyaml does not recurse. The bound of a document is
 * DOC_DEPTH_MAX. SPDX-License-Identifier: Apache-2.0 */
#include "base/doc_internal.h"

#include "base/must.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

struct yaml_reader {
    struct doc_builder builder;
    yaml_parser_t parser;
    bool documents; /* a document has begun */
};

static enum err bad_at(struct yaml_reader *in, yaml_mark_t mark, const char *text)
{
    return doc_build_fail(&in->builder, (unsigned)mark.line + 1, (unsigned)mark.column + 1, text);
}

/* Fails with libyaml's own message. */
static enum err bad_syntax(struct yaml_reader *in)
{
    const yaml_parser_t *parser = &in->parser;
    char text[160];
    const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
    if (parser->error == YAML_READER_ERROR) {
        (void)snprintf(text, sizeof text, "%s at byte %zu", problem, parser->problem_offset);
        return bad_at(in, parser->mark, text);
    }
    (void)snprintf(text, sizeof text, "%s%s%s", parser->context != NULL ? parser->context : "",
                   parser->context != NULL ? ": " : "", problem);
    return bad_at(in, parser->problem_mark, text);
}

static bool is_null(const yaml_event_t *event)
{
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
        return false;
    }
    struct str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    return text.len == 0 || str_is(text, "~") || str_is(text, "null");
}

/* Takes a scalar as the key of the next value of a map. */
static enum err key_add(struct yaml_reader *in, const yaml_event_t *event)
{
    struct str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    if (memchr(text.p, '\0', text.len) != NULL) {
        return bad_at(in, event->start_mark, "a NUL character is not possible");
    }
    doc_build_key(&in->builder,
                  (struct str){arena_strn(in->builder.arena, text.p, text.len), text.len},
                  (unsigned)event->start_mark.line + 1, (unsigned)event->start_mark.column + 1);
    return ERR_OK;
}

static enum err scalar_add(struct yaml_reader *in, const yaml_event_t *event)
{
    const struct doc *top = doc_build_top(&in->builder);
    if (event->data.scalar.anchor != NULL) {
        return bad_at(in, event->start_mark, "anchors are not possible here");
    }
    if (event->data.scalar.tag != NULL) {
        return bad_at(in, event->start_mark, "tags are not possible here");
    }
    if (top != NULL && top->kind == DOC_MAP && !in->builder.has_key) {
        return key_add(in, event);
    }
    struct str text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    if (memchr(text.p, '\0', text.len) != NULL) {
        return bad_at(in, event->start_mark, "a NUL character is not possible");
    }
    struct doc *doc =
        doc_build_add(&in->builder, is_null(event) ? DOC_NULL : DOC_STRING,
                      (unsigned)event->start_mark.line + 1, (unsigned)event->start_mark.column + 1);
    if (doc == NULL) {
        return ERR_INVALID;
    }
    doc->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    doc->text = (struct str){arena_strn(in->builder.arena, text.p, text.len), text.len};
    return ERR_OK;
}

static enum err container_add(struct yaml_reader *in, const yaml_event_t *event, enum doc_kind kind)
{
    bool map = kind == DOC_MAP;
    const void *anchor = map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    const void *tag = map ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    if (anchor != NULL) {
        return bad_at(in, event->start_mark, "anchors are not possible here");
    }
    if (tag != NULL) {
        return bad_at(in, event->start_mark, "tags are not possible here");
    }
    const struct doc *top = doc_build_top(&in->builder);
    if (top != NULL && top->kind == DOC_MAP && !in->builder.has_key) {
        return bad_at(in, event->start_mark, "a key is a plain text, not a list or map");
    }
    return doc_build_open(&in->builder, kind, (unsigned)event->start_mark.line + 1,
                          (unsigned)event->start_mark.column + 1) != NULL
               ? ERR_OK
               : ERR_INVALID;
}

static enum err event_take(struct yaml_reader *in, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return ERR_OK;
    case YAML_DOCUMENT_START_EVENT:
        if (in->documents) {
            return bad_at(in, event->start_mark, "a second document; one is allowed");
        }
        in->documents = true;
        return ERR_OK;
    case YAML_ALIAS_EVENT:
        return bad_at(in, event->start_mark, "aliases are not possible here");
    case YAML_SCALAR_EVENT:
        return scalar_add(in, event);
    case YAML_SEQUENCE_START_EVENT:
        return container_add(in, event, DOC_LIST);
    case YAML_MAPPING_START_EVENT:
        return container_add(in, event, DOC_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return doc_build_close(&in->builder);
    }
    return ERR_OK;
}

static enum err events_read(struct yaml_reader *in)
{
    enum err r = ERR_OK;
    bool end = false;
    while (r == ERR_OK && !end) {
        yaml_event_t event;
        if (!yaml_parser_parse(&in->parser, &event)) {
            return bad_syntax(in);
        }
        end = event.type == YAML_STREAM_END_EVENT;
        r = event_take(in, &event);
        yaml_event_delete(&event);
    }
    return r;
}

enum err doc_yaml_parse(struct arena *arena, struct str text, struct doc **ret, struct error *e)
{
    struct str trimmed = str_trim(text);
    if (trimmed.len > 0 && (trimmed.p[0] == '{' || trimmed.p[0] == '[')) {
        return doc_json_parse(arena, text, ret, e);
    }
    if (text.len > DOC_YAML_BYTES_MAX) {
        return fail(e, ERR_LIMIT,
                    "a YAML text of %zu bytes; at most %d are read (JSON may be larger)", text.len,
                    DOC_YAML_BYTES_MAX);
    }
    struct yaml_reader in = {0};
    doc_build_init(&in.builder, arena, e);
    must(yaml_parser_initialize(&in.parser) == 1);
    yaml_parser_set_encoding(&in.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&in.parser, (const unsigned char *)text.p, text.len);
    enum err r = events_read(&in);
    yaml_parser_delete(&in.parser);
    if (r != ERR_OK) {
        return r;
    }
    if (in.builder.root == NULL) {
        return fail(e, ERR_INVALID, "the text is empty");
    }
    *ret = in.builder.root;
    return ERR_OK;
}
