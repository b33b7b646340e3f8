/* test_http_multi.c - requests on the loop of their server: many at once, with failures told apart.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http_site.h"
#include "io/http_multi.h"
#include "io/http_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 256, REPLY_MAX = 64 * 1024 };

/* What has come of a request. */
struct got {
    struct http_multi *multi;
    size_t count;
    unsigned status;
    char body[TEXT_MAX];
    char failure[TEXT_MAX];
    const char *again; /* asked for from within `done`; NULL: nothing */
};

static void post(struct got *got, const struct site *site, const char *path, const char *body,
                 int64_t timeout_ms);
static const struct site *the_site;

static void done(void *ctx, const struct http_multi_reply *reply)
{
    struct got *got = ctx;
    got->count++;
    got->status = reply->status;
    (void)snprintf(got->body, sizeof got->body, "%.200s", reply->body.p);
    (void)snprintf(got->failure, sizeof got->failure, "%.200s",
                   reply->failure != NULL ? reply->failure : "");
    if (got->again != NULL) {
        const char *path = got->again;
        got->again = NULL;
        post(got, the_site, path, "again", 10000);
    }
}

static void post(struct got *got, const struct site *site, const char *path, const char *body,
                 int64_t timeout_ms)
{
    static const char *const headers[] = {"Content-Type: text/plain", NULL};
    char url[TEXT_MAX];
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u%s",
                   (unsigned)http_server_port(site->server), path);
    http_multi_post(got->multi, &(struct http_multi_post){.url = url,
                                                          .headers = headers,
                                                          .body = str_of(body),
                                                          .timeout_ms = timeout_ms,
                                                          .reply_max = REPLY_MAX,
                                                          .done = done,
                                                          .ctx = got});
}

static int begin(void **state)
{
    struct site *site = site_new();
    struct got *got = calloc(1, sizeof *got);
    got->multi = http_multi_new(site->loop);
    the_site = site;
    *state = got;
    return 0;
}

static int end(void **state)
{
    struct got *got = *state;
    http_multi_free(got->multi);
    free(got);
    site_free((struct site *)(uintptr_t)the_site);
    return 0;
}

static void wait_for(struct got *got, size_t want)
{
    site_wait((struct site *)(uintptr_t)the_site, &got->count, want);
}

static void a_body_comes_and_an_answer_goes_back(void **state)
{
    struct got *got = *state;
    post(got, the_site, "/echo", "hello", 10000);
    assert_int_equal(got->count, 0); /* never from within the call */
    wait_for(got, 1);
    assert_string_equal(got->failure, "");
    assert_int_equal(got->status, 200);
    assert_non_null(strstr(got->body, "hello"));
}

static void many_go_at_once_and_may_post_again(void **state)
{
    struct got *got = *state;
    got->again = "/echo";
    for (unsigned i = 0; i < 5; i++) {
        post(got, the_site, "/echo", "x", 10000);
    }
    wait_for(got, 6);
    assert_string_equal(got->failure, "");
}

static void failures_are_told(void **state)
{
    struct got *got = *state;
    post(got, the_site, "/park", "x", 50);
    wait_for(got, 1);
    assert_true(got->failure[0] != '\0');
    post(got, the_site, "/big", "", 10000); /* longer than the caller takes */
    wait_for(got, 2);
    assert_string_equal(got->failure, "the answer is too long");
}

/* Ends with a request under way: its function is not called, and nothing leaks. */
static void a_request_under_way_is_dropped(void **state)
{
    post(*state, the_site, "/park", "x", 10000);
    loop_turn(((const struct site *)the_site)->loop, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_body_comes_and_an_answer_goes_back),
        TEST(many_go_at_once_and_may_post_again),
        TEST(failures_are_told),
        TEST(a_request_under_way_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
