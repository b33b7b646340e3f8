/* box_order.h - the hooks of `weir box` in the agent and the supervisor.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "agent/box_files.h"
#include "agent/spawner.h"
#include "wire/agent.h"

struct agent;

/* Agent: writes down what the task wants beside a plain process, before the supervisor gets the order. False:
 * that is not possible, and the attempt was reported as lost. A plain process needs nothing. */
must_use bool box_order_ready(struct agent *agent, const struct agent_start *start);

/* Agent: writes down the node's settings, when the server's address is known. */
void box_order_site(const struct agent_options *options, const char *url);

/* How the supervisor confines the tasks of an ordinary user. */
struct box_confine {
    unsigned with;      /* bits of confine.h */
    const char *hidden; /* "A:B": directories that tasks must not see */
};

/* Supervisor: changes the job, so that `weir box` runs in place of the task's program. Call only where box_files_ordered() is true
 * or the task is confined. False: the files of the box cannot be written. */
must_use bool box_order_wrap(const char *dir, const struct attempt_key *key,
                             const struct box_confine *confine, struct spawn_job *job);
