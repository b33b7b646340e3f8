/* fact_internal.h - bodies of facts, by type. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "core/model/claim.h"
#include "core/model/ids.h"
#include "core/state/fact.h"
#include "core/model/codec.h"
#include "core/model/record.h"

#include <stdint.h>

struct fact_body {
    struct record_table table; /* of struct fact */
    uint8_t newest;            /* version; 0: there is only version 1 */
    /* The version from which on the objects in the body end with the fields that came later (codec_put_tag()); 0: there are none. */
    uint8_t tags_from;
};

/* By fact_type; entry 0 is empty. */
extern const struct fact_body fact_bodies[FACT_TYPE_MAX + 1];

/* Why somebody was told to leave (struct eviction): in facts and in the state. */
extern const struct record_table fact_bodies_eviction;

/* The body that has a file of its own. */
void fact_edit_task_put(const struct fact *fact, struct buf *out);
void fact_edit_task_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
