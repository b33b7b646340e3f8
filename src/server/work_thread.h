/* work_thread.h - a thread that runs pieces of work (api/host.h) one after the other and hands them
 * back to the loop: the reader, with its own connection to the store, and the worker, without.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/host.h"

struct work_thread;

enum { WORK_WAITING_MAX = 1024 }; /* pieces queued for one thread */

/* `dir`: open a reader there; NULL: none (a worker). */
must_use enum err work_thread_start(struct loop *loop, const char *dir, struct work_thread **ret,
                                    struct error *e);

/* False when too much waits already: the work stays the caller's. */
must_use bool work_thread_do(struct work_thread *thread, struct work *work);

/* Runs what is queued, gives it back (done() is called), ends the thread. */
void work_thread_stop(struct work_thread *thread);
