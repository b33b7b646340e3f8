/* loop.c - the event loop.
 *
 * Holds (see README.md): L1 a removed watch or timer is never called again, not even for an event
 * already fetched in this turn; L2 callbacks of one turn see one time, read after the wait; L3 a
 * turn calls a bounded number of callbacks: LOOP_EVENTS_MAX descriptors, the timers due when the
 * turn began, and LOOP_ROUNDS_MAX rounds of hooks. A removed watch stays allocated until the end of
 * the turn, because fetched events point at the watch. SPDX-License-Identifier: Apache-2.0 */
#include "io/loop.h"

#include "base/heap.h"
#include "base/mem.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { LOOP_EVENTS_MAX = 256, LOOP_ROUNDS_MAX = 16, LOOP_SIGNAL_MAX = 65 };

struct loop_fd {
    struct loop *loop;
    struct loop_fd *dead_next;
    int fd;
    bool dead;
    loop_fd_fn fn;
    void *ctx;
};

struct loop_timer {
    struct heap_entry entry; /* the first member, so that a heap entry can be cast to its timer */
    struct loop *loop;
    loop_fn fn;
    void *ctx;
};

struct hook {
    loop_fn end;
    loop_fn flush;
    void *ctx;
};

struct loop {
    int epoll_fd;
    bool stop;
    bool woken; /* there is work for the hooks */
    int64_t now_ms;
    struct heap timers;
    size_t watch_count;
    size_t timer_count;
    struct loop_fd *dead;
    size_t hook_count;
    struct hook hooks[LOOP_HOOKS_MAX];
    int signal_fd;
    sigset_t signals;
    struct loop_fd *signal_watch;
    struct {
        loop_fn fn;
        void *ctx;
    } on_signal[LOOP_SIGNAL_MAX];
};

static int64_t clock_ms(void)
{
    struct timespec t;
    must(clock_gettime(CLOCK_BOOTTIME, &t) == 0);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

must_use enum err loop_new(struct loop **ret, struct error *e)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make an event loop");
    }
    struct loop *loop = xcalloc(1, sizeof *loop);
    loop->epoll_fd = fd;
    loop->signal_fd = -1;
    (void)sigemptyset(&loop->signals);
    loop->now_ms = clock_ms();
    *ret = loop;
    return ERR_OK;
}

static void dead_free(struct loop *loop)
{
    while (loop->dead != NULL) {
        struct loop_fd *watch = loop->dead;
        loop->dead = watch->dead_next;
        free(watch);
    }
}

void loop_free(struct loop *loop)
{
    if (loop == NULL) {
        return;
    }
    loop_fd_remove(loop->signal_watch);
    must(loop->watch_count == 0);
    must(loop->timer_count == 0);
    if (loop->signal_fd >= 0) {
        (void)close(loop->signal_fd);
    }
    dead_free(loop);
    heap_done(&loop->timers);
    (void)close(loop->epoll_fd);
    free(loop);
}

int64_t loop_now_ms(const struct loop *loop)
{
    return loop->now_ms;
}

int64_t loop_now_again_ms(struct loop *loop)
{
    loop->now_ms = clock_ms();
    return loop->now_ms;
}

/* Descriptors. */

struct loop_fd *loop_fd_add(struct loop *loop, int fd, uint32_t events, loop_fd_fn fn, void *ctx)
{
    must(fd >= 0);
    must(fn != NULL);
    struct loop_fd *watch = xcalloc(1, sizeof *watch);
    watch->loop = loop;
    watch->fd = fd;
    watch->fn = fn;
    watch->ctx = ctx;
    struct epoll_event event = {.events = events, .data.ptr = watch};
    /* The call fails only for a closed descriptor, a descriptor added twice, or a descriptor that
     * cannot be polled. */
    must(epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0);
    loop->watch_count++;
    return watch;
}

void loop_fd_change(struct loop_fd *watch, uint32_t events)
{
    must(!watch->dead);
    struct epoll_event event = {.events = events, .data.ptr = watch};
    must(epoll_ctl(watch->loop->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event) == 0);
}

void loop_fd_remove(struct loop_fd *watch)
{
    if (watch == NULL) {
        return;
    }
    must(!watch->dead);
    struct loop *loop = watch->loop;
    must(epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL) == 0);
    watch->dead = true;
    watch->dead_next = loop->dead;
    loop->dead = watch;
    loop->watch_count--;
}

/* Timers. */

struct loop_timer *loop_timer_new(struct loop *loop, loop_fn fn, void *ctx)
{
    must(fn != NULL);
    struct loop_timer *timer = xcalloc(1, sizeof *timer);
    timer->loop = loop;
    timer->fn = fn;
    timer->ctx = ctx;
    loop->timer_count++;
    return timer;
}

void loop_timer_set(struct loop_timer *timer, int64_t at_ms)
{
    heap_set(&timer->loop->timers, &timer->entry, at_ms);
}

void loop_timer_off(struct loop_timer *timer)
{
    heap_remove(&timer->loop->timers, &timer->entry);
}

bool loop_timer_armed(const struct loop_timer *timer)
{
    return heap_has(&timer->entry);
}

void loop_timer_free(struct loop_timer *timer)
{
    if (timer == NULL) {
        return;
    }
    loop_timer_off(timer);
    timer->loop->timer_count--;
    free(timer);
}

/* Calls the due timers that were set before this function began. A timer that sets itself to "now"
 * must not keep the loop here for ever. */
static void timers_call(struct loop *loop)
{
    uint64_t order_end = loop->timers.order_next;
    for (;;) {
        struct heap_entry *first = heap_first(&loop->timers);
        if (first == NULL || first->key > loop->now_ms || first->order >= order_end) {
            return;
        }
        struct loop_timer *timer = (struct loop_timer *)first;
        heap_remove(&loop->timers, first);
        timer->fn(timer->ctx);
    }
}

/* Hooks. */

static void hook_add(struct loop *loop, struct hook hook)
{
    must(loop->hook_count < LOOP_HOOKS_MAX);
    loop->hooks[loop->hook_count++] = hook;
}

void loop_turn_end(struct loop *loop, loop_fn fn, void *ctx)
{
    hook_add(loop, (struct hook){.end = fn, .ctx = ctx});
}

void loop_turn_flush(struct loop *loop, loop_fn fn, void *ctx)
{
    hook_add(loop, (struct hook){.flush = fn, .ctx = ctx});
}

void loop_hooks_remove(struct loop *loop, const void *ctx)
{
    size_t kept = 0;
    for (size_t i = 0; i < loop->hook_count; i++) {
        if (loop->hooks[i].ctx != ctx) {
            loop->hooks[kept++] = loop->hooks[i];
        }
    }
    loop->hook_count = kept;
}

void loop_wake(struct loop *loop)
{
    loop->woken = true;
}

/* The flush hooks see the work that the turn-end hooks of the same round made. Only work that
 * arises during the flush needs another round. */
static void hooks_round(struct loop *loop)
{
    for (size_t i = 0; i < loop->hook_count; i++) {
        if (loop->hooks[i].end != NULL) {
            loop->hooks[i].end(loop->hooks[i].ctx);
        }
    }
    loop->woken = false;
    for (size_t i = 0; i < loop->hook_count; i++) {
        if (loop->hooks[i].flush != NULL) {
            loop->hooks[i].flush(loop->hooks[i].ctx);
        }
    }
}

/* Signals. */

static void signal_ready(void *ctx, uint32_t events)
{
    (void)events;
    struct loop *loop = ctx;
    struct signalfd_siginfo info;
    while (read(loop->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        must(info.ssi_signo < LOOP_SIGNAL_MAX);
        loop_fn fn = loop->on_signal[info.ssi_signo].fn;
        if (fn != NULL) {
            fn(loop->on_signal[info.ssi_signo].ctx);
        }
    }
}

must_use enum err loop_signal(struct loop *loop, int signal_number, loop_fn fn, void *ctx,
                              struct error *e)
{
    must(signal_number > 0);
    must(signal_number < LOOP_SIGNAL_MAX);
    (void)sigaddset(&loop->signals, signal_number);
    int r = pthread_sigmask(SIG_BLOCK, &loop->signals, NULL);
    if (r != 0) {
        return fail_errno(e, ERR_IO, r, "cannot block signal %d", signal_number);
    }
    int fd = signalfd(loop->signal_fd, &loop->signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot receive signal %d", signal_number);
    }
    if (loop->signal_watch == NULL) {
        loop->signal_fd = fd;
        loop->signal_watch = loop_fd_add(loop, fd, EPOLLIN, signal_ready, loop);
    }
    loop->on_signal[signal_number].fn = fn;
    loop->on_signal[signal_number].ctx = ctx;
    return ERR_OK;
}

/* The loop turn. */

static int wait_ms_of(const struct loop *loop, int wait_ms)
{
    if (loop->woken) {
        return 0;
    }
    const struct heap_entry *first = heap_first(&loop->timers);
    if (first == NULL) {
        return wait_ms;
    }
    /* Reads the clock again, because loop->now_ms is old by the length of the turn. No callback
     * sees this reading. */
    int64_t until = first->key - clock_ms();
    if (until <= 0) {
        return 0;
    }
    int64_t ms = until < INT_MAX ? until : INT_MAX;
    return wait_ms < 0 || ms < wait_ms ? (int)ms : wait_ms;
}

void loop_turn(struct loop *loop, int wait_ms)
{
    struct epoll_event events[LOOP_EVENTS_MAX];
    int count = epoll_wait(loop->epoll_fd, events, LOOP_EVENTS_MAX, wait_ms_of(loop, wait_ms));
    must(count >= 0 || errno == EINTR);
    loop->now_ms = clock_ms();
    for (int i = 0; i < count; i++) {
        struct loop_fd *watch = events[i].data.ptr;
        if (!watch->dead) {
            watch->fn(watch->ctx, events[i].events);
        }
    }
    timers_call(loop);
    for (unsigned round = 0; round == 0 || (loop->woken && round < LOOP_ROUNDS_MAX); round++) {
        hooks_round(loop);
    }
    dead_free(loop);
}

void loop_run(struct loop *loop)
{
    loop->stop = false;
    while (!loop->stop) {
        loop_turn(loop, -1);
    }
}

void loop_stop(struct loop *loop)
{
    loop->stop = true;
}
