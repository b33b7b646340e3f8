/* relay.c - see relay.h.
 *
 *   ends[0].fd ──read──▶ ends[0].buf ──write──▶ ends[1].fd     and the same from 1 to 0
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/relay.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RELAY_READ_BYTES = 16 * 1024 };

struct end {
    struct relay *relay;
    int fd;
    struct loop_fd *watch; /* NULL: hung up; the rest is read when the other end takes bytes */
    uint32_t events;
    struct buf buf; /* read from fd, not yet written to the other end */
    uint64_t bytes;
    bool closed; /* fd gives no more bytes */
    bool deaf;   /* fd takes no more bytes; what it has sent is still delivered */
};

struct relay {
    struct loop *loop;
    struct end ends[2];
    struct loop_timer *over; /* calls `ended` outside of every other call */
    int64_t used_ms;
    void (*ended)(void *ctx);
    void *ctx;
};

static struct end *other(struct end *end)
{
    return &end->relay->ends[end == &end->relay->ends[0] ? 1 : 0];
}

/* Writes what the other end has sent. */
static void end_write(struct end *end)
{
    struct end *from = other(end);
    while (from->buf.len > 0 && !end->deaf) {
        ssize_t put = send(end->fd, from->buf.data, from->buf.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        end->deaf = put <= 0;
        buf_drop(&from->buf, put > 0 ? (size_t)put : 0);
    }
    if (end->deaf) {
        buf_clear(&from->buf);
    }
}

static void end_read(struct end *end)
{
    char chunk[RELAY_READ_BYTES];
    size_t room = RELAY_BYTES_MAX - end->buf.len;
    if (room == 0 || end->closed) {
        return;
    }
    ssize_t got = recv(end->fd, chunk, room < sizeof chunk ? room : sizeof chunk, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0) {
        end->closed = true;
        return;
    }
    buf_add(&end->buf, chunk, (size_t)got);
    end->bytes += (uint64_t)got;
    end->relay->used_ms = loop_now_ms(end->relay->loop);
}

static void end_watch(struct end *end)
{
    const uint32_t events =
        (!end->closed && end->buf.len < RELAY_BYTES_MAX ? (uint32_t)EPOLLIN : 0) |
        (other(end)->buf.len > 0 ? (uint32_t)EPOLLOUT : 0);
    if (events != end->events && end->watch != NULL) {
        loop_fd_change(end->watch, events);
        end->events = events;
    }
}

/* Stops watching, and tells the owner in a turn of its own. */
static void relay_over(struct relay *relay)
{
    for (size_t i = 0; i < 2; i++) {
        loop_fd_remove(relay->ends[i].watch);
        relay->ends[i].watch = NULL;
    }
    loop_timer_set(relay->over, loop_now_ms(relay->loop));
}

static void relay_look(struct relay *relay)
{
    bool over = relay->ends[0].deaf && relay->ends[1].deaf;
    for (size_t i = 0; i < 2; i++) {
        over = over || (relay->ends[i].closed && relay->ends[i].buf.len == 0);
    }
    if (over) {
        relay_over(relay);
        return;
    }
    end_watch(&relay->ends[0]);
    end_watch(&relay->ends[1]);
}

static void end_ready(void *ctx, uint32_t events)
{
    struct end *end = ctx;
    if ((events & (EPOLLERR | EPOLLHUP)) != 0 && (end->events & EPOLLIN) == 0) {
        end->deaf = true;
        loop_fd_remove(end->watch); /* else the loop would tell of the hang-up again and again */
        end->watch = NULL;
    }
    end_read(end);
    end_write(end);
    if (other(end)->watch == NULL) {
        end_read(other(end));
    }
    end_write(other(end));
    relay_look(end->relay);
}

static void over_due(void *ctx)
{
    struct relay *relay = ctx;
    relay->ended(relay->ctx);
}

struct relay *relay_new(struct loop *loop, const struct relay_end ends[2], void (*ended)(void *ctx),
                        void *ctx)
{
    struct relay *relay = xcalloc(1, sizeof *relay);
    relay->loop = loop;
    relay->ended = ended;
    relay->ctx = ctx;
    relay->used_ms = loop_now_ms(loop);
    relay->over = loop_timer_new(loop, over_due, relay);
    for (size_t i = 0; i < 2; i++) {
        struct end *end = &relay->ends[i];
        *end = (struct end){.relay = relay, .fd = ends[i].fd, .events = EPOLLIN};
        buf_init(&end->buf, RELAY_BYTES_MAX);
        must(ends[i].early.len <= RELAY_BYTES_MAX);
        buf_add(&end->buf, ends[i].early.p, ends[i].early.len);
        end->bytes = ends[i].early.len;
        end->watch = loop_fd_add(loop, end->fd, end->events, end_ready, end);
    }
    relay_look(relay);
    return relay;
}

void relay_free(struct relay *relay)
{
    if (relay == NULL) {
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        loop_fd_remove(relay->ends[i].watch);
        buf_done(&relay->ends[i].buf);
    }
    loop_timer_free(relay->over);
    free(relay);
}

uint64_t relay_bytes(const struct relay *relay, unsigned end)
{
    return relay->ends[end].bytes;
}

int64_t relay_used_ms(const struct relay *relay)
{
    return relay->used_ms;
}
