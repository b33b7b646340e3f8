/* guild_attrs.h - the files in a run's .guild directory: reads bounded, writes whole (a reader sees the old file or the new file).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/fail.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { GUILD_FILE_BYTES_MAX = 4 * 1024 * 1024 };

/* Reads .guild/<name>. ERR_NOT_FOUND: there is no such file. ERR_LIMIT: more than GUILD_FILE_BYTES_MAX bytes. */
must_use enum err guild_attrs_file(struct arena *arena, const char *run_dir, const char *name,
                                   struct str *ret, struct error *e);

/* Reads an attribute, a YAML document. *ret is NULL when the run has no such attribute. */
must_use enum err guild_attrs_read(struct arena *arena, const char *run_dir, const char *name,
                                   const struct doc **ret, struct error *e);

/* False: there is no such attribute, or it is no whole number. */
bool guild_attrs_number(struct arena *arena, const char *run_dir, const char *name, int64_t *ret);

/* The process id in LOCK; 0: none. */
int64_t guild_attrs_lock_pid(struct arena *arena, const char *run_dir);

/* True for YAML's null, and for a missing value. */
bool guild_attrs_null(const struct doc *doc);

/* Writes .guild/<name>. */
must_use enum err guild_attrs_put(struct arena *arena, const char *run_dir, const char *name,
                                  struct str text, struct error *e);

/* Removes what a process that was killed in guild_attrs_put() has left in the run. */
void guild_attrs_draft_remove(struct arena *arena, const char *run_dir, pid_t pid);

/* Writes a whole number as attribute. */
must_use enum err guild_attrs_put_number(struct arena *arena, const char *run_dir, const char *name,
                                         int64_t number, struct error *e);

/* Writes the attribute `env`: what a process got as environment ("KEY=value"), without the names that Guild holds for secret. */
must_use enum err guild_attrs_put_env(struct arena *arena, const char *run_dir,
                                      const char *const *env, struct error *e);

/* Removes .guild/<name>; a file that is not there is no error. */
must_use enum err guild_attrs_remove(struct arena *arena, const char *run_dir, const char *name,
                                     struct error *e);

/* Microseconds since 1970, above every number that this process had before. */
int64_t guild_attrs_now_us(void);
