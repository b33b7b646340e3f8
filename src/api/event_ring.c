/* event_ring.c - see event_ring.h.
 *
 *   blocks:  [first … ][ … ][ … ] newest     each block is one text and one note for each event
 *   text:    "2f3\r\n" event "\r\n" "1a0\r\n" event "\r\n" …     each event is one chunk of HTTP
 *
 * The text of a block lies in a file in memory. A stream without a filter is sent parts of the file by
 * the kernel, without a copy, so the cost of a follower is a system call for many events. Where the
 * kernel makes no such file the text lies in plain memory, and streams are given copies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/event_ring.h"

#include "base/mem.h"
#include "base/vec.h"
#include "core/core.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <unistd.h>

enum {
    RING_BYTES_MAX = 16 * 1024 * 1024, /* about 60,000 events */
    BLOCK_BYTES = 1024 * 1024,         /* a block takes no further event beyond this size */
    CHUNK_HEAD_MAX = 16,               /* "40000\r\n" */
    BLOCK_ROOM = BLOCK_BYTES + EVENT_TEXT_MAX + 2 * CHUNK_HEAD_MAX,
};

struct block_note {
    uint32_t chunk; /* where the chunk begins; the chunk ends where the next one begins */
    uint32_t at;    /* where the text in it begins */
    uint32_t len;   /* 0: the stored fact cannot be read, and there is no chunk */
    uint32_t type;
    struct event_json_subject about;
};

struct event_block {
    TAILQ_ENTRY(event_block) link;
    uint64_t first;
    VEC(struct block_note) notes;
    int fd; /* of the text; -1: it lies in plain memory */
    char *text;
    size_t len;
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
    return block->len + block->notes.count * sizeof block->notes.at[0];
}

static void block_drop(struct event_ring *ring, struct event_block *block)
{
    ring->bytes -= block_bytes(block);
    TAILQ_REMOVE(&ring->blocks, block, link);
    vec_done(&block->notes);
    (void)munmap(block->text, BLOCK_ROOM);
    if (block->fd >= 0) {
        (void)close(block->fd);
    }
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

/* Room for the text of a block. The pages of a file are taken at once: a page that is missing later
 * would end the process. */
static void block_room(struct event_block *block)
{
    block->fd = memfd_create("weir-events", MFD_CLOEXEC);
    if (block->fd >= 0 && fallocate(block->fd, 0, 0, BLOCK_ROOM) != 0) {
        (void)close(block->fd);
        block->fd = -1;
    }
    const int flags = block->fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    block->text = mmap(NULL, BLOCK_ROOM, PROT_READ | PROT_WRITE, flags, block->fd, 0);
    must(block->text != MAP_FAILED);
}

/* The block that takes the next event. */
static struct event_block *block_open(struct event_ring *ring, uint64_t seq)
{
    struct event_block *block = TAILQ_LAST(&ring->blocks, event_blocks);
    if (block != NULL && block->len < BLOCK_BYTES) {
        return block;
    }
    block = xcalloc(1, sizeof *block);
    block->first = seq;
    block_room(block);
    TAILQ_INSERT_TAIL(&ring->blocks, block, link);
    return block;
}

static void block_put(struct event_block *block, const char *data, size_t len)
{
    must(len <= BLOCK_ROOM - block->len);
    memcpy(block->text + block->len, data, len);
    block->len += len;
}

/* Adds the text as a chunk. */
static void chunk_put(struct event_block *block, struct block_note *note, const struct buf *text)
{
    char head[CHUNK_HEAD_MAX];
    const int head_len = snprintf(head, sizeof head, "%zx\r\n", text->len);
    block_put(block, head, (size_t)head_len);
    note->at = (uint32_t)block->len;
    note->len = (uint32_t)text->len;
    block_put(block, text->data, text->len);
    block_put(block, "\r\n", 2);
}

void event_ring_add(struct event_ring *ring, const struct core *core, const struct store_fact *fact)
{
    if (ring->next != 0 && ring->next != fact->seq) {
        event_ring_clear(ring);
    }
    struct event_block *block = block_open(ring, fact->seq);
    const size_t before = block_bytes(block);
    struct block_note note = {.chunk = (uint32_t)block->len, .type = fact->type};
    if (event_ring_text(&ring->text, &ring->arena, core, fact, &note.about)) {
        chunk_put(block, &note, &ring->text);
    }
    vec_push(&block->notes, note);
    ring->bytes += block_bytes(block) - before;
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

bool event_ring_get(const struct event_ring *ring, uint64_t seq, struct event_note *ret)
{
    const struct event_block *block = block_of(ring, seq);
    if (block == NULL) {
        return false;
    }
    const struct block_note *note = &block->notes.at[(size_t)(seq - block->first)];
    *ret = (struct event_note){.seq = seq,
                               .type = note->type,
                               .about = note->about,
                               .text = {block->text + note->at, note->len}};
    return true;
}

bool event_ring_piece(const struct event_ring *ring, uint64_t seq, struct http_piece *ret,
                      uint64_t *ret_last)
{
    const struct event_block *block = block_of(ring, seq);
    if (block == NULL || block->fd < 0) {
        return false;
    }
    const uint32_t at = block->notes.at[(size_t)(seq - block->first)].chunk;
    *ret = (struct http_piece){.fd = block->fd, .at = at, .len = block->len - at};
    *ret_last = block->first + block->notes.count - 1;
    return true;
}
