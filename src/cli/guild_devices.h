/* guild_devices.h - the devices of the flag `devices`, handed out to runs: a run with the tag `dask:gpu=2` gets two of them in
 * CUDA_VISIBLE_DEVICES. The scheduler sees to it that there are as many as a run needs.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "compat/guild/guild_needs.h"

#include <stddef.h>
#include <stdint.h>

enum { GUILD_DEVICES_MAX = 128 };

struct guild_devices {
    const char *names[GUILD_DEVICES_MAX];
    uint32_t holders[GUILD_DEVICES_MAX]; /* the order of the run that holds the device; 0: free */
    size_t count;
};

/* The name of the resource that counts devices. */
extern const char guild_devices_resource[];

/* Reads "0,1,2". ERR_USAGE: an empty or a repeated name, or too many names. */
must_use enum err guild_devices_read(const char *text, struct arena *arena,
                                     struct guild_devices *ret, struct error *e);

/* ERR_INVALID: the run needs a part of a device. */
must_use enum err guild_devices_check(const struct guild_devices *devices,
                                      const struct guild_needs *needs, struct error *e);

/* Hands out what the run needs: "0,2". NULL: the run needs none. `holder` is above 0. */
const char *guild_devices_take(struct guild_devices *devices, const struct guild_needs *needs,
                               uint32_t holder, struct arena *arena);

/* Takes back what the run holds. */
void guild_devices_give(struct guild_devices *devices, uint32_t holder);
