/* door_frame.h - the two messages of door.h. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "core/model/ids.h"

#include <stdint.h>

enum { DOOR_VERSION = 1, DOOR_BYTES_MAX = 128 * 1024 };

struct door_request {
    struct attempt_key key;
    const char *what; /* "exec", "attach" or "port" */
    const char *terminal;
    const char *term;
    const char *const *argv;
    size_t argv_count;
};

struct door_reply {
    const char *failure; /* "": done */
    uint16_t port;       /* of the attempt; 0: none */
    int pid;             /* of its first process; 0: the program was started, nothing was asked */
    const char *supervisor_hex;
    const char *network; /* the file of the attempt's network; "": the node's own */
};

/* Asks the supervisor of the directory D. `fd` is passed on and stays the caller's; -1: none. */
must_use enum err door_frame_ask(const char *dir, const struct door_request *request, int fd,
                                 struct arena *arena, struct door_reply *ret, struct error *e);

/* The supervisor's side: one message from the connection. *ret_fd is the caller's; -1: none. ERR_BUSY:
 * nothing has come yet. */
must_use enum err door_frame_read(int conn, struct arena *arena, struct door_request *ret,
                                  int *ret_fd, struct error *e);
void door_frame_reply(int conn, const struct door_reply *reply);
