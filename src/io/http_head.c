/* http_head.c - see http_head.h.
 *
 * libmicrohttpd 0.9.75 ends a line at a bare LF, ends a value at a NUL and joins a folded line to the
 * name before it, and shows none of this. But the library parses in place: the ends of the request
 * line's words, the colons and each CR and LF become NULs, and names and values are pointers into the
 * head, in order. So a head that has exactly the strict form is also laid out in exactly one way:
 *
 *   method\0target\0version\0\0name\0  value\0\0name\0value\0\0\0\0
 *                                                            └ header_size bytes from the first
 *
 * Every other layout is refused. A bare LF leaves one NUL and not two, a NUL leaves one too many, and
 * a folded line is copied elsewhere. tests/unit/io/test_http_head.c holds each case, so a version of
 * the library with another layout refuses everything there and cannot be taken by mistake.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/http_head.h"

#include "base/must.h"
#include "io/http_internal.h"

#include <string.h>
#include <strings.h>

static const char layout_fault[] =
    "the head has a line that does not end in CRLF, a folded line or a NUL";

/* The fields that a request may have once. */
static const struct str single[] = {
    {"Host", 4}, {"Content-Length", 14}, {"Transfer-Encoding", 17}, {"Authorization", 13}};
enum { SINGLE_LENGTH = 1, SINGLE_ENCODING = 2, SINGLE_COUNT = 4 };

struct walk {
    const char *at; /* where the next name must be */
    const char *fault;
    bool seen[SINGLE_COUNT];
};

/* The characters of names: every byte of every name is looked up here. */
static const bool of_token[256] = {
    ['a' ... 'z'] = true,  ['A' ... 'Z'] = true, ['0' ... '9'] = true, ['!'] = true,
    ['#' ... '\''] = true, ['*'] = true,         ['+'] = true,         ['-'] = true,
    ['.'] = true,          ['^' ... '`'] = true, ['|'] = true,         ['~'] = true};

bool http_head_is_token(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!of_token[(unsigned char)name[i]]) {
            return false;
        }
    }
    return len > 0;
}

/* Every byte of every value is looked up here. */
static const bool is_control[256] = {
    [0 ... '\t' - 1] = true, ['\t' + 1 ... ' ' - 1] = true, [0x7f] = true};

static bool has_control(const char *value, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (is_control[(unsigned char)value[i]]) {
            return true;
        }
    }
    return false;
}

static const char *single_fault(struct walk *walk, struct str name, struct str value)
{
    for (size_t i = 0; i < SINGLE_COUNT; i++) {
        if (name.len != single[i].len || strncasecmp(name.p, single[i].p, name.len) != 0) {
            continue;
        }
        if (walk->seen[i]) {
            return "Host, Content-Length, Transfer-Encoding and Authorization may be given once";
        }
        walk->seen[i] = true;
        if (i == SINGLE_LENGTH && (value.len == 0 || strspn(value.p, "0123456789") != value.len)) {
            return "Content-Length must be digits";
        }
        if (i == SINGLE_ENCODING && strcasecmp(value.p, "chunked") != 0) {
            return "the only transfer encoding taken is chunked";
        }
    }
    return NULL;
}

static enum MHD_Result field_walk(void *cls, enum MHD_ValueKind kind, const char *name,
                                  size_t name_len, const char *value, size_t value_len)
{
    struct walk *walk = cls;
    (void)kind;
    if (name != walk->at || value == NULL) {
        walk->fault = layout_fault;
        return MHD_NO;
    }
    const char *after = name + name_len + 1; /* behind the colon, which is a NUL now */
    while (*after == ' ' || *after == '\t') {
        after++;
    }
    if (value != after) {
        walk->fault = layout_fault;
    } else if (!http_head_is_token(name, name_len)) {
        walk->fault = "the name of a header has a character that is not allowed";
    } else if (has_control(value, value_len)) {
        walk->fault = "the value of a header has a control character";
    } else {
        walk->fault =
            single_fault(walk, (struct str){name, name_len}, (struct str){value, value_len});
    }
    walk->at = value + value_len + 2;
    return walk->fault == NULL ? MHD_YES : MHD_NO;
}

const char *http_head_fault(const struct http_request *request, const char *version)
{
    const char *head = request->method;
    const size_t line = strlen(head) + 1 + strlen(request->target) + 1;
    if (version != head + line) {
        return "the request line must be METHOD TARGET VERSION, with single blanks";
    }
    struct walk walk = {.at = version + strlen(version) + 2};
    (void)MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, field_walk, &walk);
    if (walk.fault != NULL) {
        return walk.fault;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    must(info != NULL);
    if (walk.at + 2 != head + info->header_size) {
        return layout_fault;
    }
    if (walk.seen[SINGLE_ENCODING] && walk.seen[SINGLE_LENGTH]) {
        return "a request has Content-Length or Transfer-Encoding, not both";
    }
    return NULL;
}
