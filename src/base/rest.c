/* rest.c - see rest.h. SPDX-License-Identifier: Apache-2.0 */
#include "base/rest.h"

#include "base/must.h"

#include <errno.h>
#include <time.h>

enum { MS_PER_S = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

static struct timespec moment_after(clockid_t clock, int64_t ms)
{
    struct timespec at;
    must(ms >= 0);
    must(clock_gettime(clock, &at) == 0);
    at.tv_sec += ms / MS_PER_S;
    at.tv_nsec += ms % MS_PER_S * NS_PER_MS;
    if (at.tv_nsec >= NS_PER_S) {
        at.tv_sec++;
        at.tv_nsec -= NS_PER_S;
    }
    return at;
}

void rest_wait(pthread_cond_t *wake, pthread_mutex_t *lock, int64_t ms)
{
    const struct timespec until = moment_after(CLOCK_MONOTONIC, ms);
    const int why = pthread_cond_clockwait(wake, lock, CLOCK_MONOTONIC, &until);
    must(why == 0 || why == ETIMEDOUT);
}

bool rest_join(pthread_t thread, int64_t ms)
{
    /* The join by the monotonic clock is unknown to the thread sanitizer, which then reports the
     * joined thread as lost. */
    const struct timespec until = moment_after(CLOCK_REALTIME, ms);
    return pthread_timedjoin_np(thread, NULL, &until) == 0;
}
