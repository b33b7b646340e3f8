/* record.h - what a random history decides, as one number that an earlier build's is compared with.
 *
 * The laws say what may never happen; they do not say which of two good nodes is taken or which of two tasks has to go. The record does:
 * decided.txt has a number for each history that the tests play, made of every decision, effect, refusal, reason and share in them, and of
 * the rows of tasks and instances whenever a pool comes to rest. A change that is meant to decide nothing else must leave all numbers as
 * they are. A change that is meant to decide something else is recorded again by tests/prop/decided. The last two digits of a number
 * stand for how many nodes were looked at, which is all that an index or a memory may change (P12). WEIR_TELL=1 prints what the number
 * is made of, to be compared line by line between two builds.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

struct record {
    uint64_t hash;
    uint64_t visited; /* nodes that passes looked at: what indices and memories save */
};

/* Adds one line to the record: a word and numbers. */
void record_note(struct record *record, const char *word, const int64_t *numbers, size_t count);
#define RECORD_NOTE(record, word, ...)                                                             \
    record_note(record, word, (const int64_t[]){__VA_ARGS__},                                      \
                sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* What the file, decided.txt or one like it, says of the history; false: nothing. A line is a program, the seed of its first history,
 * and a number for each history from there on. The file is read from the start for each: there are some hundred lines. */
bool record_known(const char *path, const char *program, uint64_t seed, uint32_t *ret);

/* The verdict, and why not; what it cost to find. */
void record_verdict(struct record *record, enum verdict verdict, const struct facts *facts);

/* A fact that was just applied, and what the outside must do for it. */
void record_fact(struct record *record, const struct core *core, const struct fact *fact);

/* Why each task waits, and what each account holds, wants and has a right to. */
void record_state(struct record *record, const struct core *core);

/* The number of a history: 16 bits of all decisions, and 8 of the nodes looked at. */
uint32_t record_number(const struct record *record);

/* The history is over: aborts when decided.txt ($WEIR_DECIDED) has other numbers for it. */
void record_end(const struct record *record, const char *program, uint64_t seed);
