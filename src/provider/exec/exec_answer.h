/* exec_answer.h - what the program of the provider `exec` prints, read strictly.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "provider/provider.h"

enum { EXEC_MACHINES_MAX = 20000 };

enum exec_state {
    EXEC_STARTING,
    EXEC_RUNNING,
    EXEC_ENDING, /* told to end, and still there */
    EXEC_FAILED, /* there will be no machine */
    EXEC_GONE,   /* there is no machine (any more) */
};
enum { EXEC_STATE_COUNT = EXEC_GONE + 1 };

/* What the program says of one machine. The texts live in the arena. */
struct exec_machine {
    const char *key; /* "" in the answer to launch and terminate */
    enum exec_state state;
    const char *name;
    const char *words;
};

struct exec_machines {
    struct exec_machine *at;
    uint32_t count;
};

/* Reads the answer to launch or terminate: {"state": "starting", "name": "vm-7", "words": ""}. */
must_use enum err exec_answer_machine(struct str text, struct arena *arena,
                                      struct exec_machine *ret, struct error *e);

/* Reads the answer to list: {"machines": [{"key": "…", "state": "running"}]}. */
must_use enum err exec_answer_list(struct str text, struct arena *arena, struct exec_machines *ret,
                                   struct error *e);
