/* guild_flags.h - the flags of `weir guild`, as `--name value` or, as in Guild, `name=value`.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/context.h"
#include "cli/guild_devices.h"
#include "compat/guild/guild_needs.h"

struct guild_flags {
    bool once; /* run-once, not watch */
    const char *home;
    struct guild_needs resources;
    const char
        *resources_ignored; /* the text of `resources` where a part of it has no `=`; NULL: none */
    uint32_t workers;
    bool workers_given;
    bool fifo;
    bool wait_for_running;
    int64_t poll_ms;
    const char *gpus; /* NULL: not given */
    struct guild_devices
        devices;  /* that this command hands out to runs with a tag dask:gpu=N; count 0: none */
    bool restage; /* runs that a killed queue has left pending are made staged again */
    const char *guild; /* NULL: not given */
    const char *pool;  /* of a running Weir; NULL: its default */
    bool here;         /* never talks to a running Weir */
};

/* ERR_USAGE names the flag. */
must_use enum err guild_flags_read(struct cli *cli, struct guild_flags *ret, struct error *e);
