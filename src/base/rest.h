/* rest.h - waits of a thread that end after a given time.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Waits until somebody signals `wake` or until `ms` milliseconds are over. The wait does not follow
 * the wall clock, so a change of the date makes it neither longer nor shorter. The caller holds
 * `lock` before and after. The function may also return earlier: the caller looks at its own
 * condition again. */
void rest_wait(pthread_cond_t *wake, pthread_mutex_t *lock, int64_t ms);

/* Joins the thread if it ends within `ms` milliseconds of the wall clock. Returns whether the thread
 * was joined. */
bool rest_join(pthread_t thread, int64_t ms);
