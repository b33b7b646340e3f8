/* tape.h - a history recorded as data: the inputs of a world, line by line, so that the history can be played when the program that
 * drew its inputs draws others.
 *
 * With WEIR_TAPE=DIR a property program records the history that it plays. A history that breaks a law (WEIR_TAPE_ALL=1:
 * every history) is written to DIR/PROGRAM-SEED.txt. prop_kept plays such files. A line is one input or one thing that a program does with a world:
 *
 *   at MS                  the time of the lines below
 *   submit, pass, join …   an input (tape.c has the words of each); specs are bytes of spec_codec.h in hexadecimal digits
 *   settle POOL DICE       world_settle(), with these dice
 *   answer ALL DICE        rest_answer(), with these dice
 *   waits POOL             waits_check()
 *   rest POOL              rest_reach()
 *   starts-by TASK MS      the task must have started by then
 *
 * A report names its instance and, where another build has decided otherwise, is about the attempt that the instance has then. A report
 * about an instance that has no place is left out. Inputs of launches are not recorded: they change nothing else (history_launch.c).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "world.h"

/* Begins to record, when WEIR_TAPE is set. */
void tape_begin(struct world *world);
void tape_end(struct world *world);

/* The world is about to take this input. */
void tape_input(struct world *world, const struct input *in);

/* The world is about to do this; inputs until tape_done() are part of it. */
void tape_does(struct world *world, const char *what, uint64_t a, uint64_t b);
void tape_done(struct world *world);

/* For a program without a world: is anything to be recorded? The text that is written should a law be broken
 * now; it must live until the next call. */
bool tape_wanted(void);
void tape_text(const struct buf *text, uint64_t seed);

/* Writes the history that is being recorded to its file, if there is one. Called when a law is broken. */
void tape_keep(void);

/* Plays a recorded history from a file and checks every law. Aborts at the first that is broken. */
struct tape_played {
    uint64_t lines;
    uint64_t left_out; /* reports about instances without a place */
};
struct tape_played tape_play(const char *path);

/* The word of each input; NULL: no program gives the input. */
extern const char *const tape_words[INPUT_TYPE_COUNT];
