/* mailbox.c - a ring of message pointers behind a mutex. An eventfd tells a loop of messages, a
 * condition variable tells a blocking reader.
 *
 * Holds (see README.md): M1 the eventfd is readable exactly while there are messages or the mailbox
 * is closed, so a loop that leaves messages in the mailbox is called again; M2 an ordinary sender
 * never uses the last eighth of the room. SPDX-License-Identifier: Apache-2.0 */
#include "io/mailbox.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { MAILBOX_RESERVED_PART = 8 };

struct mailbox {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    /* -1 until mailbox_fd() is called: a mailbox read by mailbox_wait() makes no system calls. */
    int fd;
    bool closed;
    bool signalled; /* the eventfd is readable */
    size_t max;
    size_t max_ordinary;
    size_t first;
    size_t count;
    size_t room; /* size of the ring, which grows up to `max` */
    void **ring;
};

struct mailbox *mailbox_new(size_t max)
{
    must(max > 0);
    struct mailbox *box = xcalloc(1, sizeof *box);
    box->fd = -1;
    must(pthread_mutex_init(&box->lock, NULL) == 0);
    must(pthread_cond_init(&box->filled, NULL) == 0);
    box->max = max;
    box->max_ordinary = max - max / MAILBOX_RESERVED_PART;
    return box;
}

void mailbox_free(struct mailbox *box)
{
    if (box == NULL) {
        return;
    }
    must(box->count == 0);
    if (box->fd >= 0) {
        (void)close(box->fd);
    }
    (void)pthread_cond_destroy(&box->filled);
    (void)pthread_mutex_destroy(&box->lock);
    free(box->ring);
    free(box);
}

/* Brings the eventfd in line with M1. Makes one system call per change between empty and not empty,
 * not one per message. */
static void signal_update(struct mailbox *box)
{
    bool wanted = box->count > 0 || box->closed;
    if (box->fd < 0 || wanted == box->signalled) {
        return;
    }
    uint64_t value = 1;
    ssize_t size =
        wanted ? write(box->fd, &value, sizeof value) : read(box->fd, &value, sizeof value);
    must(size == (ssize_t)sizeof value);
    box->signalled = wanted;
}

/* Doubles the ring and moves its messages to the front. */
static void ring_grow(struct mailbox *box)
{
    enum { RING_ROOM_MIN = 16 };
    size_t room = box->room == 0 ? RING_ROOM_MIN : box->room * 2;
    room = room > box->max ? box->max : room;
    void **ring = xmalloc(room * sizeof *ring);
    for (size_t i = 0; i < box->count; i++) {
        ring[i] = box->ring[(box->first + i) % box->room];
    }
    free(box->ring);
    box->ring = ring;
    box->room = room;
    box->first = 0;
}

static bool send_up_to(struct mailbox *box, void *message, size_t max)
{
    must(message != NULL);
    must(pthread_mutex_lock(&box->lock) == 0);
    bool accepted = !box->closed && box->count < max;
    if (accepted) {
        if (box->count == box->room) {
            ring_grow(box);
        }
        box->ring[(box->first + box->count) % box->room] = message;
        box->count++;
        signal_update(box);
        (void)pthread_cond_signal(&box->filled);
    }
    must(pthread_mutex_unlock(&box->lock) == 0);
    return accepted;
}

bool mailbox_send(struct mailbox *box, void *message)
{
    return send_up_to(box, message, box->max_ordinary);
}

bool mailbox_send_reserved(struct mailbox *box, void *message)
{
    return send_up_to(box, message, box->max);
}

static void *take_locked(struct mailbox *box)
{
    if (box->count == 0) {
        return NULL;
    }
    void *message = box->ring[box->first];
    box->first = (box->first + 1) % box->room;
    box->count--;
    signal_update(box);
    return message;
}

void *mailbox_take(struct mailbox *box)
{
    must(pthread_mutex_lock(&box->lock) == 0);
    void *message = take_locked(box);
    must(pthread_mutex_unlock(&box->lock) == 0);
    return message;
}

void *mailbox_wait(struct mailbox *box)
{
    must(pthread_mutex_lock(&box->lock) == 0);
    while (box->count == 0 && !box->closed) {
        must(pthread_cond_wait(&box->filled, &box->lock) == 0);
    }
    void *message = take_locked(box);
    must(pthread_mutex_unlock(&box->lock) == 0);
    return message;
}

int mailbox_fd(struct mailbox *box)
{
    must(pthread_mutex_lock(&box->lock) == 0);
    if (box->fd < 0) {
        box->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        must(box->fd >= 0);
        signal_update(box);
    }
    int fd = box->fd;
    must(pthread_mutex_unlock(&box->lock) == 0);
    return fd;
}

void mailbox_close(struct mailbox *box)
{
    must(pthread_mutex_lock(&box->lock) == 0);
    box->closed = true;
    signal_update(box);
    (void)pthread_cond_broadcast(&box->filled);
    must(pthread_mutex_unlock(&box->lock) == 0);
}

size_t mailbox_count(struct mailbox *box)
{
    must(pthread_mutex_lock(&box->lock) == 0);
    size_t count = box->count;
    must(pthread_mutex_unlock(&box->lock) == 0);
    return count;
}
