/* server_file.h - the server's configuration file (docs/dev/formats/server-file.md) to a checked
 * struct. All problems of a file are found in one go, each with line and column.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "core/model/spec.h"
#include "spec/problem.h"
#include "spec/quota_spec.h"

struct server_file {
    const char *listen_address; /* "127.0.0.1" */
    uint16_t listen_port;       /* 8080; 0: any */
    bool listen_loopback;       /* the address is 127.0.0.0/8, ::1 or localhost */
    const char *data_dir;       /* "/var/lib/weir" */
    const char *gpu_pool;       /* where tasks without a pool go: "default" unless told otherwise */
    const char *cpu_pool;
    const struct pool_spec *pools; /* in declared order; names are unique */
    uint32_t pool_count;
    const struct account_spec *departments; /* in declared order; names are unique */
    uint32_t department_count;
    const struct account_spec *projects;
    uint32_t project_count;
    const struct quota_body *quotas; /* one for each account and pool at most */
    uint32_t quota_count;
    int64_t lost_after_ms;   /* 5 min: a silent node is then lost */
    int64_t history_keep_ms; /* 90 days: ended tasks and their output; 0: for ever */
    uint64_t facts_keep;     /* 1,000,000: facts older than the last snapshot kept for replay */
};

/* What a server is without a file. */
void server_file_init(struct server_file *file);

/* YAML or JSON. ERR_INVALID: `problems` has what is wrong (a syntax error is the only one then) and
 * `e` the first of them as "name:line:column: path: text". Everything lives in the arena. */
must_use enum err server_file_read(struct str text, const char *name, struct arena *arena,
                                   struct server_file *ret, struct problems *problems,
                                   struct error *e);

/* "127.0.0.1:8080", "[::1]:0", "localhost:8080": address (in the arena) and port. */
must_use enum err server_file_listen_parse(struct str text, struct arena *arena,
                                           const char **ret_address, uint16_t *ret_port,
                                           struct error *e);

/* Is it an address that only this machine reaches? */
bool server_file_listen_is_loopback(const char *address);
