/* able.h - the labels by which a node says what it can do, and who shares a network on it. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "agent/runas.h"
#include "agent/tasknet.h"
#include "base/arena.h"
#include "base/fail.h"
#include "core/model/spec.h"
#include "wire/agent.h"

/* Adds the labels of a node that runs containers and that makes networks, where the node can. */
void able_labels(const struct agent_options *options, struct arena *arena, struct node_spec *node);

/* Are the settings about networks, and those about the confinement and the processors of tasks, understood? */
must_use enum err able_check(const struct agent_options *options, struct error *e);

/* The path from the root on. */
const char *able_absolute(const char *path, struct arena *arena);

/* The directories that tasks of an ordinary user must not see, as `--hide` of the supervisor has them: that of the node, those of the
 * site's setting, the logins of this user, and where programs of the user listen. */
const char *able_hide(const struct agent_options *options, const struct runas_account *account,
                      struct arena *arena);

/* What tasknet.h calls the network of the task: tasks that share one give it the same name. "": the node's own. */
void able_network(const struct agent_options *options, const struct agent_start *start,
                  char ret[TASKNET_NAME_MAX]);
