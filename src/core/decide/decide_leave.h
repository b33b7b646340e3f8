/* decide_leave.h - nodes that are to be without work.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/leave.h"

#include <stdbool.h>
#include <stdint.h>

struct core;
struct node;
struct step;

struct leaving {
    enum leave leave;
    enum busy busy;
    int64_t by_ms; /* when `busy` is done to the tasks; 0: at once */
    const char *words;
};

/* The node takes no more starts, and leaves its pool once it has no work, unless it is only drained. */
void decide_leave_node(struct step *step, node_id node, const struct leaving *leaving);

/* Does to the tasks on the node what `busy` says. */
/* A node of the pool was lost or is out of service: a spare node of the pool takes work from now on, where there is one. */
void decide_leave_spare(struct step *step, pool_id pool, const char *words);

void decide_leave_tasks(struct step *step, node_id node, enum busy busy);

/* True: tasks run on the node, `busy` allows no change, and the input was refused. */
/* Tells the instances to stop that hold one of these devices of the node. A bit of `devices` stands
 * for a device that is lost. */
void decide_leave_devices(struct step *step, node_id node, uint64_t devices);

bool decide_leave_refused(struct step *step, const struct node *node, enum busy busy);

/* Deadlines have come: the node of a launch that leaves has no work; a node should have no work. */
void decide_leave_left(struct step *step, const struct core *core, launch_id id);
void decide_leave_late(struct step *step, const struct core *core, node_id id);
/* The node of a launch was out of service for too long; the row of a removed node leaves the state. */
void decide_leave_unfit(struct step *step, const struct core *core, launch_id id);
void decide_leave_forget(struct step *step, const struct core *core, node_id id);
