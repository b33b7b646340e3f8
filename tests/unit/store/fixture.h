/* fixture.h - what the tests of the store share: a directory for each test, and short functions
 * to commit and to read back.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* cmocka's macro; Weir's fail() is in base/fail.h */

#include "store/store.h"

struct fixture {
    char dir[64];   /* data directory, in memory; removed at the end with everything beside it */
    char other[64]; /* another path beside it, for backups */
    struct store *store;
    struct error e;
};

/* Set-up and tear-down for cmocka. Set-up opens nothing. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* Opens the store with facts_keep 1 and a history of 1000 ms. The test fails if this fails. */
void fixture_open(struct fixture *f);
void fixture_close(struct fixture *f);

/* Commits facts first..last; the body of fact n is "fact n". */
enum err fixture_facts(struct fixture *f, uint64_t first, uint64_t last);

/* Reads facts from `after` on and compares them with those of fixture_facts(). Returns the
 * number of the last fact. */
uint64_t fixture_facts_check(struct fixture *f, uint64_t after);

/* Commits one step that can be checked later: fact `seq` and, in the same batch, line `seq` of
 * the output of task 1. */
enum err fixture_step(struct fixture *f, uint64_t seq);

/* Checks that the output of task 1 in `dir` is exactly lines 1..last. */
void fixture_steps_check(struct fixture *f, const char *dir, uint64_t last);

/* Commits a piece of standard output of instance 0, attempt 1. */
enum err fixture_log(struct fixture *f, uint64_t task, uint64_t offset, const char *text);

/* Returns all output of a task, pieces joined by '|', through a new reader. The caller frees it. */
char *fixture_log_text(struct fixture *f, uint64_t task);

/* Returns the findings of store_check(), one per line. The caller frees them. */
char *fixture_findings(struct fixture *f, const char *dir);

/* Writes the path dir/name. */
void fixture_path(const struct fixture *f, const char *name, char out[128]);
void fixture_truncate(const struct fixture *f, const char *name, long size);
void fixture_flip(const struct fixture *f, const char *name, long at);
bool fixture_exists(const struct fixture *f, const char *name);

#define assert_ok(call) assert_int_equal((call), ERR_OK)
#define store_test(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
