/* port_owner.h - does a process of this attempt listen on a port of this node? Any process of the node may
 * listen on the port before the task does; what arrives there is for the task alone.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "core/model/ids.h"

#include <stdint.h>
#include <sys/types.h>

struct port_owner {
    struct attempt_key key;
    pid_t pid;                  /* the first process of the attempt */
    const char *supervisor_hex; /* as in WEIR_SUPERVISOR */
};

/* Do all sockets that listen on 127.0.0.1:port, in the network of the calling thread, belong to the attempt? ERR_UNREACHABLE: nothing listens
 * there. ERR_CONFLICT: a process outside the attempt does. */
must_use enum err port_owner_check(uint16_t port, const struct port_owner *owner, struct error *e);
