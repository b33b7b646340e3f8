/* tasknet.h - the networks in which the attempts of a supervisor run, beside the node's own.
 *
 * A network is a network namespace of the kernel. In it are only its own loopback device and, where
 * the network has a way out, the link of tasklink.h. The supervisor holds a descriptor of the
 * namespace while attempts are in it, and so does each process in it. So the kernel itself removes
 * the network after the last process, also when the supervisor is killed. Only rules of taskfence.h
 * can be left, which have no effect then, and which the next supervisor removes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stdbool.h>

struct tasknet;
struct tasknets;

enum { TASKNET_NAME_MAX = 288 }; /* a kind, a slash and a name of at most 255 bytes */

/* Makes the table of networks, without any. `dir` is the supervisor's directory. While there may be
 * rules of networks with a way out, a file in `dir` says so. */
struct tasknets *tasknet_new(const char *dir);
void tasknet_free(struct tasknets *nets); /* NULL is allowed */

/* Removes the rules that a killed supervisor of this directory left. Call again from time to time,
 * because the kernel may still be removing the networks of the killed supervisor. */
void tasknet_upkeep(struct tasknets *nets);

/* Can this process make networks? Tries it. The error says what is missing. */
must_use enum err tasknet_able(struct error *e);

/* Takes the network of this name, and makes it if no attempt is in it. A network has a way out
 * (tasklink.h) where `range` is not "". The caller gives the network back with tasknet_give(). */
must_use enum err tasknet_take(struct tasknets *nets, const char *name, const char *range,
                               struct tasknet **ret, struct error *e);
void tasknet_give(struct tasknets *nets, struct tasknet *net); /* NULL is allowed */

/* Returns the descriptor with which a process enters the network; -1 for NULL, which stands for the
 * node's own network. */
int tasknet_fd(const struct tasknet *net);

/* The calling thread enters the network behind `path`, as /proc/PID/fd/N names it, until tasknet_leave(). `*ret_home` is
 * for tasknet_leave(). */
must_use enum err tasknet_enter(const char *path, int *ret_home, struct error *e);
void tasknet_leave(int home);
