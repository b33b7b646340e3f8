/* rig.h - a real supervisor in a directory of its own, and the records of its spool. The test
 * program is the supervisor too: call rig_role() at the start of main().
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/record.h"
#include "agent/spool_reader.h"
#include "agent/supclient.h"

struct rig {
    char dir[64];
    struct supclient *client;
    struct frame hello;
    size_t attempts; /* attempts that the greeting names */
    size_t attempts_ended;
    struct spool_reader *reader;
    struct buf out; /* output of all tasks since rig_clear(), by stream */
    struct buf err;
};

/* True: this process was started as a role; *ret_code is its exit status. */
bool rig_role(int argc, char **argv, int *ret_code);

/* Makes a directory with a supervisor, and connects to it. */
void rig_up(struct rig *rig);

/* Ends the supervisor, waits for its end, and removes the directory. */
void rig_down(struct rig *rig);

/* Drops the connection and makes a new one, as a new agent does. */
void rig_reconnect(struct rig *rig);

/* Starts `sh -c script` as task.0:attempt. */
void rig_start(struct rig *rig, uint64_t task, uint32_t attempt, const char *script);
void rig_order(struct rig *rig, const struct start_order *order);
void rig_stop(struct rig *rig, uint64_t task, uint32_t attempt, int64_t grace_ms);

/* Waits for the next record that is neither output nor the head of a segment. Output is
 * gathered. */
struct record rig_next(struct rig *rig);

/* Waits until tasks have written so many bytes to standard output. Other records are skipped. */
void rig_output_wait(struct rig *rig, size_t len);

/* Waits for the end of one attempt. Other records are skipped. */
struct record rig_ended(struct rig *rig, uint64_t task);

/* Acknowledges everything read so far. */
void rig_ack(struct rig *rig);

/* Waits until the other side has closed the connection. */
void rig_wait_gone(struct rig *rig);

/* True when the process exists and is no zombie. */
bool rig_alive(int pid);
