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
    struct record_table table; /* the fields of the body, as members of struct fact */
    uint8_t newest;            /* the newest version; 0: there is only version 1 */
    /* From this version on the objects in the body have tags (codec_put_tag()). 0: the body has no objects. */
    uint8_t tags_from;
};

/* By fact_type; entry 0 is empty. */
extern const struct fact_body fact_bodies[FACT_TYPE_MAX + 1];

/* The fields of struct eviction. Facts and the stored state use this table. */
extern const struct record_table fact_bodies_eviction;

/* The body of task-edited, in fact_edit.c. */
void fact_edit_task_put(const struct fact *fact, struct buf *out);
void fact_edit_task_get(struct bytes_reader *in, struct arena *arena, struct fact *ret);
