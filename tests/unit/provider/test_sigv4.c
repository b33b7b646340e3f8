/* test_sigv4.c - signatures against the examples that AWS has published.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/sigv4.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static const char secret[] = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
static const struct sigv4_keys keys = {"AKIDEXAMPLE", secret, ""};
enum { AUGUST_2015_S = 1440938160 }; /* 20150830T123600Z */

static void dates_are_utc(void **state)
{
    char date[SIGV4_DATE_MAX];
    (void)state;
    sigv4_date(AUGUST_2015_S, date);
    assert_string_equal(date, "20150830T123600Z");
    sigv4_date(0, date);
    assert_string_equal(date, "19700101T000000Z");
}

static void a_derived_key_is_that_of_the_documentation(void **state)
{
    uint8_t key[SIGV4_KEY_BYTES];
    char text[2 * SIGV4_KEY_BYTES + 1];
    (void)state;
    sigv4_key(secret, "20120215", "us-east-1", "iam", key);
    str_hex(text, key, sizeof key);
    assert_string_equal(text, "f4780e2d9f65fa895f9c67b32ce1baf0b0d8a43505a000a1a9e090d414db404d");
    sigv4_key(secret, "20150830", "us-east-1", "iam", key);
    str_hex(text, key, sizeof key);
    assert_string_equal(text, "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
}

static void signature_is(const struct sigv4_request *request, const char *signature)
{
    struct arena arena;
    arena_init(&arena);
    const char *line = sigv4_authorization(request, &keys, &arena);
    const char *found = strstr(line, "Signature=");
    assert_non_null(found);
    assert_string_equal(found + strlen("Signature="), signature);
    arena_done(&arena);
}

/* "Create a signed request", the example with ListUsers. */
static void the_example_of_the_documentation_is_signed_alike(void **state)
{
    static const struct sigv4_header headers[] = {
        {"content-type", "application/x-www-form-urlencoded; charset=utf-8"},
        {"host", "iam.amazonaws.com"},
        {"x-amz-date", "20150830T123600Z"},
    };
    const struct sigv4_request request = {.method = "GET",
                                          .path = "/",
                                          .query = "Action=ListUsers&Version=2010-05-08",
                                          .headers = headers,
                                          .header_count = 3,
                                          .body = {"", 0},
                                          .region = "us-east-1",
                                          .service = "iam",
                                          .time_s = AUGUST_2015_S};
    struct arena arena;
    (void)state;
    arena_init(&arena);
    assert_string_equal(
        sigv4_authorization(&request, &keys, &arena),
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, "
        "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
    arena_done(&arena);
}

/* get-vanilla, post-vanilla and post-x-www-form-urlencoded of aws-sig-v4-test-suite. */
static void the_test_suite_is_signed_alike(void **state)
{
    static const struct sigv4_header plain[] = {
        {"host", "example.amazonaws.com"},
        {"x-amz-date", "20150830T123600Z"},
    };
    static const struct sigv4_header form[] = {
        {"content-type", "application/x-www-form-urlencoded"},
        {"host", "example.amazonaws.com"},
        {"x-amz-date", "20150830T123600Z"},
    };
    struct sigv4_request request = {.method = "GET",
                                    .path = "/",
                                    .query = "",
                                    .headers = plain,
                                    .header_count = 2,
                                    .body = {"", 0},
                                    .region = "us-east-1",
                                    .service = "service",
                                    .time_s = AUGUST_2015_S};
    (void)state;
    signature_is(&request, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
    request.method = "POST";
    signature_is(&request, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
    request.headers = form;
    request.header_count = 3;
    request.body = str_of("Param1=value1");
    signature_is(&request, "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a");
}

/* "Authenticating Requests: Using Query Parameters", the example of Amazon S3. */
static void a_request_is_signed_in_advance_as_in_the_documentation(void **state)
{
    static const struct sigv4_keys s3_keys = {"AKIAIOSFODNN7EXAMPLE",
                                              "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
    static const struct sigv4_header host[] = {{"host", "examplebucket.s3.amazonaws.com"}};
    enum { MAY_2013_S = 1369353600 };
    const struct sigv4_request request = {.method = "GET",
                                          .path = "/test.txt",
                                          .query = "",
                                          .headers = host,
                                          .header_count = 1,
                                          .region = "us-east-1",
                                          .service = "s3",
                                          .time_s = MAY_2013_S};
    struct arena arena;
    (void)state;
    arena_init(&arena);
    assert_string_equal(
        sigv4_presigned(&request, &s3_keys, 86400, &arena),
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2F"
        "us-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&"
        "X-Amz-SignedHeaders=host&X-Amz-Signature="
        "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_are_utc),
        cmocka_unit_test(a_derived_key_is_that_of_the_documentation),
        cmocka_unit_test(the_example_of_the_documentation_is_signed_alike),
        cmocka_unit_test(the_test_suite_is_signed_alike),
        cmocka_unit_test(a_request_is_signed_in_advance_as_in_the_documentation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
