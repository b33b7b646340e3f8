/* port.h - is a port of 127.0.0.1 free, and if not, whose is it?
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

/* ERR_CONFLICT names the process that listens there, as far as we may see it. Port 0 is free. */
must_use enum err port_check(struct arena *arena, unsigned port, struct error *e);
