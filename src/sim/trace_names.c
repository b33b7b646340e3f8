/* trace_names.c - see trace_names.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace_names.h"

#include "base/must.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_ROOM = 16 };

void trace_names_init(struct trace_names *names, struct arena *arena)
{
    *names = (struct trace_names){.arena = arena, .by_text = map_new(), .by_name = map_new()};
}

void trace_names_done(struct trace_names *names)
{
    map_free(names->by_text);
    map_free(names->by_name);
}

/* Writes the nearest name to `out`. Other characters become '-', and the end is cut off. */
static void nearest(struct str text, char out[static NAME_LEN_MAX + 1])
{
    size_t len = 0;
    for (; len < text.len && len < NAME_LEN_MAX; len++) {
        const char c = text.p[len];
        const bool fine =
            isalnum((unsigned char)c) || (len > 0 && c != '\0' && strchr("-_.", c) != NULL);
        out[len] = fine ? c : (len > 0 ? '-' : 'x');
    }
    out[len] = '\0';
}

/* Gives a text that is no name the nearest free one: "a-b", "a-b-2", "a-b-3" … */
static void changed_set(struct trace_names *names, struct trace_name *name)
{
    char base[NAME_LEN_MAX + 1];
    nearest(name->from, base);
    memcpy(name->text, base, sizeof base);
    struct trace_name *holder = map_get(names->by_name, base, strlen(base));
    while (map_get(names->by_name, name->text, strlen(name->text)) != NULL) {
        char end[NUMBER_ROOM];
        holder->number += holder->number == 0 ? 2 : 1;
        const int end_len = snprintf(end, sizeof end, "-%u", holder->number);
        (void)snprintf(name->text, sizeof name->text, "%.*s%s", NAME_LEN_MAX - end_len, base, end);
    }
    (void)map_put(names->by_name, name->text, strlen(name->text), name);
}

const struct trace_name *trace_names_of(struct trace_names *names, struct str text)
{
    struct trace_name *name = map_get(names->by_text, text.p, text.len);
    if (name != NULL) {
        return name;
    }
    name = arena_new(names->arena, struct trace_name, 1);
    name->from = (struct str){arena_strn(names->arena, text.p, text.len), text.len};
    nearest(text, name->text);
    name->changed = !str_is(text, name->text);
    (void)map_put(names->by_text, text.p, text.len, name);
    if (name->changed) {
        changed_set(names, name);
        names->first = names->changed++ == 0 ? name : names->first;
        return name;
    }
    struct trace_name *other = map_put(names->by_name, name->text, strlen(name->text), name);
    if (other != NULL) {
        must(other->changed); /* the same text would have been found */
        changed_set(names, other);
    }
    return name;
}
