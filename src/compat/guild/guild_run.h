/* guild_run.h - a staged run, as its directory describes it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "compat/guild/guild_needs.h"

#include <stdbool.h>
#include <stdint.h>

enum { GUILD_UPSTREAM_MAX = 64, GUILD_CMD_MAX = 65536, GUILD_IGNORED_MAX = 16 };

struct guild_run {
    const char *id;
    const char *dir;
    int64_t started_us;       /* the order of staging */
    struct guild_needs needs; /* of all `dask:` tags */
    const char
        *ignored[GUILD_IGNORED_MAX]; /* tags with a part without `=`, as text behind `dask:` */
    size_t ignored_count;
    const char *gpus; /* the devices that the user chose; NULL: none chosen */
    /* what names the runs whose files this run needs: ids, or beginnings of ids */
    const char *upstream[GUILD_UPSTREAM_MAX];
    size_t upstream_count;
    const char **cmd;      /* ends with NULL */
    const char *why_guild; /* why only Guild can start the run; NULL: Weir can */
    const char **flags;    /* names of flags; ends with NULL */
    bool scalars;          /* the run's output is searched for numbers */
};

/* When the run was staged, in microseconds since 1970; 0: unknown. */
int64_t guild_run_started(struct arena *arena, const char *run_dir);

/* Reads a run. ERR_INVALID says what in the run's attributes cannot be used: the run must not start. */
must_use enum err guild_run_read(const char *home, const char *id, struct arena *arena,
                                 struct guild_run *ret, struct error *e);

/* The environment that Guild froze when it staged the run, with what every start sets: "KEY=value", ends with NULL. `gpus`: devices in
 * place of the staged ones; NULL: as staged. `devices`: devices for a run whose staged environment names none; NULL: as staged. */
must_use enum err guild_run_env(const struct guild_run *run, const char *home, const char *gpus,
                                const char *devices, struct arena *arena, const char ***ret,
                                struct error *e);

/* The ids of the runs that run now, apart from Guild's queues and schedulers: "a, b"; empty: none. */
const char *guild_run_others(struct arena *arena, const char *home);

/* True when the run is a queue or a scheduler of Guild. */
bool guild_run_is_queue(struct arena *arena, const char *run_dir);
