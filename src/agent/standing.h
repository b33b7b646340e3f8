/* standing.h - what a node offers tasks that were placed on it: the pool that its agent names, and its devices. Devices
 * have numbers, and a task holds numbers; another set of devices gives a number to another device.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>

struct standing {
    const char *pool;    /* "": the agent names none */
    uint64_t devices;    /* how many there are */
    const char *model;   /* of the first device; "": none */
    const char *serials; /* what tells each device from another, by number; "": unknown */
};

/* Why tasks that were placed on `then` forbid new work on `now`; "": they do not. An agent that names no pool stays in
 * its pool. A thing that is unknown on one side counts as unchanged. */
void standing_change(const struct standing *then, const struct standing *now, char *out,
                     size_t size);

/* The form of a file: one line for each value. */
void standing_write(const struct standing *standing, struct buf *out);
must_use enum err standing_read(struct str text, struct arena *arena, struct standing *ret,
                                struct error *e);
