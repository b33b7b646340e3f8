/* signals.c - see signals.h. SPDX-License-Identifier: Apache-2.0 */
#include "io/signals.h"

void signals_ending(sigset_t *ret)
{
    (void)sigemptyset(ret);
    (void)sigaddset(ret, SIGINT);
    (void)sigaddset(ret, SIGTERM);
    (void)sigaddset(ret, SIGHUP);
}
