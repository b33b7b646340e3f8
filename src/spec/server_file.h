/* server_file.h - reads the server's configuration file (docs/dev/formats/server-file.md) into a
 * checked struct. One reading finds all problems of a file, each with line and column.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "core/model/flavor.h"
#include "core/model/network.h"
#include "core/model/spec.h"
#include "spec/problem.h"
#include "spec/quota_spec.h"

/* compat.qarnot: the interface of Qarnot's SDK. */
struct server_qarnot {
    const char *provider; /* what brings up its pools' nodes; "local" */
    const char *storage;  /* the address of an S3 store for the SDK; "": none */
    const char *keys;     /* path of the file with the server's own credentials there; "": none */
    const char *region;   /* of the store */
};

struct server_file {
    const char *listen_address; /* "127.0.0.1" by default */
    uint16_t listen_port;       /* 8080 by default; 0: any free port */
    bool listen_loopback;       /* the address is 127.0.0.0/8, ::1 or localhost */
    const char *data_dir;       /* "/var/lib/weir" by default */
    const char *gpu_pool;       /* gets the tasks that name no pool; "default" by default */
    const char *cpu_pool;
    const struct pool_spec *pools; /* in declared order; names are unique */
    uint32_t pool_count;
    const struct flavor_spec *flavors; /* in declared order; names are unique */
    uint32_t flavor_count;
    const struct network_spec *networks; /* in declared order; names are unique */
    uint32_t network_count;
    const struct account_spec *departments; /* in declared order; names are unique */
    uint32_t department_count;
    const struct account_spec *projects;
    uint32_t project_count;
    const struct quota_body *quotas; /* at most one for each account and pool */
    uint32_t quota_count;
    int64_t lost_after_ms; /* after this silence a node is lost; 5 min by default */
    /* How long ended tasks and their output are kept; 90 days by default; 0: for ever. */
    int64_t history_keep_ms;
    /* How many facts older than the last snapshot are kept; 1,000,000 by default. */
    uint64_t facts_keep;
    const char *tls_cert; /* paths of the server's certificate and key; NULL: not said */
    const char *tls_key;
    struct server_qarnot qarnot;
    const char *
        ec2_credentials; /* path of a file, or address of a metadata service; "": the environment has them */
    uint32_t said;            /* which settings the file names (server_settings.h) */
    int64_t tls_node_life_ms; /* how long a node's certificate is valid; a day by default */
};

/* Fills in the configuration of a server that has no file. */
void server_file_init(struct server_file *file);

/* Reads YAML or JSON. ERR_INVALID: `problems` lists what is wrong, and `e` has the first problem
 * as "name:line:column: path: text". A syntax error is the only problem of its file. Texts live
 * in the arena. */
must_use enum err server_file_read(struct str text, const char *name, struct arena *arena,
                                   struct server_file *ret, struct problems *problems,
                                   struct error *e);

/* Splits "127.0.0.1:8080", "[::1]:0" or "localhost:8080" into address (in the arena) and port. */
must_use enum err server_file_listen_parse(struct str text, struct arena *arena,
                                           const char **ret_address, uint16_t *ret_port,
                                           struct error *e);

/* True for an address that only this machine can reach. */
bool server_file_listen_is_loopback(const char *address);
