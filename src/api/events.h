/* events.h - GET /events: what happens, as Server-Sent Events. An event is a fact; its id is the
 * fact's number, so a client that comes back says where it was.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/api.h"

struct event_streams;

struct event_streams *events_streams_new(struct api *api);
void events_streams_free(struct event_streams *streams); /* ends them all */

/* These facts are on disk: to every stream that has caught up. */
void events_streams_committed(struct event_streams *streams, const struct store_batch *batch);

size_t events_streams_count(const struct event_streams *streams);
