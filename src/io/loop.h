/* loop.h - one thread's event loop: descriptors by epoll, timers by a heap, one clock reading per
 * turn.
 *
 *   a turn:  wait ─▶ clock ─▶ descriptors ─▶ timers due ─▶ ( turn-end hooks ─▶ flush hooks )…
 *
 * Everything may be added, changed and removed from inside any callback, also what is being called;
 * what was removed is not called any more, not even in the same turn.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop_fd;
struct loop_timer;

typedef void (*loop_fd_fn)(void *ctx, uint32_t epoll_events);
typedef void (*loop_fn)(void *ctx);

enum { LOOP_HOOKS_MAX = 8 };

must_use enum err loop_new(struct loop **ret, struct error *e);

/* Not from inside a callback. Watches and timers must have been removed before. NULL is fine. */
void loop_free(struct loop *loop);

/* Runs until loop_stop(). */
void loop_run(struct loop *loop);

/* loop_run() returns at the end of this turn, hooks included. */
void loop_stop(struct loop *loop);

/* One turn that waits at most `wait_ms` (-1: until something happens). For tests and callers with a
 * loop of their own. */
void loop_turn(struct loop *loop, int wait_ms);

/* Boot-time clock in milliseconds, read once per turn. */
int64_t loop_now_ms(const struct loop *loop);
/* Reads it again, for work that took long since the loop was made or since its last turn. */
int64_t loop_now_again_ms(struct loop *loop);

/* Watch a descriptor (EPOLLIN …); the callback may remove it. The descriptor stays the caller's,
 * and stays open until after loop_fd_remove(). */
struct loop_fd *loop_fd_add(struct loop *loop, int fd, uint32_t events, loop_fd_fn fn, void *ctx);
void loop_fd_change(struct loop_fd *watch, uint32_t events);
void loop_fd_remove(struct loop_fd *watch); /* NULL is fine */

/* A timer, not yet set. */
struct loop_timer *loop_timer_new(struct loop *loop, loop_fn fn, void *ctx);

/* Call once at (boot-time) `at_ms`; setting an armed timer moves it. Timers due in one turn are
 * called in order of time, then of setting; one set from inside a timer's call runs at the earliest
 * in the next turn. */
void loop_timer_set(struct loop_timer *timer, int64_t at_ms);
void loop_timer_off(struct loop_timer *timer);
bool loop_timer_armed(const struct loop_timer *timer);
void loop_timer_free(struct loop_timer *timer); /* NULL is fine */

/* Called at the end of every turn, after all descriptors and timers: the place to hand over a
 * batch. In order of registration. */
void loop_turn_end(struct loop *loop, loop_fn fn, void *ctx);

/* Called after the turn-end hooks: the place to push out what they produced. */
void loop_turn_flush(struct loop *loop, loop_fn fn, void *ctx);

/* There is (more) work for the hooks: they are called, again if need be, before the loop waits. */
void loop_wake(struct loop *loop);

/* Forgets all hooks of either kind with this ctx. */
void loop_hooks_remove(struct loop *loop, const void *ctx);

/* SIGINT, SIGTERM, SIGHUP … arrive as calls. Blocks the signal for the thread, so call it before
 * other threads are started. A second call for a signal replaces the first. */
must_use enum err loop_signal(struct loop *loop, int signal_number, loop_fn fn, void *ctx,
                              struct error *e);
