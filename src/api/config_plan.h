/* config_plan.h - what must change so that the state is as a server file says. The plan is made on a copy of the
 * core. It serves the start of the server, SIGHUP, and POST /config.
 *
 * Objects that the file does not name stay; the plan names them, and deletes them only when asked to prune.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "core/core.h"
#include "spec/server_file.h"

enum config_deed { CONFIG_CREATE, CONFIG_CHANGE, CONFIG_DELETE };

struct config_change {
    enum config_deed deed;
    const char
        *kind; /* "flavor", "network", "pool", "department", "project", "quota" or "defaults" */
    const char *name;  /* of the object; of a quota: of its account */
    const char *pool;  /* of a quota; else NULL */
    struct str before; /* the object as JSON; empty: there was none */
    struct str after;
    uint32_t tasks;      /* tasks of the object that have not ended */
    const char *refusal; /* why the core refuses the change; NULL: the core accepts the change */
    struct input input;  /* borrows from the file and the arena */
};

/* An object that the file does not name. */
struct config_extra {
    const char *kind;
    const char *name;
    const char *pool;
    uint32_t tasks;
};

struct config_plan {
    VEC(struct config_change) changes; /* in the order in which they are made */
    VEC(struct config_extra) extras;
    uint32_t refused;
};

/* Texts live in the arena. config_plan_done() frees the lists. */
void config_plan_make(const struct core *core, const struct server_file *file, bool prune,
                      int64_t now_ms, struct arena *arena, struct config_plan *ret);
void config_plan_done(struct config_plan *plan);
