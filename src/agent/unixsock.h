/* unixsock.h - the sockets D/supervisor.sock (a stream) and D/door.sock (messages, see door.h), however
 * long the path of D is.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <sys/types.h>

/* Makes a listening socket with mode 0600, in place of an old socket. */
must_use enum err unixsock_listen(const char *dir, int *ret_fd, struct error *e);

/* Connects to the socket. ERR_UNREACHABLE: no process answers. */
must_use enum err unixsock_connect(const char *dir, int *ret_fd, struct error *e);

/* The inode of the socket in the directory; 0: there is no socket. */
ino_t unixsock_inode(const char *dir);

/* The same for D/door.sock. */
must_use enum err unixsock_door_listen(const char *dir, int *ret_fd, struct error *e);
must_use enum err unixsock_door_connect(const char *dir, int *ret_fd, struct error *e);
ino_t unixsock_door_inode(const char *dir);
