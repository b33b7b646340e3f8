/* loop.h - one thread's event loop: descriptors by epoll, timers by a heap, one clock reading per
 * turn.
 *
 *   a turn:  wait ─▶ clock ─▶ descriptors ─▶ timers due ─▶ ( turn-end hooks ─▶ flush hooks )…
 *
 * Any callback may add, change and remove watches and timers, also the watch or timer that is being
 * called. A removed watch or timer is not called any more, not even in the same turn.
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

/* Must not be called inside a callback. All watches and timers must have been removed. NULL is
 * allowed. */
void loop_free(struct loop *loop);

/* Runs turns until loop_stop(). */
void loop_run(struct loop *loop);

/* Makes loop_run() return at the end of this turn, after the hooks. */
void loop_stop(struct loop *loop);

/* Runs one turn that waits at most `wait_ms` (-1: until something happens). For tests, and for
 * callers with a loop of their own. */
void loop_turn(struct loop *loop, int wait_ms);

/* The boot-time clock in milliseconds, read once per turn. */
int64_t loop_now_ms(const struct loop *loop);
/* Reads the clock again, after long work since the loop was made or since its last turn. */
int64_t loop_now_again_ms(struct loop *loop);

/* Watches a descriptor for events (EPOLLIN …). The callback may remove the watch. The caller owns
 * the descriptor and keeps it open until after loop_fd_remove(). */
struct loop_fd *loop_fd_add(struct loop *loop, int fd, uint32_t events, loop_fd_fn fn, void *ctx);
void loop_fd_change(struct loop_fd *watch, uint32_t events);
void loop_fd_remove(struct loop_fd *watch); /* NULL is allowed */

/* Makes a timer, which is not set yet. */
struct loop_timer *loop_timer_new(struct loop *loop, loop_fn fn, void *ctx);

/* Calls the timer once at boot time `at_ms`. Setting an armed timer moves it. Timers due in one
 * turn are called in order of time, then in order of setting. A timer that is set inside a timer's
 * call runs in the next turn at the earliest. */
void loop_timer_set(struct loop_timer *timer, int64_t at_ms);
void loop_timer_off(struct loop_timer *timer);
bool loop_timer_armed(const struct loop_timer *timer);
void loop_timer_free(struct loop_timer *timer); /* NULL is allowed */

/* Adds a turn-end hook. Turn-end hooks are called at the end of every turn, after all descriptors
 * and timers, in order of registration: the place to hand over a batch. */
void loop_turn_end(struct loop *loop, loop_fn fn, void *ctx);

/* Adds a flush hook. Flush hooks are called after the turn-end hooks: the place to send what the
 * turn-end hooks produced. */
void loop_turn_flush(struct loop *loop, loop_fn fn, void *ctx);

/* There is more work for the hooks: the loop calls the hooks (again) before it waits. */
void loop_wake(struct loop *loop);

/* Removes all hooks of either kind with this ctx. */
void loop_hooks_remove(struct loop *loop, const void *ctx);

/* Delivers a signal (SIGINT, SIGTERM, SIGHUP …) as a call. Blocks the signal for the thread, so
 * call it before other threads are started. A second call for a signal replaces the first. */
must_use enum err loop_signal(struct loop *loop, int signal_number, loop_fn fn, void *ctx,
                              struct error *e);
