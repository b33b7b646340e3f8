/* test_audit.c - the record of acts: a chain that holds also where the disk takes half a line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "store/audit.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static enum err act_add(struct fixture *f, struct audit *audit, const char *path)
{
    const struct audit_entry entry = {.time_ms = 1,
                                      .actor = "user:ann",
                                      .token = "",
                                      .peer = "127.0.0.1",
                                      .method = "POST",
                                      .path = path,
                                      .status = 201,
                                      .seq = 7};
    return audit_add(audit, &entry, &f->e);
}

static struct audit *record_begin(struct fixture *f)
{
    struct audit *audit;
    assert_int_equal(mkdir(f->dir, 0700), 0);
    assert_ok(audit_open(f->dir, &audit, &f->e));
    return audit;
}

/* From now on no file grows beyond `bytes`: a write takes what fits, as on a full disk. RLIM_INFINITY ends that. */
static void files_bound(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void lines_count(void *ctx, struct str line)
{
    assert_true(line.len > 0 && line.p[0] == '{' && line.p[line.len - 1] == '}');
    assert_null(memchr(line.p + 1, '{', line.len - 1)); /* one act, not two in one line */
    ++*(unsigned *)ctx;
}

/* The record is sound, and has so many lines for whoever checks it and for whoever lists it. */
static void record_check(struct fixture *f, unsigned lines)
{
    struct audit_finding found;
    unsigned listed = 0;
    uint64_t next;
    assert_ok(audit_verify(f->dir, NULL, &found, &f->e));
    assert_null(found.why);
    assert_int_equal(found.lines, lines);
    assert_ok(audit_read(f->dir, 0, AUDIT_PAGE_LINES, lines_count, &listed, &next, &f->e));
    assert_int_equal(listed, lines);
}

static void a_line_that_the_disk_takes_in_part_leaves_the_record_sound(void **state)
{
    struct fixture *f = *state;
    struct audit *audit = record_begin(f);
    struct stat info;
    char path[128];
    fixture_path(f, "audit.log", path);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_ok(act_add(f, audit, "/api/v1/pools/a"));
    assert_int_equal(stat(path, &info), 0);
    files_bound((rlim_t)info.st_size + 100);
    assert_int_equal(act_add(f, audit, "/api/v1/pools/b"), ERR_IO);
    record_check(f, 1);
    assert_int_equal(act_add(f, audit, "/api/v1/pools/b"), ERR_IO); /* the disk is still full */
    files_bound(RLIM_INFINITY);
    assert_ok(act_add(f, audit, "/api/v1/pools/c"));
    assert_ok(act_add(f, audit, "/api/v1/pools/d"));
    record_check(f, 3);
    audit_free(audit);
    assert_ok(audit_open(f->dir, &audit, &f->e));
    assert_ok(act_add(f, audit, "/api/v1/pools/e"));
    record_check(f, 4);
    audit_free(audit);
}

static void an_act_that_is_too_long_is_refused_and_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct audit *audit = record_begin(f);
    static char path[AUDIT_LINE_MAX];
    /* Some lengths leave room for the act and not for its hash. */
    for (size_t len = AUDIT_LINE_MAX - 400; len < AUDIT_LINE_MAX - 200; len++) {
        memset(path, 'p', len);
        path[len] = '\0';
        const enum err r = act_add(f, audit, path);
        assert_true(r == ERR_OK || r == ERR_LIMIT);
    }
    assert_int_equal(act_add(f, audit, path), ERR_LIMIT);
    struct audit_finding found;
    assert_ok(audit_verify(f->dir, NULL, &found, &f->e));
    assert_null(found.why);
    assert_in_range(found.lines, 1, 199);
    audit_free(audit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(a_line_that_the_disk_takes_in_part_leaves_the_record_sound),
        store_test(an_act_that_is_too_long_is_refused_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
