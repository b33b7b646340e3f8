/* link.c - the supervisor's connection with the agent. One at a time: a new agent takes the place
 * of the old one. Everything said here may be said again; keys and positions make it harmless.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/link.h"

#include "agent/attempt.h"
#include "agent/supervisor_internal.h"
#include "agent/unixsock.h"
#include "base/log.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINK_READ_BYTES = 64 * 1024,
    LINK_FRAMES_TURN = 32, /* then the tasks' ends and output have their turn */
};

static void link_drop(struct supervisor *sup)
{
    struct link *link = &sup->link;
    if (link->fd < 0) {
        return;
    }
    loop_fd_remove(link->watch);
    link->watch = NULL;
    (void)close(link->fd);
    link->fd = -1;
    loop_timer_off(link->more);
    buf_done(&link->in);
    buf_done(&link->out);
    supervisor_idle_check(sup);
}

/* Watch for what can be used: nothing is read while enough waits, or cannot be done. */
static void link_events(struct supervisor *sup)
{
    struct link *link = &sup->link;
    if (link->fd < 0) {
        return;
    }
    uint32_t events = link->out.len > 0 ? EPOLLOUT : 0;
    if (!sup->spool_stuck && link->in.len < FRAME_BYTES_MAX + LINK_READ_BYTES) {
        events |= EPOLLIN;
    }
    if (events != link->events) {
        loop_fd_change(link->watch, events);
        link->events = events;
    }
}

static void link_flush(struct supervisor *sup)
{
    struct link *link = &sup->link;
    while (link->fd >= 0 && link->out.len > 0) {
        ssize_t sent = send(link->fd, link->out.data, link->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            break;
        }
        if (sent <= 0) {
            link_drop(sup);
            return;
        }
        buf_drop(&link->out, (size_t)sent);
    }
    link_events(sup);
}

static void link_say(struct supervisor *sup, const struct frame *frame)
{
    frame_put(&sup->link.out, frame);
    if (sup->link.out.full) {
        log_warn("the agent does not listen, dropping it");
        link_drop(sup);
    }
}

static void attempts_say(struct supervisor *sup)
{
    size_t cursor = 0;
    for (const struct attempt *attempt = map_next(sup->attempts, &cursor);
         attempt != NULL && sup->link.fd >= 0; attempt = map_next(sup->attempts, &cursor)) {
        struct frame frame = {
            .type = FRAME_ATTEMPT, .key = attempt->key, .ended = attempt->state == ATTEMPT_ENDED};
        link_say(sup, &frame);
    }
    if (sup->link.fd >= 0) {
        link_say(sup, &(struct frame){.type = FRAME_READY});
        link_flush(sup);
    }
}

static void frame_do(struct supervisor *sup, const struct frame *frame)
{
    switch (frame->type) {
    case FRAME_START:
        sup->link.starts++;
        attempt_start(sup, &frame->start);
        supervisor_idle_check(sup);
        break;
    case FRAME_STOP: {
        struct attempt *attempt = map_get(sup->attempts, &frame->key, sizeof frame->key);
        if (attempt != NULL) {
            attempt_stop(attempt, frame->grace_ms);
        }
        break;
    }
    case FRAME_ACK:
        spool_ack(sup->spool, frame->at);
        attempt_forget(sup, spool_acked(sup->spool));
        break;
    case FRAME_LIST:
        attempts_say(sup);
        break;
    case FRAME_NONE:
    case FRAME_HELLO:
    case FRAME_ATTEMPT:
    case FRAME_READY:
    case FRAME_GROWN:
        break;
    }
}

/* The starts among the first messages of `in` go on file as accepted before any of them is begun:
 * whoever reads the spool after a kill knows that they may have run (P11). */
static bool starts_accept(struct supervisor *sup, struct arena *arena)
{
    const struct buf *in = &sup->link.in;
    size_t done = 0;
    bool any = false;
    struct frame frame;
    for (int i = 0; i < LINK_FRAMES_TURN; i++) {
        arena_clear(arena);
        long len = frame_get(in->data + done, in->len - done, arena, &frame);
        if (len <= 0) {
            break;
        }
        done += (size_t)len;
        if (frame.type == FRAME_START && attempt_is_new(sup, &frame.start.key)) {
            struct record record = {.type = RECORD_ACCEPTED, .key = frame.start.key};
            spool_put(sup->spool, &record);
            any = true;
        }
    }
    return !any || spool_flush(sup->spool, NULL) == ERR_OK;
}

/* Does what is in `in`, a bounded number at a time. */
static void frames_do(void *ctx)
{
    struct supervisor *sup = ctx;
    struct link *link = &sup->link;
    struct arena arena;
    arena_init(&arena);
    size_t done = 0;
    bool writable = !sup->spool_stuck && starts_accept(sup, &arena);
    long len = writable ? 1 : 0;
    for (int i = 0; i < LINK_FRAMES_TURN && len > 0; i++) {
        struct frame frame;
        arena_clear(&arena);
        len = frame_get(link->in.data + done, link->in.len - done, &arena, &frame);
        if (len > 0) {
            frame_do(sup, &frame);
            done += (size_t)len;
        }
        if (link->fd < 0) { /* it was dropped in doing so, and `in` with it */
            arena_done(&arena);
            return;
        }
    }
    arena_done(&arena);
    if (len < 0) {
        log_warn("the agent sent what cannot be understood, dropping it");
        link_drop(sup);
        return;
    }
    buf_drop(&link->in, done);
    if (len > 0) {
        loop_timer_set(link->more, loop_now_ms(sup->loop));
    }
    link_events(sup);
}

static void link_ready(void *ctx, uint32_t events)
{
    struct supervisor *sup = ctx;
    struct link *link = &sup->link;
    if ((events & EPOLLOUT) != 0) {
        link_flush(sup);
    }
    if (link->fd < 0 || (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) {
        return;
    }
    char chunk[LINK_READ_BYTES];
    ssize_t got = recv(link->fd, chunk, sizeof chunk, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0) {
        link_drop(sup);
        return;
    }
    buf_add(&link->in, chunk, (size_t)got);
    must(!link->in.full);
    frames_do(sup);
}

static void greet(struct supervisor *sup)
{
    struct frame hello = {.type = FRAME_HELLO,
                          .version = FRAME_VERSION,
                          .pid = (uint64_t)getpid(),
                          .acked = spool_acked(sup->spool),
                          .at = spool_end(sup->spool)};
    memcpy(hello.id, sup->id, sizeof hello.id);
    link_say(sup, &hello);
    attempts_say(sup);
}

static void link_accept(void *ctx, uint32_t events)
{
    (void)events;
    struct supervisor *sup = ctx;
    struct link *link = &sup->link;
    int fd = accept4(sup->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        return;
    }
    struct ucred peer;
    socklen_t len = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 ||
        (peer.uid != geteuid() && peer.uid != 0)) {
        (void)close(fd);
        return;
    }
    link_drop(sup);
    link->fd = fd;
    buf_init(&link->in, FRAME_BYTES_MAX + 4 * LINK_READ_BYTES);
    buf_init(&link->out, FRAME_QUEUE_MAX);
    link->told = spool_acked(sup->spool);
    link->starts = 0;
    link->events = EPOLLIN;
    link->watch = loop_fd_add(sup->loop, fd, link->events, link_ready, sup);
    supervisor_idle_check(sup);
    greet(sup);
}

must_use enum err link_listen(struct supervisor *sup, struct error *e)
{
    enum err r = unixsock_listen(sup->dir, &sup->listen_fd, e);
    if (r != ERR_OK) {
        return r;
    }
    sup->link.more = loop_timer_new(sup->loop, frames_do, sup);
    sup->listen_watch = loop_fd_add(sup->loop, sup->listen_fd, EPOLLIN, link_accept, sup);
    return ERR_OK;
}

void link_close(struct supervisor *sup)
{
    link_drop(sup);
    loop_timer_free(sup->link.more);
    loop_fd_remove(sup->listen_watch);
    if (sup->listen_fd >= 0) {
        (void)close(sup->listen_fd);
    }
}

void link_grown(struct supervisor *sup)
{
    struct spool_position end = spool_end(sup->spool);
    if (sup->link.fd < 0 || spool_position_compare(end, sup->link.told) <= 0) {
        return;
    }
    sup->link.told = end;
    link_say(sup, &(struct frame){.type = FRAME_GROWN, .at = end, .starts = sup->link.starts});
    link_flush(sup);
}
