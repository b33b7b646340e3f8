/* migrations.h - the schema's steps, embedded from migrations/NNNN_name.sql by the build.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct migration {
    const char *name; /* "0001_initial"; its place in the table + 1 is the schema version */
    const char *sql;
};

extern const struct migration migrations[];
extern const int migration_count;
