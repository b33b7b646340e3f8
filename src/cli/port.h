/* port.h - checks whether a port of 127.0.0.1 is free, and finds the process that uses it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

/* ERR_CONFLICT names the process that listens on the port, if /proc shows it. Port 0 counts as
 * free. */
must_use enum err port_check(struct arena *arena, unsigned port, struct error *e);
