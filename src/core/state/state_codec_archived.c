/* state_codec_archived.c - what a stored state keeps of archived tasks: keys of submissions, outcomes, run lengths.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/length.h"
#include "core/state/lengths.h"
#include "core/state/state_codec.h"

/* ---- keys of submissions ---- */

static const struct record_field key_fields[] = {
    STATE_FIELD(struct submit_key, ID16, key, 0, 0),
    STATE_FIELD(struct submit_key, ID16, body_hash, 0, 0),
    STATE_BELOW(struct submit_key, first, tasks),
    STATE_FIELD(struct submit_key, UINT, count, 0, SUBMIT_TASKS_MAX),
    STATE_TIME(struct submit_key, time_ms),
};

static bool key_get(struct state_reader *r, uint64_t row, const void *read)
{
    struct submit_key *key = table_put(&r->core->keys, row);
    *key = *(const struct submit_key *)read;
    if (key->time_ms < r->key_ms) {
        return false;
    }
    r->key_ms = key->time_ms;
    must(oindex_insert(&r->core->orders[ORDER_SUBMIT_KEY], key_submit(key->key, row)));
    return true;
}

const struct state_section state_codec_task_key = {"submission keys", STATE_ROWS(keys, keys),
                                                   STATE_FIELDS(struct submit_key, key_fields),
                                                   .get = key_get};

/* ---- outcomes ---- */

static const struct record_field outcome_fields[] = {
    STATE_FIELD(struct outcome_row, UINT, bits, 1, RECORD_ANY),
};

static bool outcome_get(struct state_reader *r, uint64_t row, const void *read)
{
    if (row > r->head.tasks.last / OUTCOMES_PER_ROW + 1) {
        return false;
    }
    *(struct outcome_row *)table_put(&r->core->outcomes, row) = *(const struct outcome_row *)read;
    return true;
}

const struct state_section state_codec_task_outcome = {
    "outcomes", .table_at = offsetof(struct core, outcomes),
    STATE_FIELDS(struct outcome_row, outcome_fields), .get = outcome_get};

/* ---- run lengths ---- */

static const struct record_field length_fields[] = {
    STATE_ANY(struct length_group, hash),
    STATE_TIME(struct length_group, day),
    STATE_FIELD(struct length_group, UINT, count, 1, LENGTH_COUNT_MAX - 1),
    STATE_FIELD(struct length_group, MS, total_ms, 0, AMOUNT_MS_MAX *LENGTH_COUNT_MAX),
    STATE_ANY(struct length_group, limited_count),
    STATE_FIELD(struct length_group, INT, share_total, 0,
                (int64_t)LENGTH_COUNT_MAX *LENGTH_SHARE_WHOLE),
};
static const struct record_table length_table = RECORD_TABLE(struct length_group, length_fields);

/* Writes the groups by age, so that equal states have equal bytes whatever numbers their rows have. */
static void lengths_write(const struct core *core, struct buf *out)
{
    bytes_put_u64(out, core->lengths.count);
    struct okey key = {{0}};
    bool more = oindex_from(&core->orders[ORDER_LENGTH_AGE], key, &key);
    while (more) {
        record_write(&length_table, table_get(&core->lengths, key.at[2]), out);
        more = oindex_next(&core->orders[ORDER_LENGTH_AGE], key, &key);
    }
}

static bool lengths_read(struct state_reader *r)
{
    const uint32_t count = codec_get_count(&r->in, LENGTH_GROUPS_MAX);
    struct okey before = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        struct length_group group = {0};
        state_codec_read(r, &length_table, &group);
        const struct okey key = {{(uint64_t)group.day, group.hash}};
        if (r->in.bad || group.limited_count > group.count ||
            oindex_key_compare(before, key) >= 0 || !lengths_put(r->core, &group)) {
            return false;
        }
        before = key;
    }
    return true;
}

const struct state_section state_codec_task_length = {
    "run lengths", STATE_VERSION_LENGTHS, .put_all = lengths_write, .end = lengths_read};
