/* loop.h - one thread's event loop: descriptors by epoll, timers by a heap, one clock reading per
 * turn.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop_fd;
struct loop_timer;

typedef void (*loop_fd_fn)(void *ctx, uint32_t epoll_events);
typedef void (*loop_fn)(void *ctx);

must_use enum err loop_new(struct loop **ret, struct error *e);
void loop_free(struct loop *loop);

/* Runs until loop_stop(). */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop); /* from inside a callback */

/* Boot-time clock in milliseconds and microseconds, read once per turn. */
int64_t loop_now_ms(const struct loop *loop);

/* Watch a descriptor (EPOLLIN …); the callback may remove it. The descriptor stays the caller's. */
struct loop_fd *loop_fd_add(struct loop *loop, int fd, uint32_t events, loop_fd_fn fn, void *ctx);
void loop_fd_change(struct loop_fd *watch, uint32_t events);
void loop_fd_remove(struct loop_fd *watch); /* NULL is fine */

/* Call once at (boot-time) `at_ms`; setting an armed timer moves it. */
struct loop_timer *loop_timer_new(struct loop *loop, loop_fn fn, void *ctx);
void loop_timer_set(struct loop_timer *timer, int64_t at_ms);
void loop_timer_off(struct loop_timer *timer);
void loop_timer_free(struct loop_timer *timer);

/* Called at the end of every turn, after all descriptors and timers: the place to hand over a
 * batch. */
void loop_turn_end(struct loop *loop, loop_fn fn, void *ctx);

/* SIGINT, SIGTERM, SIGHUP … arrive as calls; blocks them for the thread first. */
must_use enum err loop_signal(struct loop *loop, int signal_number, loop_fn fn, void *ctx,
                              struct error *e);
