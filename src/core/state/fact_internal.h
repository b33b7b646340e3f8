/* fact_internal.h - bodies of facts, by type. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/codec.h"
#include "core/state/fact.h"

struct fact_body {
    const char *name;          /* "task-submitted" … */
    struct record_table table; /* the fields of the body, as members of struct fact */
    uint8_t newest;            /* the newest version */
    /* From this version on the objects in the body have tags (codec_put_tag()). 0: the body has no objects. */
    uint8_t tags_from;
};

/* By fact_type; entry 0 is empty. */
extern const struct fact_body fact_bodies[FACT_TYPE_MAX + 1];

/* The fields of struct eviction. Facts and the stored state use this table. */
extern const struct record_table fact_bodies_eviction;

/* The body of task-edited, in fact_edit.c. */
void fact_edit_task_put(const void *object, struct buf *out);
void fact_edit_task_get(struct bytes_reader *in, struct arena *arena, void *object);
