/* link.c - the supervisor's connection with the agent. There is one connection at a time: a new
 * agent replaces the old agent. Every message may come twice; keys and positions make the
 * repetition harmless. SPDX-License-Identifier: Apache-2.0 */
#include "agent/link.h"

#include "agent/attempt.h"
#include "agent/upkeep.h"
#include "agent/supervisor_internal.h"
#include "agent/unixsock.h"
#include "base/log.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINK_READ_BYTES = 64 * 1024,
    /* Messages done in one loop turn; then ends and output of tasks have their turn. */
    LINK_FRAMES_TURN = 32,
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

/* Chooses what to watch the socket for. Nothing is read while enough messages wait, or while the
 * spool cannot be written. */
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
            attempt->ordered = true;
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
    case FRAME_RENEW:
        upkeep_spool_renew(sup);
        break;
    case FRAME_BYE:
        if (!supervisor_end_idle(sup)) {
            link_say(sup, &(struct frame){.type = FRAME_READY});
            link_flush(sup);
        }
        break;
    case FRAME_TROUBLE:
    case FRAME_USE:
    case FRAME_NONE:
    case FRAME_HELLO:
    case FRAME_ATTEMPT:
    case FRAME_READY:
    case FRAME_GROWN:
        break;
    }
}

/* Records each START among the first messages of `in` as accepted, before any of the attempts
 * begins. So the spool says after a kill which attempts may have run (P11). */
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

/* Carries out the messages in `in`, at most LINK_FRAMES_TURN at a time. */
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
        /* A message made the supervisor drop the connection, and `in` with it. */
        if (link->fd < 0) {
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
                          .at = spool_end(sup->spool),
                          .cgroup_mode = cgroup_mode(sup->cgroups),
                          .cgroup_controllers = cgroup_controllers(sup->cgroups),
                          .confine = sup->confine.with};
    memcpy(hello.id, sup->id, sizeof hello.id);
    link_say(sup, &hello);
    attempts_say(sup);
    link_trouble(sup);
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

void link_tell(struct supervisor *sup, const struct frame *frame)
{
    if (sup->link.fd >= 0) {
        link_say(sup, frame);
        link_flush(sup);
    }
}

void link_trouble(struct supervisor *sup)
{
    if (sup->link.fd >= 0) {
        link_say(sup, &(struct frame){.type = FRAME_TROUBLE, .trouble = sup->trouble});
        link_flush(sup);
    }
}

must_use enum err link_hold(struct supervisor *sup, struct error *e)
{
    if (unixsock_inode(sup->dir) == sup->socket_inode) {
        return ERR_OK;
    }
    int fd;
    enum err r = unixsock_listen(sup->dir, &fd, e);
    if (r != ERR_OK) {
        return r;
    }
    log_warn("the supervisor's socket was gone and is made anew");
    loop_fd_remove(sup->listen_watch);
    (void)close(sup->listen_fd);
    sup->listen_fd = fd;
    sup->socket_inode = unixsock_inode(sup->dir);
    sup->listen_watch = loop_fd_add(sup->loop, fd, EPOLLIN, link_accept, sup);
    return ERR_OK;
}

must_use enum err link_listen(struct supervisor *sup, struct error *e)
{
    enum err r = unixsock_listen(sup->dir, &sup->listen_fd, e);
    if (r != ERR_OK) {
        return r;
    }
    sup->socket_inode = unixsock_inode(sup->dir);
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
