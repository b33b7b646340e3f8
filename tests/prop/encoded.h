/* encoded.h - what the record of decisions leaves out, as one number: the bytes of every fact and of the state at the end of a history, and
 * what previews of its inputs say.
 *
 * encoded.txt has a number for the first histories of each program. A new field of a stored format changes these numbers and leaves those
 * of decided.txt (record.h) as they are. tests/prop/decided writes both files. WEIR_TELL=1 prints what a number is made of.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record.h"

struct encoded {
    bool on;             /* encoded.txt has a number for this history, or the number is asked for */
    uint32_t expected;   /* the number in encoded.txt */
    uint32_t inputs;     /* inputs so far of which there can be a preview */
    struct record notes; /* what the number is made of */
};

void encoded_begin(struct encoded *encoded, const char *program, uint64_t seed);
void encoded_bytes(struct encoded *encoded, const char *word, const struct buf *bytes);

/* Previews some of the inputs. The preview changes nothing. */
void encoded_preview(struct encoded *encoded, const struct core *core, const struct input *in,
                     struct arena *arena);

/* The history is over: aborts when encoded.txt ($WEIR_ENCODED) has another number for it. */
void encoded_end(const struct encoded *encoded, const char *program, uint64_t seed);
