/* server_internal.h - the parts of a running server, in one struct.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/api.h"
#include "server/agents.h"
#include "server/providers.h"
#include "server/server_options.h"
#include "server/server_tls.h"
#include "server/schedule.h"
#include "server/snapshots.h"

struct server {
    struct arena arena; /* holds the options */
    struct server_options o;
    struct loop *loop;
    struct tokens *tokens;
    struct ledger *ledger;
    struct store_thread *store;
    struct work_thread *reader;
    struct work_thread *worker;
    struct schedule *schedule;
    struct snapshots *snapshots;
    struct agents *agents;
    struct providers *providers;
    struct api_host host;
    struct api *api;
    struct http_server *http;  /* NULL until the start is on disk */
    struct http_server *local; /* on a file, for commands on this machine; NULL: none */
    struct http_server *proxy; /* pages of tasks; NULL: none */
    struct server_tls *tls;    /* NULL: plain HTTP */
    struct loop_timer *prune;
    struct loop_timer *stop;
    struct parked_answer ready;
    bool stopping;
    int64_t stop_ms; /* boot time before which the loop does not stop */
    int64_t started_ms;
    int exit_status;
};

/* Fills server->host. */
void server_host_init(struct server *server);

/* Makes pools, departments, projects and quotas as the configuration file says. Objects that the file does not
 * name are left alone. Refusals are logged. */
void server_config_reconcile(struct server *server, const struct server_file *file);
