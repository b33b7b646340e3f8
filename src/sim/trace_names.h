/* trace_names.h - names of projects and users, made from the texts of a trace.
 *
 * A text that is a name keeps it. Another text gets the nearest name that no other text has: two
 * different texts never share a name.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "core/model/limits.h"

#include <stdint.h>

struct trace_name {
    char text[NAME_LEN_MAX + 1];
    struct str from; /* the text of the trace */
    bool changed;    /* the text is no name, and became another one */
    uint32_t number; /* the last number that was put behind this name for another text */
};

struct trace_names {
    struct arena *arena; /* owns the names */
    struct map *by_text;
    struct map *by_name;
    uint32_t changed;               /* texts that became another name */
    const struct trace_name *first; /* the first of them; NULL: none */
};

void trace_names_init(struct trace_names *names, struct arena *arena);
void trace_names_done(struct trace_names *names);

/* Returns the name of a text. A name that was returned before may still change, until all texts
 * are known: a later text that is this name itself takes it. The address stays. */
const struct trace_name *trace_names_of(struct trace_names *names, struct str text);
