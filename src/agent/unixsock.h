/* unixsock.h - the socket D/supervisor.sock, however long D is.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

/* A listening socket, mode 0600; what was there is replaced. */
must_use enum err unixsock_listen(const char *dir, int *ret_fd, struct error *e);

/* A connection. ERR_UNREACHABLE when nobody answers. */
must_use enum err unixsock_connect(const char *dir, int *ret_fd, struct error *e);
