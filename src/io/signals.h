/* signals.h - the signals that ask a program to end. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>

/* Sets the set of SIGINT, SIGTERM and SIGHUP. */
void signals_ending(sigset_t *ret);
