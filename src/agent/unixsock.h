/* unixsock.h - the socket D/supervisor.sock, however long the path of D is.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

/* Makes a listening socket with mode 0600, in place of an old socket. */
must_use enum err unixsock_listen(const char *dir, int *ret_fd, struct error *e);

/* Connects to the socket. ERR_UNREACHABLE: no process answers. */
must_use enum err unixsock_connect(const char *dir, int *ret_fd, struct error *e);
