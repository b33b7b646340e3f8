/* event_ring.c - see event_ring.h.
 *
 *   blocks:  [first … ][ … ][ … ] newest     each block is one text and one note for each event
 *
 * A stream without a filter is given whole pieces of a block with one write, so the cost of a
 * follower is the cost of copying bytes. SPDX-License-Identifier: Apache-2.0 */
#include "api/event_ring.h"

#include "base/mem.h"
#include "base/vec.h"
#include "core/core.h"

#include <sys/queue.h>

enum {
    RING_BYTES_MAX = 16 * 1024 * 1024, /* about 60,000 events */
    BLOCK_BYTES = 128 * 1024,          /* a block takes no further event beyond this size */
};

struct block_note {
    uint32_t at; /* where the text begins; the text ends where the next one begins */
    uint32_t type;
    struct event_json_subject about;
};

struct event_block {
    TAILQ_ENTRY(event_block) link;
    uint64_t first;
    VEC(struct block_note) notes;
    struct buf text;
};
TAILQ_HEAD(event_blocks, event_block);

struct event_ring {
    struct event_blocks blocks;
    uint64_t next; /* number of the event that continues the ring; 0: the ring is empty */
    size_t bytes;
    struct arena arena; /* memory of one event */
    struct buf text;
};

struct event_ring *event_ring_new(void)
{
    struct event_ring *ring = xcalloc(1, sizeof *ring);
    TAILQ_INIT(&ring->blocks);
    arena_init(&ring->arena);
    buf_init(&ring->text, EVENT_TEXT_MAX);
    return ring;
}

static size_t block_bytes(const struct event_block *block)
{
    return block->text.len + block->notes.count * sizeof block->notes.at[0];
}

static void block_drop(struct event_ring *ring, struct event_block *block)
{
    ring->bytes -= block_bytes(block);
    TAILQ_REMOVE(&ring->blocks, block, link);
    vec_done(&block->notes);
    buf_done(&block->text);
    free(block);
}

void event_ring_clear(struct event_ring *ring)
{
    struct event_block *block;
    while ((block = TAILQ_FIRST(&ring->blocks)) != NULL) {
        block_drop(ring, block);
    }
    ring->next = 0;
}

void event_ring_free(struct event_ring *ring)
{
    event_ring_clear(ring);
    arena_done(&ring->arena);
    buf_done(&ring->text);
    free(ring);
}

bool event_ring_text(struct buf *out, struct arena *arena, const struct core *core,
                     const struct store_fact *fact, struct event_json_subject *ret_about)
{
    struct fact decoded;
    struct error e;
    arena_clear(arena);
    buf_clear(out);
    if (fact_decode(fact->body, arena, &decoded, &e) != ERR_OK) {
        return false;
    }
    buf_addf(out, "id: %llu\nevent: %s\ndata: ", (unsigned long long)fact->seq,
             fact_type_name(decoded.type));
    struct json_out j;
    json_out_init(&j, out);
    event_json(&j, core, fact->seq, &decoded);
    *ret_about = event_json_subject(core, &decoded);
    buf_add_str(out, "\n\n");
    return !out->full;
}

/* The block that takes the next event. */
static struct event_block *block_open(struct event_ring *ring, uint64_t seq)
{
    struct event_block *block = TAILQ_LAST(&ring->blocks, event_blocks);
    if (block != NULL && block->text.len < BLOCK_BYTES) {
        return block;
    }
    block = xcalloc(1, sizeof *block);
    block->first = seq;
    buf_init(&block->text, BLOCK_BYTES + EVENT_TEXT_MAX);
    TAILQ_INSERT_TAIL(&ring->blocks, block, link);
    return block;
}

void event_ring_add(struct event_ring *ring, const struct core *core, const struct store_fact *fact)
{
    if (ring->next != 0 && ring->next != fact->seq) {
        event_ring_clear(ring);
    }
    struct event_block *block = block_open(ring, fact->seq);
    struct block_note note = {.at = (uint32_t)block->text.len, .type = fact->type};
    if (event_ring_text(&ring->text, &ring->arena, core, fact, &note.about)) {
        buf_add(&block->text, ring->text.data, ring->text.len);
        ring->bytes += ring->text.len;
    }
    vec_push(&block->notes, note);
    ring->bytes += sizeof note;
    ring->next = fact->seq + 1;
    while (ring->bytes > RING_BYTES_MAX && TAILQ_FIRST(&ring->blocks) != block) {
        block_drop(ring, TAILQ_FIRST(&ring->blocks));
    }
}

/* Most streams are near the end, so the search begins there. */
static const struct event_block *block_of(const struct event_ring *ring, uint64_t seq)
{
    const struct event_block *block = NULL;
    if (seq < ring->next) {
        block = TAILQ_LAST(&ring->blocks, event_blocks);
    }
    while (block != NULL && block->first > seq) {
        block = TAILQ_PREV(block, event_blocks, link);
    }
    return block;
}

static size_t text_end(const struct event_block *block, size_t i)
{
    return i + 1 < block->notes.count ? block->notes.at[i + 1].at : block->text.len;
}

bool event_ring_get(const struct event_ring *ring, uint64_t seq, struct event_note *ret)
{
    const struct event_block *block = block_of(ring, seq);
    if (block == NULL) {
        return false;
    }
    const size_t i = (size_t)(seq - block->first);
    const struct block_note *note = &block->notes.at[i];
    *ret =
        (struct event_note){.seq = seq,
                            .type = note->type,
                            .about = note->about,
                            .text = {block->text.data + note->at, text_end(block, i) - note->at}};
    return true;
}

bool event_ring_run(const struct event_ring *ring, uint64_t seq, size_t bytes_max, struct str *ret,
                    uint64_t *ret_last)
{
    const struct event_block *block = block_of(ring, seq);
    if (block == NULL) {
        return false;
    }
    const size_t first = (size_t)(seq - block->first);
    const size_t begin = block->notes.at[first].at;
    size_t last = first;
    while (last + 1 < block->notes.count && text_end(block, last + 1) - begin <= bytes_max) {
        last++;
    }
    *ret = (struct str){block->text.data + begin, text_end(block, last) - begin};
    *ret_last = block->first + last;
    return true;
}
