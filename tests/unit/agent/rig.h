/* rig.h - a real supervisor in a directory of its own, and what it wrote into its spool. The test
 * program is the supervisor too: rig_role() at the start of main().
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/record.h"
#include "agent/spool_reader.h"
#include "agent/supclient.h"

struct rig {
    char dir[64];
    struct supclient *client;
    struct frame hello;
    size_t attempts; /* told in the greeting */
    size_t attempts_ended;
    struct spool_reader *reader;
    struct buf out; /* output of all tasks since rig_clear(), by stream */
    struct buf err;
};

/* True: this process was started as a role; *ret_code is its exit status. */
bool rig_role(int argc, char **argv, int *ret_code);

/* A fresh directory with a supervisor, connected. */
void rig_up(struct rig *rig);

/* Ends the supervisor, waits until it is gone, removes the directory. */
void rig_down(struct rig *rig);

/* Drop the connection and make a new one, as a new agent does. */
void rig_reconnect(struct rig *rig);

/* Start `sh -c script` as task.0:attempt. */
void rig_start(struct rig *rig, uint64_t task, uint32_t attempt, const char *script);
void rig_order(struct rig *rig, const struct start_order *order);
void rig_stop(struct rig *rig, uint64_t task, uint32_t attempt, int64_t grace_ms);

/* The next record that is no output and no segment's head (those are gathered), waiting for it. */
struct record rig_next(struct rig *rig);

/* Waits until tasks have written so many bytes to standard output, passing over records. */
void rig_output_wait(struct rig *rig, size_t len);

/* Waits for the end of one attempt, passing over everything else. */
struct record rig_ended(struct rig *rig, uint64_t task);

/* Acknowledge everything read so far. */
void rig_ack(struct rig *rig);

/* Waits until the connection is closed by the other side. */
void rig_wait_gone(struct rig *rig);

/* Does the process exist (not as a zombie)? */
bool rig_alive(int pid);
