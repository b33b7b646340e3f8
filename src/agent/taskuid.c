/* taskuid.c - see taskuid.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/taskuid.h"

#include "agent/dirs.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/str.h"

#include <inttypes.h>

struct taskuid_slot {
    uint64_t task;
    uint32_t attempts; /* 0: the slot is free */
};

struct taskuids {
    struct taskuid_range range;
    struct taskuid_slot *slots;
};

/* Bounds a range. uid_t has 32 bits, and its largest number means "no user". */
static bool range_of(uint64_t first, uint64_t count, struct taskuid_range *ret)
{
    if (first < TASKUID_FIRST_MIN || count == 0 || first > UINT32_MAX - 1 ||
        count > UINT32_MAX - first) {
        return false;
    }
    const uint64_t most = count < TASKUID_RANGE_MAX ? count : TASKUID_RANGE_MAX;
    *ret = (struct taskuid_range){(uid_t)first, (uint32_t)most};
    return true;
}

/* Reads root's line "root:FIRST:COUNT" of the file. */
static void subuid_read(const char *path, struct taskuid_range *ret)
{
    struct arena arena;
    struct str text;
    arena_init(&arena);
    if (dirs_read(NULL, path, &arena, &text, NULL) != ERR_OK) {
        text = (struct str){"", 0};
    }
    while (text.len > 0 && ret->count == 0) {
        struct str line = str_cut(text, '\n', &text);
        struct str rest;
        struct str count;
        uint64_t from;
        uint64_t many;
        const bool of_root = str_is(str_cut(line, ':', &rest), "root");
        struct str first = str_cut(rest, ':', &count);
        if (of_root && str_to_u64(first, &from) && str_to_u64(count, &many)) {
            (void)range_of(from, many, ret);
        }
    }
    arena_done(&arena);
}

must_use enum err taskuid_range(const char *wanted, const char *subuid, struct taskuid_range *ret,
                                struct error *e)
{
    *ret = (struct taskuid_range){0};
    if (wanted == NULL) {
        subuid_read(subuid, ret);
        return ERR_OK;
    }
    if (strcmp(wanted, "none") == 0) {
        return ERR_OK;
    }
    struct str last_text;
    struct str first_text = str_cut(str_of(wanted), '-', &last_text);
    uint64_t first;
    uint64_t last;
    if (!str_to_u64(first_text, &first) || !str_to_u64(last_text, &last) || last < first ||
        !range_of(first, last - first + 1, ret)) {
        return fail(e, ERR_INVALID,
                    "--task-uids must be a range of uids from %d on, like 200000-265535, or none, "
                    "not '%s'",
                    TASKUID_FIRST_MIN, wanted);
    }
    return ERR_OK;
}

struct taskuids *taskuid_new(struct taskuid_range range)
{
    if (range.count == 0) {
        return NULL;
    }
    struct taskuids *uids = xcalloc(1, sizeof *uids);
    uids->range = range;
    uids->slots = xcalloc(range.count, sizeof *uids->slots);
    return uids;
}

void taskuid_free(struct taskuids *uids)
{
    if (uids != NULL) {
        free(uids->slots);
        free(uids);
    }
}

int32_t taskuid_take(struct taskuids *uids, uint64_t task)
{
    /* The search begins at the same place each time, so a later attempt finds the files of an earlier
     * one, unless another task has the number meanwhile. */
    for (uint32_t i = 0; i < uids->range.count; i++) {
        const uint32_t number = (uint32_t)((task + i) % uids->range.count);
        struct taskuid_slot *slot = &uids->slots[number];
        if (slot->attempts == 0 || slot->task == task) {
            slot->task = task;
            slot->attempts++;
            return (int32_t)number;
        }
    }
    return -1;
}

void taskuid_give(struct taskuids *uids, int32_t number)
{
    must(number >= 0);
    must(uids->slots[number].attempts > 0);
    uids->slots[number].attempts--;
}

void taskuid_account(const struct taskuids *uids, int32_t number, const struct runas_account *base,
                     const char *home, struct runas_account *ret)
{
    must(number >= 0);
    *ret = *base;
    ret->uid = uids->range.first + (uid_t)number;
    ret->gid = (gid_t)ret->uid;
    (void)snprintf(ret->name, sizeof ret->name, "weir-%" PRIu32, (uint32_t)ret->uid);
    (void)str_copy(ret->home, sizeof ret->home, strlen(home) < sizeof ret->home ? home : "/");
}
