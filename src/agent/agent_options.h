/* agent_options.h - the command lines of both roles, and the agent's configuration file.
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
    const char *run_as;      /* NULL: runas.h chooses the account */
    const char *task_uids;   /* as taskuid.h reads it; NULL: root's range in /etc/subuid */
    int64_t task_pids;       /* most processes and threads of one task; 0: TASK_PIDS_MAX */
    int64_t task_disk;       /* most bytes of disk of one task; 0: no limit */
    const char *confine;     /* as confine.h reads it; NULL: auto */
    const char *cpu_binding; /* as cpu_bind.h reads it; NULL: none */
    const char *hide;        /* directories that confined tasks must not see: "A:B"; NULL: none */
    int ready_fd; /* -1: none; gets one line when the supervisor serves: empty, or the error */
};

/* The texts of *ret are argv's own. */
must_use enum err agent_options_supervisor_parse(int argc, char **argv,
                                                 struct supervisor_options *ret, struct error *e);

/* Writes the text and a newline to `fd` and closes `fd`. Does nothing when `fd` is -1. */
void agent_options_supervisor_ready(int fd, const char *text);

struct node_cert;

struct agent_options {
    /* the certificate and the authority that the server took last (node_cert.h); NULL: not of an agent */
    struct node_cert *cert;
    const char *config;
    const char *server; /* NULL: the address stands in D/server.url */
    const char *pool;
    const char *join_token;
    const char *join_token_file;
    const char
        *ca; /* path of the authority that the server must have; NULL: as the join token says */
    const char *dir;
    const char *name; /* NULL: the host's name */
    const char *run_as;
    const char *task_uids;  /* as taskuid.h reads it; NULL: root's range in /etc/subuid */
    const char *isolate_by; /* who shares the network `isolated`: "project" (NULL) or "user" */
    const char *resources;  /* as written, for example "foo=7 bar=1" */
    const char *address;    /* where other nodes reach this node; NULL: the agent finds out */
    const char *labels[NODE_LABELS_MAX]; /* each "key=value" */
    size_t label_count;
    int64_t task_pids;       /* most processes and threads of one task; 0: TASK_PIDS_MAX */
    int64_t task_disk;       /* most bytes of disk of one task; 0: no limit */
    const char *confine;     /* as confine.h reads it; NULL: auto */
    const char *cpu_binding; /* as cpu_bind.h reads it; NULL: none */
    const char *hide;        /* directories that confined tasks must not see: "A:B"; NULL: none */
    int64_t slots;           /* -1: as the hardware says */
    int64_t fake_gpus;       /* -1: the real GPUs are used */
    int64_t stop_after_ms;   /* stop the tasks after so long without the server; 0: never */
    int ready_fd; /* -1: none; gets the line "ready" once the server has welcomed the agent */
    const char *health_check; /* a program of the site, by its whole path; NULL: none */
    int64_t health_every_ms;  /* 0: health.c chooses */
    int64_t parent;           /* the agent ends with this process; 0: with none */
    bool replace;
    /* Containers: NULL is the default of each. */
    const char *runtime;          /* crun, runc, a path, or none */
    const char *image_dirs;       /* where images may lie on this node: "A:B" */
    const char *allow_binds;      /* what tasks may mount: "A:B:rw" */
    const char *plain_registries; /* registries without TLS, with commas */
    int64_t keep_files_ms;        /* files of ended tasks stay so long on the node; 0: for ever */
    const char *image_cache;      /* bytes of unpacked images: "50Gi" */
};

/* Reads the command line and the file that --config names. The command line wins. The texts of *ret
 * are argv's or in the arena. *report has every problem of the file, as problem_report() writes
 * problems; NULL: the file has none. */
must_use enum err agent_options_parse(int argc, char **argv, struct arena *arena,
                                      struct agent_options *ret, const char **report,
                                      struct error *e);
