/* api_internal.h - the API's own state, shared by its handlers.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/api.h"
#include "api/watch.h"

struct event_streams;

enum { STATUS_CLASSES = 6 };

struct api {
    struct api_options o;
    struct watches *watches;
    struct event_streams *events;
    uint64_t answers[STATUS_CLASSES]; /* by hundreds of the status */
    uint64_t submitted;               /* tasks */
};

/* Metrics: an answer or stream with this status was begun. */
void api_count_answer(struct api *api, unsigned status);
