/* meta.h - table meta: names with values, for example the identity of the data directory. One checksum
 * covers all rows of the table and the schema of the database. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/sqlite/db.h"

enum { META_VALUE_MAX = 64 };

/* Copies the value of `key` into `out`; "" where there is none. */
must_use enum err meta_get(sqlite3 *db, const char *key, char out[META_VALUE_MAX], struct error *e);

/* Writes a value, and the checksum with it. */
must_use enum err meta_put(sqlite3 *db, const char *key, const char *value, struct error *e);

/* ERR_CORRUPT: the checksum does not fit table and schema. */
must_use enum err meta_check(sqlite3 *db, struct error *e);
