/* work_thread.h - a thread that runs pieces of work (api/host.h) one after the other and hands them
 * back to the loop. There are two: the reader, with its own connection to the store, and the
 * worker, without one. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/host.h"

struct work_thread;

enum { WORK_WAITING_MAX = 1024 }; /* pieces queued for one thread */

/* `dir`: opens a store reader there; NULL: no store reader, for the worker. */
must_use enum err work_thread_start(struct loop *loop, const char *dir, struct work_thread **ret,
                                    struct error *e);

/* False: too much work waits already, and this piece stays the caller's. */
must_use bool work_thread_do(struct work_thread *thread, struct work *work);

/* Runs the queued work, calls done() for each piece, ends the thread. */
void work_thread_stop(struct work_thread *thread);
