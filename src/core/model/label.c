/* label.c - marks of labels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/label.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/blob.h"
#include "core/model/limits.h"

#include <string.h>

enum { LABEL_BYTES_MAX = 2 * (TEXT_LEN_MAX + 1) + 1 };

/* The two halves of a mark are hashes of the same text, one with a leading NUL. */
struct label_mark label_mark_of(const char *key, const char *value)
{
    struct buf text;
    buf_init(&text, LABEL_BYTES_MAX);
    buf_add(&text, "", 1);
    buf_add(&text, key, strlen(key) + 1);
    buf_add(&text, value, strlen(value) + 1);
    must(!text.full);
    const struct label_mark mark = {hash_bytes(text.data + 1, text.len - 1),
                                    hash_bytes(text.data, text.len)};
    buf_done(&text);
    return mark;
}

int label_mark_compare(struct label_mark a, struct label_mark b)
{
    if (a.first != b.first) {
        return a.first < b.first ? -1 : 1;
    }
    return a.second < b.second ? -1 : a.second > b.second;
}

uint32_t label_marks(const struct label *labels, uint32_t count, struct label_mark *ret)
{
    uint32_t marks = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct label_mark mark = label_mark_of(labels[i].key, labels[i].value);
        uint32_t at = marks;
        while (at > 0 && label_mark_compare(ret[at - 1], mark) > 0) {
            at--;
        }
        if (at > 0 && label_mark_compare(ret[at - 1], mark) == 0) {
            continue;
        }
        memmove(&ret[at + 1], &ret[at], (marks - at) * sizeof *ret);
        ret[at] = mark;
        marks++;
    }
    return marks;
}

static struct label_mark own_mark(uint32_t own)
{
    const char *key = own == LABEL_OWN_IMAGE     ? LABEL_CONTAINERS
                      : own == LABEL_OWN_NETWORK ? LABEL_NETWORKS
                                                 : LABEL_OUTBOUND;
    return label_mark_of(key, LABEL_OWN_YES);
}

static bool mark_drop(struct request *request, struct label_mark mark)
{
    for (uint32_t i = 0; i < request->label_count; i++) {
        if (label_mark_compare(request->labels[i], mark) == 0) {
            request->label_count--;
            memmove(&request->labels[i], &request->labels[i + 1],
                    (request->label_count - i) * sizeof mark);
            request->labels[request->label_count] = (struct label_mark){0};
            return true;
        }
    }
    return false;
}

uint32_t label_marks_own_drop(struct request *request, uint32_t own)
{
    uint32_t had = 0;
    for (uint32_t bit = 1; bit < LABEL_OWN_ALL; bit <<= 1) {
        had |= (own & bit) != 0 && mark_drop(request, own_mark(bit)) ? bit : 0;
    }
    return had;
}

static bool mark_add(struct request *request, struct label_mark mark)
{
    (void)mark_drop(request, mark);
    if (request->label_count >= TASK_LABELS_MAX) {
        return false;
    }
    uint32_t at = request->label_count++;
    for (; at > 0 && label_mark_compare(request->labels[at - 1], mark) > 0; at--) {
        request->labels[at] = request->labels[at - 1];
    }
    request->labels[at] = mark;
    return true;
}

bool label_marks_own_add(struct request *request, uint32_t own)
{
    bool room = true;
    for (uint32_t bit = 1; bit < LABEL_OWN_ALL; bit <<= 1) {
        room &= (own & bit) == 0 || mark_add(request, own_mark(bit));
    }
    return room;
}

struct blob *label_marks_blob(const struct label *labels, uint32_t count)
{
    struct label_mark marks[NODE_LABELS_MAX];
    must(count <= NODE_LABELS_MAX);
    const uint32_t found = label_marks(labels, count, marks);
    return found == 0 ? NULL : blob_new(marks, found * sizeof marks[0]);
}

bool label_marks_cover(const struct blob *marks, const struct request *request)
{
    if (request->label_count == 0) {
        return true;
    }
    const struct str bytes = blob_bytes(marks);
    const size_t have = bytes.len / sizeof(struct label_mark);
    size_t at = 0;
    for (uint32_t i = 0; i < request->label_count; i++) {
        struct label_mark mark;
        int order = -1;
        for (; at < have && order < 0; at++) {
            memcpy(&mark, bytes.p + at * sizeof mark, sizeof mark);
            order = label_mark_compare(mark, request->labels[i]);
        }
        if (order != 0) {
            return false;
        }
    }
    return true;
}

uint32_t label_marks_count(const struct blob *marks)
{
    return (uint32_t)(blob_bytes(marks).len / sizeof(struct label_mark));
}

struct label_mark label_marks_at(const struct blob *marks, uint32_t index)
{
    struct label_mark mark;
    must(index < label_marks_count(marks));
    memcpy(&mark, blob_bytes(marks).p + index * sizeof mark, sizeof mark);
    return mark;
}

bool label_marks_within(const struct blob *few, const struct blob *many)
{
    const uint32_t have = label_marks_count(many);
    uint32_t at = 0;
    for (uint32_t i = 0; i < label_marks_count(few); i++) {
        const struct label_mark mark = label_marks_at(few, i);
        while (at < have && label_mark_compare(label_marks_at(many, at), mark) < 0) {
            at++;
        }
        if (at == have || label_mark_compare(label_marks_at(many, at), mark) != 0) {
            return false;
        }
    }
    return true;
}

const char *label_value(const struct node_spec *spec, const char *key)
{
    for (uint32_t i = 0; i < spec->label_count; i++) {
        if (strcmp(spec->labels[i].key, key) == 0) {
            return spec->labels[i].value;
        }
    }
    return NULL;
}
