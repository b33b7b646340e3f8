/* test_x509.c - certificates: what is made, what is found, and what a client is told when it cannot trust.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/x509_make.h"

#include "io/http_trust.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NOW_MS INT64_C(1790000000000)
#define HOUR_MS ((int64_t)60 * 60 * 1000)
#define DAY_MS (24 * HOUR_MS)

static struct arena arena;
static struct x509_pair authority;
static struct x509_pair other;
static struct x509_pair server;

static int setup(void **state)
{
    (void)state;
    static const char *const names[] = {"weir.example", "10.0.0.1", "::1"};
    arena_init(&arena);
    assert_int_equal(x509_make_authority(NOW_MS, &arena, &authority, NULL), ERR_OK);
    assert_int_equal(x509_make_authority(NOW_MS, &arena, &other, NULL), ERR_OK);
    const struct x509_server wanted = {
        .names = names, .name_count = 3, .now_ms = NOW_MS, .life_ms = 30 * DAY_MS};
    assert_int_equal(x509_make_server(&authority, &wanted, &arena, &server, NULL), ERR_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static void a_certificate_says_its_names_dates_and_authority(void **state)
{
    (void)state;
    struct x509_facts facts;
    struct x509_facts root;
    assert_int_equal(x509_read(server.cert, &arena, &facts, NULL), ERR_OK);
    assert_int_equal(x509_read(authority.cert, &arena, &root, NULL), ERR_OK);
    assert_int_equal(facts.name_count, 3);
    assert_string_equal(facts.names[0], "weir.example");
    assert_string_equal(facts.names[1], "10.0.0.1");
    assert_string_equal(facts.names[2], "::1");
    assert_int_equal(facts.from_ms, NOW_MS - DAY_MS);
    assert_int_equal(facts.until_ms, NOW_MS + 30 * DAY_MS);
    assert_string_equal(facts.root, root.fingerprint);
    assert_string_not_equal(facts.fingerprint, root.fingerprint);
    assert_string_equal(x509_find(server.cert, root.fingerprint, &arena), authority.cert);
    assert_int_equal(x509_read(other.cert, &arena, &root, NULL), ERR_OK);
    assert_null(x509_find(server.cert, root.fingerprint, &arena));
}

static void names_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "a b", "-x", "a/b", "x_y", ".", "a*", "https://x"};
    struct error e;
    struct x509_pair pair = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct x509_server wanted = {
            .names = &bad[i], .name_count = 1, .now_ms = NOW_MS, .life_ms = DAY_MS};
        assert_int_equal(x509_make_server(&authority, &wanted, &arena, &pair, &e), ERR_INVALID);
        assert_non_null(strstr(e.text, "no host name"));
        assert_null(pair.cert);
    }
}

static void a_client_is_told_what_is_wrong_and_what_helps(void **state)
{
    (void)state;
    struct {
        const char *ca;
        const char *host;
        int64_t now_ms;
        const char *said; /* "": nothing is wrong */
    } cases[] = {
        {authority.cert, "weir.example", NOW_MS, ""},
        {authority.cert, "10.0.0.1", NOW_MS, ""},
        {authority.cert, "::1", NOW_MS, ""},
        /* A clock that is late by nearly a day is no fault. */
        {authority.cert, "10.0.0.1", NOW_MS - DAY_MS + HOUR_MS, ""},
        {authority.cert, "10.0.0.1", NOW_MS - DAY_MS - HOUR_MS, "set the clock"},
        {authority.cert, "10.0.0.1", NOW_MS + 31 * DAY_MS, "`weir tls init --renew`"},
        {authority.cert, "10.0.0.2", NOW_MS, "not for '10.0.0.2'"},
        {authority.cert, "evil.example", NOW_MS, "`weir tls show`"},
        {other.cert, "10.0.0.1", NOW_MS, "somebody may be in between"},
        {other.cert, "10.0.0.1", NOW_MS + 31 * DAY_MS, "new token"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[ERROR_TEXT_MAX];
        x509_fault(server.cert, cases[i].ca, cases[i].host, cases[i].now_ms, text, sizeof text);
        if (cases[i].said[0] == '\0') {
            assert_string_equal(text, "");
        } else {
            assert_non_null(strstr(text, cases[i].said));
        }
    }
}

static void a_node_certificate_is_for_no_host(void **state)
{
    (void)state;
    struct x509_pair request;
    const char *pem = NULL;
    char text[ERROR_TEXT_MAX];
    const struct x509_node node = {.name = "weir.example",
                                   .credential = "0123456789abcdef",
                                   .now_ms = NOW_MS,
                                   .life_ms = DAY_MS};
    assert_int_equal(x509_make_request(&arena, &request, NULL), ERR_OK);
    assert_int_equal(x509_make_node(&authority, request.cert, &node, &arena, &pem, NULL), ERR_OK);
    /* A node that is named like the server must not pass for the server. */
    x509_fault(pem, authority.cert, "weir.example", NOW_MS, text, sizeof text);
    assert_non_null(strstr(text, "not for 'weir.example'"));
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    struct x509_pair request;
    struct error e;
    const char *pem = NULL;
    const struct x509_node node = {
        .name = "n1", .credential = "0123456789abcdef", .now_ms = NOW_MS, .life_ms = DAY_MS};
    assert_int_equal(x509_make_request(&arena, &request, NULL), ERR_OK);
    assert_int_equal(x509_make_node(&authority, "", &node, &arena, &pem, &e), ERR_INVALID);
    assert_int_equal(x509_make_node(&authority, server.cert, &node, &arena, &pem, &e), ERR_INVALID);
    /* A request whose signature is not that of its key: somebody else's key. */
    char *bent = arena_str(&arena, request.cert);
    char *tail = strstr(bent, "\n-----END") - 6;
    *tail = *tail == 'A' ? 'B' : 'A';
    assert_int_equal(x509_make_node(&authority, bent, &node, &arena, &pem, &e), ERR_INVALID);
    assert_null(pem);
}

static void tokens_are_split_from_fingerprints(void **state)
{
    (void)state;
    static const char print[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    const char *token;
    const char *fingerprint;
    http_trust_split("weir_join_abc", &arena, &token, &fingerprint);
    assert_string_equal(token, "weir_join_abc");
    assert_null(fingerprint);
    http_trust_split(arena_fmt(&arena, "weir_join_abc.%s", print), &arena, &token, &fingerprint);
    assert_string_equal(token, "weir_join_abc");
    assert_string_equal(fingerprint, print);
    http_trust_split("a.b", &arena, &token, &fingerprint);
    assert_string_equal(token, "a.b");
    assert_null(fingerprint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_certificate_says_its_names_dates_and_authority),
        cmocka_unit_test(names_that_are_none_are_refused),
        cmocka_unit_test(a_client_is_told_what_is_wrong_and_what_helps),
        cmocka_unit_test(a_node_certificate_is_for_no_host),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(tokens_are_split_from_fingerprints),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
