/* agent_options.h - the command lines of both roles, and the agent's file.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/limits.h"
#include "base/arena.h"
#include "base/fail.h"
#include "core/model/limits.h"

#include <stdbool.h>
#include <stdint.h>

struct supervisor_options {
    const char *dir;
    const char *run_as; /* NULL: as runas.h chooses */
    int ready_fd;       /* -1: none; one line is written when it serves, empty or an error */
};

/* Texts are argv's. */
must_use enum err agent_options_supervisor_parse(int argc, char **argv,
                                                 struct supervisor_options *ret, struct error *e);

/* Writes the text and a newline to `fd` and closes it; -1: nothing. */
void agent_options_supervisor_ready(int fd, const char *text);

struct agent_options {
    const char *config;
    const char *server; /* NULL: as D/server.url says */
    const char *pool;
    const char *join_token;
    const char *join_token_file;
    const char *dir;
    const char *name; /* NULL: the host's */
    const char *run_as;
    const char *resources;               /* "foo=7 bar=1" */
    const char *address;                 /* where other nodes reach this one; NULL: found out */
    const char *labels[NODE_LABELS_MAX]; /* k=v */
    size_t label_count;
    int64_t slots;         /* -1: as the hardware says */
    int64_t fake_gpus;     /* -1: real ones */
    int64_t stop_after_ms; /* cut off for so long: stop the tasks; 0: never */
    int ready_fd;          /* -1: none; the line "ready" once the server has welcomed us */
    bool replace;
};

/* The command line over the file it names with --config. Texts are argv's or in the arena. */
must_use enum err agent_options_parse(int argc, char **argv, struct arena *arena,
                                      struct agent_options *ret, struct error *e);
