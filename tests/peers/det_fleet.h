/* det_fleet.h - Determined's instances as launches of a pool that grows and shrinks.
 *
 * The pool `default` gets a provider, which the translator plays. An instance of a case is a launch, asked for at the age
 * that the case gives. The agent of an instance is a node that joins for this launch. A busy agent runs a task that takes
 * the whole node. An agent that is not connected is a silent node. The server's own timer, which the translator plays
 * too, says when a silent node is lost.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cluster.h"
#include "core/model/launch.h"
#include "peers.h"

struct det_machine {
    const char *name;
    launch_id launch;
    node_id node;      /* 0: its agent never joined */
    task_id work;      /* what the agent runs; 0: nothing */
    int64_t silent_ms; /* since when the agent is gone; 0: connected, or never joined */
    int64_t age_ms;
};

/* Something that happens to a machine before the moment of a case. */
enum det_happens {
    DET_LAUNCHED,
    DET_UP,
    DET_JOINED,
    DET_BACK,
    DET_WORKS,
    DET_RESTS,
    DET_SILENT,
    DET_GONE
};

struct det_event {
    int64_t at_ms;
    uint32_t machine;
    enum det_happens what;
};

struct det_fleet {
    struct trial *trial;
    struct cluster cluster;
    int64_t now_ms;  /* the moment of the case */
    int64_t lost_ms; /* for how long an agent may be gone in a case of the loop */
    struct det_machine *at;
    uint32_t count;
    struct det_event *events;
    uint32_t event_count;
    task_id *waiting; /* tasks of one node each that wait for nodes */
    uint32_t waiting_count;
};

enum { DET_FLEET_MAX = 10000 };

/* Makes the server and its pool, with room for DET_FLEET_MAX machines and no bound of time. */
void det_fleet_open(struct det_fleet *fleet, struct trial *trial);
void det_fleet_close(struct det_fleet *fleet);

/* Sets the limits of the pool as the case has them: how many machines, how long without work, how long to start. */
void det_fleet_limits(struct det_fleet *fleet, const struct doc *limits);

/* Adds the instances of a list; a missing age is 0. Nothing happens yet. False: the trial has failed. */
bool det_fleet_add(struct det_fleet *fleet, const struct doc *instances);

/* Notes that something happens so long before the moment of the case. */
void det_fleet_event(struct det_fleet *fleet, uint32_t machine, enum det_happens what,
                     int64_t ago_ms);

/* Lets all noted events happen, the earliest first, and goes to the moment of the case. */
void det_fleet_play(struct det_fleet *fleet);

/* Lets something happen now. */
void det_fleet_happens(struct det_fleet *fleet, struct det_machine *machine, enum det_happens what);

/* The machine of this name; NULL: there is none. */
struct det_machine *det_fleet_find(struct det_fleet *fleet, const char *name);

/* So many tasks of one node each wait from now on. */
void det_fleet_need(struct det_fleet *fleet, uint64_t count);

/* Handles deadlines that have come, then runs passes. Returns how many machines the pool asked for. */
uint32_t det_fleet_tick(struct det_fleet *fleet);

/* The provider says this of a launch. */
void det_fleet_says(struct det_fleet *fleet, launch_id launch, enum provider_says says);

/* The launch of a machine; NULL: it has ended or is told to end. */
const struct launch *det_fleet_live(const struct det_fleet *fleet,
                                    const struct det_machine *machine);

/* Plays the server's timer: a machine whose agent was silent for longer than `after_ms` is lost. True: it is told to end. */
bool det_fleet_lost(struct det_fleet *fleet, const struct det_machine *machine, int64_t after_ms);

const struct pool *det_fleet_pool(const struct det_fleet *fleet);

/* Is the name in the list? */
bool det_fleet_named(const struct doc *list, const char *name);

/* The seconds of a field in milliseconds; `missing` stands for a missing field. */
int64_t det_fleet_ms(const struct doc *map, const char *key, int64_t missing);
