/* fixture.h - what the store's tests share: a directory of their own, and short ways to commit and
 * to read back. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* ours, in base/fail.h, makes a failure */

#include "store/store.h"

struct fixture {
    char dir[64];   /* the data directory, in memory; removed at the end with all beside it */
    char other[64]; /* a name beside it, for backups */
    struct store *store;
    struct error e;
};

/* cmocka's set-up and tear-down; set-up opens nothing. */
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* Opens with facts_keep 1 and a history of 1000 ms; the test fails when that fails. */
void fixture_open(struct fixture *f);
void fixture_close(struct fixture *f);

/* Commits facts first..last; the body of fact n is "fact n". */
enum err fixture_facts(struct fixture *f, uint64_t first, uint64_t last);

/* Facts from `after` on, each checked against what fixture_facts() wrote; the number of the last.
 */
uint64_t fixture_facts_check(struct fixture *f, uint64_t after);

/* One step of a history that can be compared later: fact `seq` and, in the same batch, line `seq` of
 * the output of task 1. */
enum err fixture_step(struct fixture *f, uint64_t seq);

/* The output of task 1 in `dir` is exactly lines 1..last. */
void fixture_steps_check(struct fixture *f, const char *dir, uint64_t last);

/* Output of instance 0, attempt 1, standard output; committed alone. */
enum err fixture_log(struct fixture *f, uint64_t task, uint64_t offset, const char *text);

/* All output of a task, pieces joined by '|'; read by a reader of its own. Free it. */
char *fixture_log_text(struct fixture *f, uint64_t task);

/* Findings of store_check(), one a line. Free it. */
char *fixture_findings(struct fixture *f, const char *dir);

/* The file dir/name. */
void fixture_path(const struct fixture *f, const char *name, char out[128]);
void fixture_truncate(const struct fixture *f, const char *name, long size);
void fixture_flip(const struct fixture *f, const char *name, long at);
bool fixture_exists(const struct fixture *f, const char *name);

#define assert_ok(call) assert_int_equal((call), ERR_OK)
#define store_test(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
