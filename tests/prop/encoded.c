/* encoded.c - see encoded.h. SPDX-License-Identifier: Apache-2.0 */
#include "encoded.h"

#include "base/hash.h"
#include "core/preview.h"
#include "law.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PREVIEW_ONCE_IN = 4 };

void encoded_begin(struct encoded *encoded, const char *program, uint64_t seed)
{
    const char *path = getenv("WEIR_ENCODED");
    *encoded = (struct encoded){.on = getenv("WEIR_DECIDED_TELL") != NULL};
    if (!encoded->on && path != NULL) {
        encoded->on = record_known(path, program, seed, &encoded->expected);
    }
}

void encoded_bytes(struct encoded *encoded, const char *word, const struct buf *bytes)
{
    if (encoded->on) {
        RECORD_NOTE(&encoded->notes, word, (int64_t)bytes->len,
                    (int64_t)hash_bytes(bytes->data, bytes->len));
    }
}

/* Is the input one that a user may ask a preview of? */
static bool previewed(enum input_type type)
{
    static const enum input_type types[] = {
        INPUT_TASK_SUBMIT, INPUT_TASK_KILL,    INPUT_TASK_START,    INPUT_TASK_PAUSE,
        INPUT_TASK_MOVE,   INPUT_TASK_EDIT,    INPUT_TASK_ACTIVATE, INPUT_POOL_CREATE,
        INPUT_POOL_EDIT,   INPUT_POOL_DELETE,  INPUT_POOL_CLOSE,    INPUT_POOL_RESTORE,
        INPUT_POOL_SCALE,  INPUT_POOL_REPLACE, INPUT_NODE_EDIT,     INPUT_NODE_REMOVE,
        INPUT_QUOTA_SET,
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i] == type) {
            return true;
        }
    }
    return false;
}

static void starts_note(struct record *notes, const struct preview *preview)
{
    for (uint32_t i = 0; i < preview->start_count; i++) {
        const struct preview_start *start = &preview->starts[i];
        RECORD_NOTE(notes, "would start", (int64_t)start->task.v, start->instances, start->now,
                    start->promised, start->place_count);
        for (uint32_t k = 0; k < start->place_count; k++) {
            RECORD_NOTE(notes, "there", start->places[k].node.v, start->places[k].instances,
                        (int64_t)start->places[k].devices);
        }
    }
}

static void preview_note(struct record *notes, const struct preview *preview)
{
    RECORD_NOTE(notes, "preview", preview->changes, preview->cut, (int64_t)preview->submitted.v,
                preview->submitted_count, preview->quota_account.v, preview->quota_pool.v,
                preview->refused, preview->stop_total, preview->end_total, preview->start_total,
                preview->wait_total, preview->launch_total, preview->machine_end_total);
    for (uint32_t i = 0; i < preview->stop_count; i++) {
        const struct preview_stop *stop = &preview->stops[i];
        RECORD_NOTE(notes, "would stop", (int64_t)stop->task.v, stop->instances, stop->cause,
                    stop->lost_ms, stop->slots_lost);
    }
    for (uint32_t i = 0; i < preview->end_count; i++) {
        RECORD_NOTE(notes, "would end", (int64_t)preview->ends[i].task.v, preview->ends[i].state);
    }
    starts_note(notes, preview);
    for (uint32_t i = 0; i < preview->wait_count; i++) {
        const struct preview_wait *wait = &preview->waits[i];
        RECORD_NOTE(notes, "would wait", (int64_t)wait->task.v, wait->why.reason.code,
                    (int64_t)wait->first.v, wait->first_others, wait->first_ms);
    }
    for (uint32_t i = 0; i < preview->launch_count; i++) {
        RECORD_NOTE(notes, "would ask", preview->launches[i].pool.v, preview->launches[i].nodes);
    }
    for (uint32_t i = 0; i < preview->machine_end_count; i++) {
        RECORD_NOTE(notes, "would give back", preview->machine_ends[i].pool.v,
                    preview->machine_ends[i].node.v);
    }
}

void encoded_preview(struct encoded *encoded, const struct core *core, const struct input *in,
                     struct arena *arena)
{
    if (!encoded->on || !previewed(in->type) || ++encoded->inputs % PREVIEW_ONCE_IN != 0) {
        return;
    }
    struct preview *preview = NULL;
    struct facts facts;
    fact_list_init(&facts, arena);
    const struct preview_ask ask = {.inputs = in, .count = 1};
    const enum verdict verdict = preview_run(core, &ask, &facts, &preview);
    record_verdict(&encoded->notes, verdict, &facts);
    if (preview != NULL) {
        preview_note(&encoded->notes, preview);
    }
    preview_free(preview);
}

void encoded_end(const struct encoded *encoded, const char *program, uint64_t seed)
{
    const uint32_t number = record_number(&encoded->notes);
    if (getenv("WEIR_DECIDED_TELL") != NULL) {
        printf("encoded %s %" PRIu64 " %06" PRIx32 "\n", program, seed, number);
        return;
    }
    law(!encoded->on || number == encoded->expected,
        "facts, state and previews have the bytes that encoded.txt says (encoded.h)");
}
