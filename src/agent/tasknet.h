/* tasknet.h - the networks in which the attempts of a supervisor run, beside the node's own.
 *
 * A network is a network namespace of the kernel with nothing in it but its own loopback and, where it has a way out, the link of
 * tasklink.h. The supervisor holds it by a
 * descriptor while attempts are in it; processes that are in it hold it as well. So the kernel itself removes the network
 * after the last of them, also when the supervisor is killed, and nothing can be left behind but rules of a
 * way out, which hold for nothing then and which the next supervisor removes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stdbool.h>

struct tasknet;
struct tasknets;

enum { TASKNET_NAME_MAX = 288 }; /* a kind, a slash and a name of at most 255 bytes */

/* `dir` is the supervisor's. A file there says that networks have had a way out, until its rules are gone. */
struct tasknets *tasknet_new(const char *dir);
void tasknet_free(struct tasknets *nets); /* NULL is allowed */

/* Removes what a killed supervisor of this directory left. Call it from time to time: what the kernel still removes is found later. */
void tasknet_upkeep(struct tasknets *nets);

/* Can this process make networks? Tries it. The error says what is missing. */
must_use enum err tasknet_able(struct error *e);

/* Takes the network of this name, and makes it if no attempt is in it: with a way out (tasklink.h) where `range` is not "". Give it
 * back with tasknet_give(). */
must_use enum err tasknet_take(struct tasknets *nets, const char *name, const char *range,
                               struct tasknet **ret, struct error *e);
void tasknet_give(struct tasknets *nets, struct tasknet *net); /* NULL is allowed */

/* The descriptor with which a process enters the network; -1 for a `net` that is NULL, which stands for the node's own network. */
int tasknet_fd(const struct tasknet *net);

/* The calling thread enters the network behind `path`, as /proc/PID/fd/N names it, until tasknet_leave(). `*ret_home` is
 * for tasknet_leave(). */
must_use enum err tasknet_enter(const char *path, int *ret_home, struct error *e);
void tasknet_leave(int home);
