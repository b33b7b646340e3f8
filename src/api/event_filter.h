/* event_filter.h - which events a stream wants.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/limits.h"
#include "wire/event_json.h"

#include <stdbool.h>

/* Empty fields stand for any value. */
struct event_filter {
    task_id task;
    char pool[NAME_LEN_MAX + 1];
    char type[NAME_LEN_MAX + 1];
};

/* True: the filter leaves events out. */
bool event_filter_set(const struct event_filter *filter);

bool event_filter_takes(const struct event_filter *filter, const struct core *core, uint32_t type,
                        const struct event_json_subject *about);

/* Is an event called so? */
bool event_filter_type_known(const char *name);

/* The event that the unknown name perhaps means; NULL: none is near. */
const char *event_filter_type_meant(const char *name);
