/* test_ec2_answer.c - the XML of EC2's answers, and what is made of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provider/ec2/ec2_answer.h"
#include "base/xml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static void texts_are_decoded(void **state)
{
    struct arena arena;
    struct xml_node *root;
    struct error e;
    (void)state;
    arena_init(&arena);
    const char *text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<a:Root xmlns:a='urn:x' empty=\"\">\n <one>&lt;b&gt; &amp;&#65;&#x20AC;</one>\n"
        " <two/><two>2</two>\n</a:Root>\n";
    assert_int_equal(xml_parse(&arena, str_of(text), &root, &e), ERR_OK);
    assert_true(str_is(root->name, "Root"));
    assert_string_equal(xml_text(root, "one"), "<b> &A\xe2\x82\xac");
    assert_string_equal(xml_text(root, "two"), ""); /* the first of this name */
    assert_string_equal(xml_child(root, "two")->next->text.p, "2");
    assert_string_equal(xml_text(root, "three"), "");
    assert_null(xml_child(NULL, "one"));
    arena_done(&arena);
}

static void what_is_not_plain_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "x",
        "<a>",
        "<a></b>",
        "<a></a>x",
        "<a></a><b/>",
        "<a>text<b/></a>",
        "<a><b/>text</a>",
        "<a>&unknown;</a>",
        "<a>&#0;</a>",
        "<a>&#xD800;</a>",
        "<a>&#x110000;</a>",
        "<a>&#65</a>",
        "<a>&#;</a>&#x;",
        "<a>\xff</a>",
        "<a b></a>",
        "<a b=1></a>",
        "<a b='></a>",
        "<a b='<'></a>",
        "<:a></:a>",
        "<a:b:c></a:b:c>",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
        "<a><![CDATA[x]]></a>",
        "<a><!-- x --></a>",
        "<a><?php x?></a>",
        "<?xml version='1.0'",
        "<a",
        "<a/",
        "<",
        "</a>",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct arena arena;
        struct xml_node *root;
        struct error e = {0};
        arena_init(&arena);
        if (xml_parse(&arena, str_of(texts[i]), &root, &e) != ERR_INVALID) {
            fail_msg("'%s' was taken", texts[i]);
        }
        assert_non_null(strstr(e.text, "malformed XML at byte "));
        arena_done(&arena);
    }
}

static void depth_is_bounded(void **state)
{
    for (unsigned depth = XML_DEPTH_MAX; depth <= XML_DEPTH_MAX + 1; depth++) {
        char text[7 * (XML_DEPTH_MAX + 2)] = "";
        struct arena arena;
        struct xml_node *root;
        struct error e;
        size_t len = 0;
        (void)state;
        arena_init(&arena);
        for (unsigned i = 0; i < 2 * depth; i++) {
            len += (size_t)snprintf(text + len, sizeof text - len, i < depth ? "<a>" : "</a>");
        }
        assert_int_equal(xml_parse(&arena, str_of(text), &root, &e),
                         depth > XML_DEPTH_MAX ? ERR_LIMIT : ERR_OK);
        arena_done(&arena);
    }
}

#define ITEM(id, state)                                                                            \
    "<item><instanceId>" id "</instanceId><instanceState><name>" state                             \
    "</name></instanceState><launchTime>2026-11-16T17:22:34.000Z</launchTime>"                     \
    "<tagSet><item><key>weir:key</key><value>k</value></item><item><key>weir:server</key>"         \
    "<value>s</value></item><item><key>weir:pool</key><value>p</value></item></tagSet>"            \
    "<stateReason><code>Server.InsufficientInstanceCapacity</code>"                                \
    "<message>Server.InsufficientInstanceCapacity: none</message></stateReason></item>"

static void a_list_has_machines_of_many_reservations(void **state)
{
    struct arena arena;
    struct ec2_machines machines;
    struct error e;
    (void)state;
    arena_init(&arena);
    const char *text =
        "<DescribeInstancesResponse><reservationSet><item><instancesSet>" ITEM("i-1", "pending")
            ITEM("i-2", "running") "</instancesSet></item><item><instancesSet>" ITEM(
                "i-3", "terminated") "</instancesSet></item></reservationSet><nextToken>more"
                                     "</nextToken></DescribeInstancesResponse>";
    assert_int_equal(ec2_answer_machines(str_of(text), &arena, &machines, &e), ERR_OK);
    assert_int_equal(machines.count, 3);
    assert_string_equal(machines.next_token, "more");
    assert_string_equal(machines.at[1].id, "i-2");
    assert_string_equal(machines.at[1].key, "k");
    assert_string_equal(machines.at[1].server, "s");
    assert_string_equal(machines.at[1].pool, "p");
    assert_int_equal(machines.at[0].state, EC2_PENDING);
    assert_int_equal(machines.at[2].state, EC2_ENDED);
    assert_string_equal(machines.at[2].why, "Server.InsufficientInstanceCapacity: none");
    assert_int_equal(machines.at[2].why_kind, PROVIDER_WHY_NO_CAPACITY);
    arena_done(&arena);
}

static void answers_that_are_none_are_refused(void **state)
{
    static const char *const texts[][2] = {
        {"<html><body/></html>", "not one of machines"},
        {"<RunInstancesResponse><instancesSet>" ITEM(
             "", "running") "</instancesSet></RunInstancesResponse>",
         "without an instanceId"},
        {"<RunInstancesResponse><instancesSet>" ITEM(
             "i-1", "asleep") "</instancesSet></RunInstancesResponse>",
         "the state 'asleep'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct arena arena;
        struct ec2_machines machines;
        struct error e = {0};
        arena_init(&arena);
        assert_int_equal(ec2_answer_machines(str_of(texts[i][0]), &arena, &machines, &e),
                         ERR_INVALID);
        assert_non_null(strstr(e.text, texts[i][1]));
        arena_done(&arena);
    }
}

static void errors_are_told_apart_in_ec2_s_words(void **state)
{
    static const struct {
        unsigned status;
        const char *body;
        enum ec2_kind kind;
        const char *words;
    } cases[] = {
        {500,
         "<Response><Errors><Error><Code>InsufficientInstanceCapacity</Code><Message>none &amp; "
         "more</Message></Error></Errors></Response>",
         EC2_CAPACITY, "InsufficientInstanceCapacity: none & more"},
        {400,
         "<ErrorResponse><Error><Code>SpotMaxPriceTooLow</Code><Message>0.1</Message></Error></"
         "ErrorResponse>",
         EC2_PRICE, "SpotMaxPriceTooLow: 0.1"},
        {400, "<Response><Errors><Error><Code>VcpuLimitExceeded</Code></Error></Errors></Response>",
         EC2_LIMIT, "VcpuLimitExceeded"},
        {503,
         "<Response><Errors><Error><Code>RequestLimitExceeded</Code></Error></Errors></Response>",
         EC2_SLOW_DOWN, "RequestLimitExceeded"},
        {401, "<Response><Errors><Error><Code>AuthFailure</Code></Error></Errors></Response>",
         EC2_REFUSED, "AuthFailure"},
        {400,
         "<Response><Errors><Error><Code>IdempotentParameterMismatch</Code></Error></Errors></"
         "Response>",
         EC2_MADE, "IdempotentParameterMismatch"},
        {502, "<html>bad gateway", EC2_PASSING, "HTTP status 502 without an error code"},
        {404, "", EC2_REFUSED, "HTTP status 404 without an error code"},
        {429, "", EC2_SLOW_DOWN, "HTTP status 429 without an error code"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena arena;
        struct ec2_error error;
        arena_init(&arena);
        ec2_answer_error(cases[i].status, str_of(cases[i].body), &arena, &error);
        assert_int_equal(error.kind, cases[i].kind);
        assert_string_equal(error.words, cases[i].words);
        arena_done(&arena);
    }
    assert_int_equal(ec2_answer_why(EC2_CAPACITY), PROVIDER_WHY_NO_CAPACITY);
    assert_int_equal(ec2_answer_why(EC2_PRICE), PROVIDER_WHY_PRICE);
    assert_int_equal(ec2_answer_why(EC2_LIMIT), PROVIDER_WHY_LIMIT);
    assert_int_equal(ec2_answer_why(EC2_REFUSED), PROVIDER_WHY_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_decoded),
        cmocka_unit_test(what_is_not_plain_is_refused),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(a_list_has_machines_of_many_reservations),
        cmocka_unit_test(answers_that_are_none_are_refused),
        cmocka_unit_test(errors_are_told_apart_in_ec2_s_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
