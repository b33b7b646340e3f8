/* meter.h - how far long work of a command has come: a bar with rate and remaining time on standard
 * error, only on a terminal, and only after a second.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct meter {
    const char *what; /* "submitted", "copied" */
    bool bytes;       /* the work is counted in bytes */
    bool on;          /* standard error is a terminal */
    bool shown;
    uint64_t total;
    int64_t began_ms;
    int64_t drawn_ms;
};

void meter_begin(struct meter *meter, const char *what, uint64_t total, bool bytes);

/* Tells that so much of the whole work is done. */
void meter_move(struct meter *meter, uint64_t done);

/* Removes the bar. Called also before a message in the middle of the work. */
void meter_clear(struct meter *meter);

/* Writes "submitted 3,000 of 9,000, 1,500/s, 4s left". */
void meter_text(struct buf *out, const struct meter *meter, uint64_t done, int64_t passed_ms);

/* Shows how a directory grows to `total` bytes while another function fills it. */
struct meter_watch;
struct meter_watch *meter_watch_new(const char *dir, uint64_t total);
void meter_watch_free(struct meter_watch *watch); /* ends the showing; NULL: nothing */

/* The bytes of a file, or of all files below a directory; 0 where it cannot be read. */
uint64_t meter_dir_bytes(const char *dir);
