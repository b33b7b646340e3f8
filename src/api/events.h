/* events.h - GET /events: facts as Server-Sent Events. An event is a fact. The event's id is the
 * fact's number, so a client that comes back can say where it was.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/api.h"

struct event_streams;

struct event_streams *events_streams_new(struct api *api);
void events_streams_free(struct event_streams *streams); /* ends all streams */

/* These facts are on disk: feeds them to the streams, at once or within a fifth of a second. */
void events_streams_committed(struct event_streams *streams, const struct store_batch *batch);

size_t events_streams_count(const struct event_streams *streams);
