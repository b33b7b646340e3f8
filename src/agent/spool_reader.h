/* spool_reader.h - the reading end of the spool: records in order over all segments, while another
 * process may still be writing. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/spool.h"

struct spool_reader;

/* Begins at the first record of `segment`. */
struct spool_reader *spool_reader_new(const char *dir, uint64_t segment);
void spool_reader_free(struct spool_reader *reader);

/* The next record; its texts are borrowed until the next call. False: nothing more for now. A torn
 * end of a segment behind which another begins is skipped. */
bool spool_reader_next(struct spool_reader *reader, struct record *ret);

/* Behind the record returned last. */
struct spool_position spool_reader_at(const struct spool_reader *reader);

/* Back to a place spool_reader_at() gave; it must not lie before the last acknowledged segment. */
void spool_reader_seek(struct spool_reader *reader, struct spool_position at);
