/* spool_reader.h - the reading end of the spool: returns records in order over all segments, while
 * another process may still be writing. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/spool.h"

struct spool_reader;

/* Begins at the first record of `segment`. */
struct spool_reader *spool_reader_new(const char *dir, uint64_t segment);
void spool_reader_free(struct spool_reader *reader);

/* Returns the next record, whose texts are borrowed until the next call. False: there is no further
 * record for now. An incomplete record is skipped when another segment follows. */
bool spool_reader_next(struct spool_reader *reader, struct record *ret);

/* Did the last call stop at a record that is damaged? The records behind it are read once another
 * segment follows. */
bool spool_reader_damaged(const struct spool_reader *reader);

/* The place behind the record that was returned last. */
struct spool_position spool_reader_at(const struct spool_reader *reader);

/* Goes back to a place that spool_reader_at() returned. The place's segment must still exist. */
void spool_reader_seek(struct spool_reader *reader, struct spool_position at);
