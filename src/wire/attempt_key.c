/* attempt_key.c - attempt keys to and from text. Written by hand, without printf, because every
 * order and report has a key.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/attempt_key.h"

size_t attempt_key_text(struct attempt_key key, char *out)
{
    size_t at = str_u64(out, key.task.v);
    out[at++] = '.';
    at += str_u64(out + at, key.index);
    out[at++] = ':';
    at += str_u64(out + at, key.attempt);
    out[at] = '\0';
    return at;
}

/* Reads digits without leading zeros, so that a key has one text only. */
static bool number(struct str text, uint64_t max, uint64_t *ret)
{
    if (text.len > 1 && text.p[0] == '0') {
        return false;
    }
    return str_to_u64(text, ret) && *ret <= max;
}

bool attempt_key_parse(struct str text, struct attempt_key *ret)
{
    struct str rest;
    struct str attempt_text;
    struct str task_text = str_cut(text, '.', &rest);
    struct str index_text = str_cut(rest, ':', &attempt_text);
    uint64_t task;
    uint64_t index;
    uint64_t attempt;
    if (!number(task_text, UINT64_MAX, &task) || !number(index_text, UINT32_MAX, &index) ||
        !number(attempt_text, UINT32_MAX, &attempt) || task == 0 || attempt == 0) {
        return false;
    }
    *ret = (struct attempt_key){{task}, (uint32_t)index, (uint32_t)attempt};
    return true;
}
