/* able.h - the labels by which a node says what it can do, and who shares a network on it. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "agent/tasknet.h"
#include "base/arena.h"
#include "base/fail.h"
#include "core/model/spec.h"
#include "wire/agent.h"

/* Adds the labels of a node that runs containers and that makes networks, where the node can. */
void able_labels(const struct agent_options *options, struct arena *arena, struct node_spec *node);

/* Are the settings about networks understood? */
must_use enum err able_check(const struct agent_options *options, struct error *e);

/* What tasknet.h calls the network of the task: tasks that share one give it the same name. "": the node's own. */
void able_network(const struct agent_options *options, const struct agent_start *start,
                  char ret[TASKNET_NAME_MAX]);
