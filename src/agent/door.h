/* door.h - how the agent gets a program started inside a running attempt, and learns the attempt's port.
 *
 * The agent connects to D/door.sock, sends one message (door_frame.h) with, for a program, one socket,
 * and gets one message back. The program has the socket as its standard input and output; it runs as the
 * attempt's user, in its cgroup, with its environment, and ends with it. Private to the supervisor.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stdbool.h>
#include <stdint.h>

struct door;
struct spawn_job;
struct supervisor;

must_use enum err door_open(struct supervisor *sup, struct door **ret, struct error *e);
void door_close(struct door *door); /* NULL is allowed */

/* Makes the socket anew where it is gone. */
must_use enum err door_hold(struct door *door, struct error *e);

/* The spawner calls this (through attempt_started) for a job with `visit`. */
bool door_started(struct spawn_job *job);

/* A port of this node that no other attempt has and no process listens on; 0: none is free. */
uint16_t door_port_take(struct door *door);
void door_port_give(struct door *door, uint16_t port);
