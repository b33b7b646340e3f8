/* landlock.h - a domain of Landlock around a process and its children. Needs no rights and no user namespace.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stdbool.h>

/* The first version of Landlock whose domains also bound signals and abstract sockets. */
enum { LANDLOCK_ABI_SCOPES = 6 };

/* The version of Landlock in this kernel; 0: none, or one too old to be of use. */
int landlock_abi(void);

/* Puts the calling process into a new domain, for good. Processes in the domain cannot trace, nor read the memory or environment of,
 * a process outside, and reach no abstract socket made outside. `signals`: nor signal a process outside. The process must have given
 * up new privileges (PR_SET_NO_NEW_PRIVS). */
must_use enum err landlock_enter(bool signals, struct error *e);
