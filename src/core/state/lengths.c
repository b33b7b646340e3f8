/* lengths.c - groups of tasks whose run lengths are known, and the expected length of a task.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/lengths.h"

#include "base/amount.h"
#include "base/hash.h"
#include "base/must.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/resource.h"
#include "core/model/table.h"
#include "core/state/key.h"
#include "core/state/query.h"

enum { GROUPS_PER_TASK = LENGTH_SOURCE_COUNT - LENGTH_BY_NAME };
#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

uint64_t lengths_name_hash(const char *name)
{
    char plain[TEXT_LEN_MAX + 1];
    size_t len = 0;
    for (const char *p = name; *p != '\0' && len < sizeof plain; p++) {
        const bool digit = *p >= '0' && *p <= '9';
        if (!digit || len == 0 || plain[len - 1] != '0') {
            plain[len++] = digit ? '0' : *p;
        }
    }
    return len == 0 ? 0 : hash_bytes(plain, len);
}

uint64_t lengths_step(int64_t length_ms)
{
    enum { MANTISSA_BITS = 10, STEP_MAX = UINT16_MAX - LENGTH_STEP_FRONT };
    uint64_t left = length_ms > 0 ? (uint64_t)length_ms : 0;
    uint64_t exponent = 0;
    while (left >> (MANTISSA_BITS + 1) != 0) {
        left >>= 1;
        exponent++;
    }
    /* From 2^10 on `left` has a leading bit, which adds one to the exponent: so steps go on without a gap. */
    const uint64_t step = 1 + (exponent << MANTISSA_BITS) + left;
    return step < STEP_MAX ? step : STEP_MAX;
}

uint64_t lengths_class(int64_t length_ms)
{
    enum { CLASS_STEPS = 512 }; /* half of the steps from one power of two to the next */
    const uint64_t last = lengths_step(length_ms) + CLASS_STEPS - 1;
    return last - last % CLASS_STEPS;
}

/* ---- groups ---- */

/* The number of bits of the slots that the task requests in all. Sizes of one class differ by a factor below
 * 2. */
static uint64_t size_class(const struct core *core, const struct task *task)
{
    const struct request *request = &query_task_shape(core, task->shape)->request;
    uint64_t slots = (uint64_t)request->slots_milli * (task->gang ? task->instance_count : 1);
    uint64_t class = 0;
    while (slots > 0) {
        slots >>= 1;
        class ++;
    }
    return class;
}

/* The hashes of a task's groups, the most specific first. 0: the task has no such group. */
static void groups_of(const struct core *core, const struct task *task,
                      uint64_t ret[GROUPS_PER_TASK])
{
    const uint64_t who = hash_u64(key_name_hash(query_usage_user_name(core, task->user)) ^
                                  hash_u64(task->account.v));
    const uint64_t size = size_class(core, task) << 8 | task->kind;
    const uint64_t of_user = hash_u64(who ^ LENGTH_BY_USER);
    const uint64_t of_project = hash_u64(hash_u64(task->account.v) ^ LENGTH_BY_PROJECT);
    ret[0] = task->name_hash == 0 ? 0 : hash_u64(of_user ^ hash_u64(task->name_hash ^ size));
    ret[1] = hash_u64(of_user ^ hash_u64(size));
    ret[2] = of_user;
    ret[3] = hash_u64(of_project ^ hash_u64(size));
    ret[4] = of_project;
    ret[5] = hash_u64(LENGTH_BY_SITE);
}

static uint64_t row_of(const struct core *core, uint64_t hash)
{
    struct okey key = {{hash, 0, 0, 0}};
    return oindex_from(&core->orders[ORDER_LENGTH], key, &key) && key.at[0] == hash ? key.at[1] : 0;
}

static struct okey age_key(const struct length_group *group, uint64_t row)
{
    return (struct okey){{(uint64_t)group->day, group->hash, row, 0}};
}

static void oldest_drop(struct core *core)
{
    struct okey key = {{0}};
    must(oindex_from(&core->orders[ORDER_LENGTH_AGE], key, &key));
    must(oindex_remove(&core->orders[ORDER_LENGTH_AGE], key));
    must(oindex_remove(&core->orders[ORDER_LENGTH], (struct okey){{key.at[1], key.at[2]}}));
    table_remove(&core->lengths, key.at[2]);
}

static struct length_group *group_add(struct core *core, uint64_t hash, int64_t day)
{
    struct length_group *group = table_add(&core->lengths);
    group->hash = hash;
    group->day = day;
    must(oindex_insert(&core->orders[ORDER_LENGTH], (struct okey){{hash, core->lengths.last}}));
    must(oindex_insert(&core->orders[ORDER_LENGTH_AGE], age_key(group, core->lengths.last)));
    return group;
}

static struct length_group *group_edit(struct core *core, uint64_t hash, int64_t day)
{
    const uint64_t row = row_of(core, hash);
    if (row == 0) {
        if (core->lengths.count == LENGTH_GROUPS_MAX) {
            oldest_drop(core);
        }
        return group_add(core, hash, day);
    }
    struct length_group *group = table_edit(&core->lengths, row);
    if (group->day != day) {
        must(oindex_remove(&core->orders[ORDER_LENGTH_AGE], age_key(group, row)));
        group->day = day;
        must(oindex_insert(&core->orders[ORDER_LENGTH_AGE], age_key(group, row)));
    }
    return group;
}

bool lengths_put(struct core *core, const struct length_group *group)
{
    if (core->lengths.count == LENGTH_GROUPS_MAX || row_of(core, group->hash) != 0) {
        return false;
    }
    *group_add(core, group->hash, group->day) = *group;
    return true;
}

/* ---- learning ---- */

void lengths_learn(struct core *core, const struct task *task, int64_t length_ms)
{
    uint64_t hashes[GROUPS_PER_TASK];
    const int64_t limit_ms = task->time_limit_ms;
    must(length_ms >= 0);
    groups_of(core, task, hashes);
    for (unsigned i = 0; i < GROUPS_PER_TASK; i++) {
        if (hashes[i] == 0) {
            continue;
        }
        struct length_group *group = group_edit(core, hashes[i], core->time_ms / DAY_MS);
        group->total_ms += length_ms < AMOUNT_MS_MAX ? length_ms : AMOUNT_MS_MAX;
        group->count++;
        if (limit_ms > 0) {
            /* A run that went on after its limit counts as having used all of the limit. */
            group->share_total +=
                length_ms < limit_ms
                    ? (int64_t)((__int128)length_ms * LENGTH_SHARE_WHOLE / limit_ms)
                    : LENGTH_SHARE_WHOLE;
            group->limited_count++;
        }
        if (group->count == LENGTH_COUNT_MAX) {
            group->count /= 2;
            group->total_ms /= 2;
            group->limited_count /= 2;
            group->share_total /= 2;
        }
    }
}

static int64_t expect_of(const struct length_group *group, int64_t limit_ms)
{
    if (limit_ms == 0) {
        return group->total_ms / group->count;
    }
    return (int64_t)((__int128)limit_ms * group->share_total / group->limited_count /
                     LENGTH_SHARE_WHOLE);
}

void lengths_expect(const struct core *core, struct task *task)
{
    uint64_t hashes[GROUPS_PER_TASK];
    const int64_t limit_ms = task->time_limit_ms;
    task->expect_ms = limit_ms;
    task->expect_from = limit_ms > 0 ? LENGTH_LIMIT : LENGTH_UNKNOWN;
    groups_of(core, task, hashes);
    for (unsigned i = 0; i < GROUPS_PER_TASK; i++) {
        const uint64_t row = hashes[i] == 0 ? 0 : row_of(core, hashes[i]);
        const struct length_group *group = row == 0 ? NULL : table_get(&core->lengths, row);
        if (group != NULL &&
            (limit_ms > 0 ? group->limited_count : group->count) >= LENGTH_ENOUGH) {
            const int64_t expect_ms = expect_of(group, limit_ms);
            task->expect_ms = expect_ms > 0 ? expect_ms : 1;
            task->expect_from = (uint8_t)(LENGTH_BY_NAME + i);
            return;
        }
    }
}
