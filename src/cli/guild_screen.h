/* guild_screen.h - what `weir guild` shows: the output of runs and the lines of the log.
 *
 * Things that happen within SCREEN_HOLD_MS are shown together and in the order of staging, because runs that start together also end at
 * nearly the same moment: first what runs have written, then the log (the end of a run, and directly behind it what started because of
 * it), then what runs have written that started in this time. Only the showing waits. What is recorded and what is scheduled does not.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"

#include <stdint.h>

enum { SCREEN_HOLD_MS = 400 };

/* One screen for the process. Before this call, and after guild_screen_close(), lines of the log are written at once. */
void guild_screen_open(void);
void guild_screen_close(void);

/* A run has written something; stream 0 is standard output. `order` numbers runs from 1. */
void guild_screen_output(uint32_t order, int stream, struct str text);

/* Shows a line of the log; `line` ends with a line break. While output of runs is held back, and
 * just after a run has ended, the screen shows the line later. */
void guild_screen_line(struct str line);

/* The lines that follow are about the end of this run, and what follows from it. */
void guild_screen_ended(uint32_t order);

/* The lines that follow are about the start of this run. */
void guild_screen_started(uint32_t order);

/* How long until guild_screen_flush() is due; -1: nothing is held. */
int guild_screen_due_ms(void);
void guild_screen_flush(void);
