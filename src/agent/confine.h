/* confine.h - what keeps the tasks of an agent that runs as an ordinary user from each other and from Weir: a view of its own for each
 * task (namespaces of users, processes, mounts and messages), and a domain of Landlock. docs/dev/adr/0084-tasks-of-an-ordinary-user.md.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"

#include <stdbool.h>
#include <stddef.h>

/* Bits: how a task is confined. */
enum confine {
    CONFINE_VIEW = 1,     /* other processes, Weir's files, /dev/shm of others are not there */
    CONFINE_LANDLOCK = 2, /* no tracing, no abstract sockets of others */
    CONFINE_SIGNALS = 4,  /* Landlock also keeps signals from other processes */
};
enum { CONFINE_ALL = CONFINE_VIEW | CONFINE_LANDLOCK | CONFINE_SIGNALS };

/* Is this a value of --confine: auto, view, landlock or no? */
must_use enum err confine_check(const char *wanted, struct error *e);

/* What of the wanted (NULL: auto) this kernel gives to this process. Tries it in a child: call it before there are threads. */
unsigned confine_able(const char *wanted);

/* The directories of a view. */
struct confine_view {
    const char *hidden;  /* "A:B": each is empty in the view, where it is there */
    const char *keep[2]; /* directories below a hidden one that stay; "": none */
};

/* Gives this process a user namespace in which it has its own user and group alone, and the right to make the others. */
must_use enum err confine_user(struct error *e);

/* Makes the first process of a view, as fork() does. */
must_use enum err confine_fork(int *ret_pid, struct error *e);

/* The first process of a view: puts its mounts in place. `*ret_proc`: the /proc of the node, which names processes as the node does. */
must_use enum err confine_mounts(const struct confine_view *view, struct arena *arena,
                                 int *ret_proc, struct error *e);

/* The process that executes the program: enters the domain of Landlock. */
must_use enum err confine_domain(unsigned with, struct error *e);
