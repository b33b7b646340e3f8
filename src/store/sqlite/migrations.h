/* migrations.h - the steps of the schema, which the build embeds from migrations/NNNN_name.sql.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct migration {
    const char *name; /* for example "0001_initial"; the row's index + 1 is the schema version */
    const char *sql;
};

extern const struct migration migrations[];
extern const int migration_count;
