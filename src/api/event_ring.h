/* event_ring.h - the newest events as text, each encoded once for all streams, in files that the kernel
 * sends to each of them. The ring holds events without gaps up to a bound in bytes. Older events are
 * read from the store.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"
#include "io/http_stream.h"
#include "store/store.h"
#include "wire/event_json.h"

struct event_ring;

enum { EVENT_TEXT_MAX = 256 * 1024 }; /* bytes of one event */

/* One event. `text` is empty where the stored fact cannot be read. */
struct event_note {
    uint64_t seq;
    uint32_t type;
    struct event_json_subject about;
    struct str text;
};

struct event_ring *event_ring_new(void);
void event_ring_free(struct event_ring *ring);

/* Forgets all events. */
void event_ring_clear(struct event_ring *ring);

/* Encodes a committed fact and adds the event. A gap in the numbers forgets what was before. */
void event_ring_add(struct event_ring *ring, const struct core *core,
                    const struct store_fact *fact);

/* The event with this number; false: the ring does not have it. The text is valid until the next
 * call that changes the ring. */
bool event_ring_get(const struct event_ring *ring, uint64_t seq, struct event_note *ret);

/* All events from `seq` on that lie in one file, as a piece for streams (http_stream.h), and the number
 * of the last one. The piece is valid until the next call that changes the ring. False: the ring does
 * not have `seq`, or not in a file. */
bool event_ring_piece(const struct event_ring *ring, uint64_t seq, struct http_piece *ret,
                      uint64_t *ret_last);

/* Writes one event as a stream shows it. False: the stored fact cannot be read. */
bool event_ring_text(struct buf *out, struct arena *arena, const struct core *core,
                     const struct store_fact *fact, struct event_json_subject *ret_about);
