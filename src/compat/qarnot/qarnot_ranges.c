/* qarnot_ranges.c - lists of numbers as the SDK writes them: "1,3-8,12-19". The numbers of a text that was read are used in the
 * order of the text. SPDX-License-Identifier: Apache-2.0 */
#include "compat/qarnot/qarnot_internal.h"

#include <inttypes.h>

enum {
    NUMBER_MAX = 1000000000,
    PLAIN_MAX = 24 * TASK_INSTANCES_MAX, /* "1000000000-1000000000," for each */
};

/* The next part of the text. False: there is none, or it is no range. */
static bool part_next(struct str *rest, uint64_t *ret_first, uint64_t *ret_last)
{
    struct str last;
    struct str first = str_cut(str_cut(*rest, ',', rest), '-', &last);
    if (!str_to_u64(str_trim(first), ret_first) || *ret_first > NUMBER_MAX) {
        return false;
    }
    *ret_last = *ret_first;
    return last.p == NULL || (str_to_u64(str_trim(last), ret_last) && *ret_last <= NUMBER_MAX &&
                              *ret_last >= *ret_first);
}

enum err qarnot_ranges_read(const char *text, struct qarnot_ranges *ret, struct error *e)
{
    struct str rest = str_of(text);
    uint64_t count = 0;
    uint64_t before = 0;
    while (rest.p != NULL) {
        uint64_t first;
        uint64_t last;
        if (!part_next(&rest, &first, &last) || (count > 0 && first <= before)) {
            return fail_at(e, ERR_INVALID, "advancedRanges",
                           "'%.60s' is no list of ascending ranges such as 1,3-8", text);
        }
        before = last;
        count += last - first + 1;
        if (count > TASK_INSTANCES_MAX) {
            return fail_at(e, ERR_LIMIT, "advancedRanges", "a task has at most %d instances",
                           TASK_INSTANCES_MAX);
        }
    }
    *ret = (struct qarnot_ranges){.count = (uint32_t)count, .text = text};
    return ERR_OK;
}

const char *qarnot_ranges_plain(const char *text, struct arena *arena)
{
    struct buf out;
    struct str rest = str_of(text);
    uint64_t first;
    uint64_t last;
    buf_init(&out, PLAIN_MAX);
    while (rest.p != NULL && part_next(&rest, &first, &last)) {
        buf_addf(&out, out.len > 0 ? ",%" PRIu64 : "%" PRIu64, first);
        if (last > first) {
            buf_addf(&out, "-%" PRIu64, last);
        }
    }
    const char *plain = arena_str(arena, buf_text(&out));
    buf_done(&out);
    return plain;
}

uint32_t qarnot_ranges_at(const char *text, uint32_t index)
{
    struct str rest = str_of(text);
    uint64_t left = index;
    uint64_t first = 0;
    uint64_t last = 0;
    while (rest.p != NULL && part_next(&rest, &first, &last)) {
        if (left <= last - first) {
            return (uint32_t)(first + left);
        }
        left -= last - first + 1;
    }
    return index;
}

bool qarnot_ranges_find(const char *text, uint32_t number, uint32_t *ret_index)
{
    struct str rest = str_of(text);
    uint64_t before = 0;
    uint64_t first;
    uint64_t last;
    while (rest.p != NULL && part_next(&rest, &first, &last)) {
        if (number >= first && number <= last) {
            *ret_index = (uint32_t)(before + number - first);
            return true;
        }
        before += last - first + 1;
    }
    return false;
}

void qarnot_ranges_end(struct qarnot_range_writer *w)
{
    if (w->open) {
        buf_addf(w->out, w->out->len > 0 ? ",%" PRIu32 : "%" PRIu32, w->first);
        if (w->last > w->first) {
            buf_addf(w->out, "-%" PRIu32, w->last);
        }
    }
    w->open = false;
}

void qarnot_ranges_add(struct qarnot_range_writer *w, uint32_t number)
{
    if (w->open && number == w->last + 1) {
        w->last = number;
        return;
    }
    qarnot_ranges_end(w);
    w->first = number;
    w->last = number;
    w->open = true;
}
