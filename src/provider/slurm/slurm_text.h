/* slurm_text.h - what the programs of Slurm are told, and what they print.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "provider/provider.h"

/* What squeue prints of each job. The name comes last: names of jobs may have any character. */
#define SLURM_TEXT_FORMAT "--format=%i|%T|%L|%l|%r|%j"

enum { SLURM_JOBS_MAX = 50000 };

/* A job whose name is a key of a Weir server. */
struct slurm_job {
    uint64_t id;
    const char *key;
    const char *name; /* the id as text */
    const char *words;
    enum provider_says says;
    enum provider_stay stay;
};

struct slurm_jobs {
    struct slurm_job *at; /* in order of key, then id */
    uint32_t count;
};

/* Reads the answer of squeue. Jobs with other names are passed over. */
must_use enum err slurm_text_jobs(struct str text, struct arena *arena, struct slurm_jobs *ret,
                                  struct error *e);

/* A duration as Slurm writes it: 1-02:03:04, 02:03:04 or 03:04, in ms. False: there is no bound, or no such text. */
bool slurm_text_span(struct str text, int64_t *ret_ms);

/* Writes the order as the arguments of sbatch, each with its NUL, and, behind an empty one, the script of the job.
 * `program` is the path of weir on the nodes. The script has the join token: sbatch reads it from its standard input. */
void slurm_text_order(struct buf *out, const struct provider_order *order, const char *program);

/* Splits what slurm_text_order() wrote. `argv` has room for `most` words and a NULL. */
void slurm_text_order_split(struct str text, const char **argv, size_t most,
                            struct str *ret_script);
