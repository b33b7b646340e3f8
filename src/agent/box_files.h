/* box_files.h - the files that tell `weir box` what to start, in D/box/TASK.INDEX:ATTEMPT. Only the node's
 * own account can read them: they hold the task's environment.
 *
 *   order    by the agent: what the task wants beside a plain process (upload, container)
 *   start    by the supervisor: program, environment, user, directories
 *   bundle/  by `weir box`: the container's configuration
 *
 * D/box.site has the settings of the node that hold for all tasks, written by the agent.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/runas.h"
#include "base/arena.h"
#include "base/fail.h"
#include "core/model/ids.h"
#include "core/model/limits.h"

enum { BOX_NAME_MAX = 64, BOX_DIRS_MAX = 16, BOX_FILE_MAX = 4 * 1024 * 1024 };

struct box_order {
    const char *upload; /* digest; "": none */
    const char *image;  /* "": no container */
    const char *const *mounts;
    size_t mount_count;
};

struct box_start {
    const char *const *argv; /* NULL at the end */
    size_t argv_count;
    const char *const *env;
    size_t env_count;
    const char *job_dir;
    const char *workdir;
    bool switch_user;
    uid_t uid;
    gid_t gid;
    const gid_t *groups;
    size_t group_count;
    const char *network; /* the file of the task's network; "": the node's own */
    bool ordered;        /* the agent has written an order: the task is more than a plain process */
    unsigned confine;    /* bits of confine.h */
    const char *hidden;  /* directories that the task must not see: "A:B" */
    uint64_t data_bytes; /* the memory limit of each process without a cgroup; 0: none */
};

struct box_site {
    const char *url; /* of the server */
    const char *ca;
    const char *runtime;          /* path of crun or runc; "": this node runs no containers */
    const char *image_dirs;       /* where images may lie: "/srv/images:/data"; "": nowhere */
    const char *binds;            /* what tasks may mount: "/data:/scratch:rw"; "": nothing */
    const char *plain_registries; /* reached without TLS: "127.0.0.1:5000,…" */
    uint64_t cache_max;           /* bytes of unpacked images */
    uint64_t job_keep_s;          /* how long files of ended tasks stay; 0: for ever */
};

/* Writes "12.0:1". */
void box_files_name(const struct attempt_key *key, char out[BOX_NAME_MAX]);

must_use enum err box_files_order_put(const char *dir, const struct attempt_key *key,
                                      const struct box_order *order, struct error *e);
must_use enum err box_files_order_get(const char *dir, const char *name, struct arena *arena,
                                      struct box_order *ret, struct error *e);

/* Has the agent written an order for this attempt? */
bool box_files_ordered(const char *dir, const struct attempt_key *key);

must_use enum err box_files_start_put(const char *dir, const struct attempt_key *key,
                                      const struct box_start *start, struct error *e);
must_use enum err box_files_start_get(const char *dir, const char *name, struct arena *arena,
                                      struct box_start *ret, struct error *e);

must_use enum err box_files_site_put(const char *dir, const struct box_site *site, struct error *e);
must_use enum err box_files_site_get(const char *dir, struct arena *arena, struct box_site *ret,
                                     struct error *e);

/* Removes the attempt's files. Nothing is mounted there outside the container's own view. */
void box_files_remove(const char *dir, const struct attempt_key *key);
