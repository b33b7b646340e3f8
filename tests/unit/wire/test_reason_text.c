/* test_reason_text.c - a sentence for every reason, and what would help.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/object.h"
#include "core/sched/explain/explain.h"
#include "site.h"
#include "wire/explain_json.h"
#include "wire/reason_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct site site;

static void says(struct reason reason, const char *sentence)
{
    buf_clear(&site.out);
    reason_text(site.core, &reason, &site.out);
    assert_string_equal(buf_text(&site.out), sentence);
}

static void every_code_has_a_sentence_and_an_object(void **state)
{
    (void)state;
    for (int code = REASON_STAGED; code < REASON_COUNT; code++) {
        const struct reason reason = {.code = (enum reason_code)code,
                                      .pool = {1},
                                      .node = {1},
                                      .task = {3},
                                      .resource = {RESOURCE_CPU},
                                      .wanted = 2000,
                                      .available = 1000,
                                      .smallest = 1000,
                                      .have = 1,
                                      .need = 2,
                                      .text = "word"};
        buf_clear(&site.out);
        reason_text(site.core, &reason, &site.out);
        assert_true(site.out.len > 10);
        assert_null(strchr(buf_text(&site.out), '{'));
        assert_true(buf_text(&site.out)[site.out.len - 1] != '.');
        buf_clear(&site.out);
        json_out_init(&site.j, &site.out);
        reason_text_json(&site.j, site.core, &reason);
        const struct doc *doc = site_written(&site);
        assert_string_equal(text_at(doc, "code"), names_reason(reason.code));
        assert_true(reason_text_err(reason.code) != ERR_OK);
        assert_non_null(reason_text_path(site.core, &reason, &site.arena));
    }
    says((struct reason){.code = REASON_NONE}, "");
    json_out_init(&site.j, &site.out);
    reason_text_json(&site.j, site.core, &(struct reason){.code = REASON_NONE});
    assert_string_equal(buf_text(&site.out), "null");
}

static void sentences_have_names_and_amounts(void **state)
{
    (void)state;
    says((struct reason){.code = REASON_NO_ROOM,
                         .resource = {RESOURCE_MEMORY},
                         .wanted = (int64_t)64 << 30,
                         .available = (int64_t)3 << 29,
                         .node = {1}},
         "waits for 64Gi of memory; the nearest node n1 has 1.5Gi free");
    says((struct reason){.code = REASON_NO_ROOM, .wanted = 1000, .available = 500, .node = {1}},
         "waits for 1 slot; the nearest node n1 has 0.5 free");
    says((struct reason){.code = REASON_DEPENDENCY, .task = {7}, .need = 1},
         "waits for task 7 to end");
    says((struct reason){.code = REASON_DEPENDENCY, .task = {7}, .need = 3},
         "waits for task 7 to end, and for 2 more");
    says((struct reason){.code = REASON_GANG_SHORT, .have = 2, .need = 4},
         "waits for 4 places at once; 2 are free");
    says((struct reason){.code = REASON_PROMISED, .task = {7}},
         "what is free is promised to task 7, for which running tasks are leaving");
    says((struct reason){.code = REASON_OVER_SHARE,
                         .pool = {1},
                         .account = {1},
                         .wanted = 6000,
                         .available = 4000},
         "asks for 6 slots; department 'default' has a right to 4 for this task in pool 'default' "
         "while other accounts want the rest");
    says((struct reason){.code = REASON_POOL_EMPTY, .pool = {1}},
         "no node has joined pool 'default' yet");
    says((struct reason){.code = REASON_UNKNOWN_RESOURCE, .text = "bar", .pool = {1}},
         "no node of pool 'default' has the resource 'bar'; there are: foo");
    says((struct reason){.code = REASON_UNKNOWN_RESOURCE, .text = "bar"},
         "no node has the resource 'bar'; there are: foo");
    static const char *const slips[] = {"fo", "fooo", "fou", "oo"};
    for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++) {
        struct reason slip = {.code = REASON_UNKNOWN_RESOURCE};
        (void)str_copy(slip.text, sizeof slip.text, slips[i]);
        says(slip, arena_fmt(&site.arena,
                             "no node has the resource '%s'; there are: foo; did you mean 'foo'?",
                             slips[i]));
    }
    says((struct reason){.code = REASON_NO_DEVICES, .pool = {1}},
         "no node of pool 'default' has the devices it asks for");
    says((struct reason){.code = REASON_NO_DEVICES, .pool = {1}, .have = 4},
         "no node of pool 'default' has the devices it asks for; the highest index there is 3");
    says((struct reason){.code = REASON_AVOIDED, .pool = {1}, .have = 1, .need = 3},
         "the nodes of pool 'default' that it does not avoid hold 1 of 3 instances");
    says((struct reason){.code = REASON_TOO_LARGE,
                         .pool = {1},
                         .wanted = 9000,
                         .available = 2000,
                         .smallest = -1},
         "asks for 9 slots; the largest node of pool 'default' has 2");
    says((struct reason){.code = REASON_COMBINATION,
                         .pool = {1},
                         .resource = {RESOURCE_CPU},
                         .wanted = 9000,
                         .smallest = 1500},
         "no node of pool 'default' has all requested amounts together; with 1.5 cpu it would be "
         "accepted");
    says((struct reason){.code = REASON_LIMIT, .text = "instances", .available = 10000},
         "the limit on instances is 10000");
    says((struct reason){.code = REASON_WRONG_STATE, .text = "running", .task = {3}},
         "not possible while it is running");
    says((struct reason){.code = REASON_WRONG_STATE, .text = "default", .pool = {1}},
         "pool 'default' cannot be closed or deleted: it takes the tasks and nodes that name no "
         "pool");
    says((struct reason){.code = REASON_WRONG_STATE, .account = {2}, .text = "default"},
         "project 'default' cannot be moved or deleted: tasks and projects that name no other are "
         "in it");
}

static void holders_are_named(void **state)
{
    (void)state;
    const task_id holder = site_submit(&site, 0);
    says((struct reason){.code = REASON_RESERVED, .task = holder},
         "what is free is kept for task 1 of project 'default', which has a reservation");
}

static void refusals_name_what_there_is(void **state)
{
    (void)state;
    says((struct reason){.code = REASON_UNKNOWN_NODE, .text = "n7"},
         "avoids node 'n7', and there is no such node; there are: n1; did you mean 'n1'?");
    says((struct reason){.code = REASON_OTHER_LABELS, .pool = {1}, .have = 1, .need = 3},
         "the nodes of pool 'default' with the labels it asks for hold 1 of 3 instances; its "
         "nodes have zone=a");
    const task_id task = site_submit(&site, 0);
    says((struct reason){.code = REASON_IN_USE, .text = "p", .account = {2}, .need = 3},
         arena_fmt(&site.arena, "'p' is still in use by 3 tasks: %d and 2 more", (int)task.v));
    says((struct reason){.code = REASON_IN_USE, .text = "p", .pool = {1}, .need = 1},
         "'p' is still in use by 1 node: n1");
}

static void refusals_are_of_their_kind(void **state)
{
    (void)state;
    assert_int_equal(reason_text_err(REASON_TOO_LARGE), ERR_NEVER);
    assert_int_equal(reason_text_err(REASON_UNKNOWN_RESOURCE), ERR_NEVER);
    assert_int_equal(reason_text_err(REASON_UNKNOWN_OBJECT), ERR_NOT_FOUND);
    assert_int_equal(reason_text_err(REASON_UNKNOWN_POOL), ERR_INVALID);
    assert_int_equal(reason_text_err(REASON_WRONG_STATE), ERR_CONFLICT);
    assert_int_equal(reason_text_err(REASON_EXISTS), ERR_CONFLICT);
    assert_int_equal(reason_text_err(REASON_LIMIT), ERR_LIMIT);
}

static void suggestions_are_commands_that_fit(void **state)
{
    (void)state;
    static const struct {
        enum reason_code code;
        const char *command;
    } cases[] = {
        {REASON_STAGED, "weir task start 1"},
        {REASON_PAUSED, "weir task activate 1"},
        {REASON_PAUSED_IDLE, "weir task activate 1"},
        {REASON_POOL_PAUSED, "weir pool resume default"},
        {REASON_POOL_EMPTY, "weir agent --server URL --pool default --join-token TOKEN"},
        {REASON_NODES_AWAY, "weir node resume n1"},
    };
    task_id id = site_submit(&site, 0);
    const char *help[SUGGESTIONS_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct explanation why = {.reason = {.code = cases[i].code, .pool = {1}}, .resume = {1}};
        assert_int_equal(explain_json_suggestions(site.core, id, &why, &site.arena, help), 1);
        assert_string_equal(help[0], cases[i].command);
    }
    struct explanation why = {.reason = {.code = REASON_NO_ROOM,
                                         .resource = {RESOURCE_NAMED_FIRST},
                                         .wanted = 5000,
                                         .smallest = 2000}};
    assert_int_equal(explain_json_suggestions(site.core, id, &why, &site.arena, help), 1);
    assert_string_equal(help[0], "request 2 foo or less, and the task can start now");
    why.reason.away = (node_id){1};
    assert_int_equal(explain_json_suggestions(site.core, id, &why, &site.arena, help), 1);
    why.resume = (node_id){1};
    assert_int_equal(explain_json_suggestions(site.core, id, &why, &site.arena, help), 2);
    assert_string_equal(help[1], "weir node resume n1");
    const task_id holder = site_submit(&site, 0); /* of its own project and priority */
    why = (struct explanation){.reason = {.code = REASON_RESERVED, .pool = {1}, .task = holder}};
    assert_int_equal(explain_json_suggestions(site.core, id, &why, &site.arena, help), 1);
    assert_string_equal(help[0], "weir task move 1 --ahead-of 2");
    why = (struct explanation){.reason = {.code = REASON_NEXT}};
    assert_int_equal(explain_json_suggestions(site.core, id, &why, &site.arena, help), 0);
}

static int setup(void **state)
{
    (void)state;
    site_init(&site);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    site_done(&site);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void nodes_that_drain_are_named_with_the_way_back(void **state)
{
    (void)state;
    struct node_edit edit = {.fields = NODE_EDIT_DRAIN, .drain = true};
    struct input in = {.type = INPUT_NODE_EDIT, .node = {.node = {1}, .edit = &edit}};
    task_id id = site_submit(&site, 0);
    assert_int_equal(site_step(&site, in), VERDICT_OK);
    struct explanation why;
    explain_task(site.core, id, &why);
    assert_int_equal(why.reason.code, REASON_NODES_AWAY);
    says(why.reason, "the only node that could take the task is silent, lost, draining or out of "
                     "service: n1 is draining");
    why.reason.need = 3;
    why.reason.have = 1;
    says(why.reason,
         "1 of the 3 nodes that could take the task is up; the others are silent, lost, "
         "draining or out of service: n1 is draining");
    const char *help[SUGGESTIONS_MAX];
    assert_int_equal(explain_json_suggestions(site.core, id, &why, &site.arena, help), 1);
    assert_string_equal(help[0], "weir node resume n1");
    says((struct reason){.code = REASON_GANG_SHORT, .have = 2, .need = 4, .away = {1}},
         "waits for 4 places at once; 2 are free; node n1 has room, but is draining");
}

static void providers_speak_for_themselves(void **state)
{
    (void)state;
    says((struct reason){.code = REASON_RESTARTS, .have = 2, .need = 5},
         "its program ended; waits before start 2 of 5 in a row");
    says((struct reason){.code = REASON_RESTARTS, .have = 2, .need = 5, .text = "unhealthy"},
         "its health check failed too often; waits before start 2 of 5 in a row");
    says((struct reason){.code = REASON_RESTARTS, .have = 2, .text = "unhealthy"},
         "its health check failed too often; waits before start 2 in a row");
    says((struct reason){.code = REASON_RESTARTS, .have = 2},
         "its program ended; waits before start 2 in a row");
    says((struct reason){.code = REASON_NODES_STARTING, .pool = {1}, .have = 2},
         "pool 'default' grows; nodes on the way: 2");
    says((struct reason){.code = REASON_PROVIDER_FAILED, .pool = {1}},
         "the provider of pool 'default' brought no node up: it gave no reason");
}

static void provider_says(struct site *where, uint64_t launch, enum provider_says what)
{
    const struct provider_answer answer = {.launch = {launch},
                                           .says = what,
                                           .name = "",
                                           .node = "",
                                           .words = "",
                                           .why = PROVIDER_WHY_NO_CAPACITY};
    struct input in = {.type = INPUT_PROVIDER, .provider = {.answers = &answer, .count = 1}};
    assert_int_equal(site_step(where, in), VERDICT_OK);
}

/* Where the flavor is sold out, when the provider is asked again, and what else there is. */
static void what_is_sold_out_is_said_with_alternatives(void **state)
{
    (void)state;
    static const char *const zones[] = {"a", "b"};
    struct site place;
    struct flavor_spec flavor;
    struct pool_spec pool;
    struct explanation why;
    site_init(&place);
    object_init(&flavor_object, &flavor);
    flavor.name = "f";
    flavor.slots = 4;
    flavor.zones = zones;
    flavor.zone_count = 2;
    struct input in = {.type = INPUT_FLAVOR_SET, .flavor = {.spec = &flavor}};
    assert_int_equal(site_step(&place, in), VERDICT_OK);
    flavor.name = "g";
    flavor.price_milli = 2100;
    flavor.currency = "EUR";
    assert_int_equal(site_step(&place, in), VERDICT_OK);
    query_pool_spec(place.core, (pool_id){1}, &place.arena, &pool);
    pool.provider = POOL_LOCAL;
    pool.nodes_max = 2;
    pool.flavor = "f";
    in = (struct input){.type = INPUT_POOL_EDIT, .pool = {.pool = {1}, .spec = &pool}};
    assert_int_equal(site_step(&place, in), VERDICT_OK);
    struct task_spec task = {.argv = (const char *const[]){"true"},
                             .argv_count = 1,
                             .kind = TASK_COMMAND,
                             .user = "u",
                             .project = "default",
                             .slots_milli = 4000,
                             .cpu_milli = ASK_NOTHING,
                             .memory_bytes = ASK_NOTHING,
                             .instances = 1,
                             .priority = 50};
    in = (struct input){.type = INPUT_TASK_SUBMIT, .submit = {.specs = &task, .count = 1}};
    assert_int_equal(site_step(&place, in), VERDICT_OK);
    for (uint64_t launch = 1; launch <= 2; launch++) {
        site_pass(&place);
        provider_says(&place, launch, PROVIDER_FAILED);
        place.now_ms += 5000;
    }
    site_pass(&place);
    explain_task(place.core, query_task_last(place.core), &why);
    reason_text(place.core, &why.reason, &place.out);
    const char *said = buf_text(&place.out);
    assert_non_null(strstr(said, "flavor 'f' of pool 'default' is sold out (a for "));
    assert_non_null(strstr(said, ", b for "));
    assert_non_null(strstr(said, "; the pool waits for 1 node; the provider is asked again in "));
    assert_non_null(strstr(said, "; not sold out: flavor 'g' in a for 2.1 EUR an hour"));
    site_done(&place);
}

static void closed_pools_say_how_they_open(void **state)
{
    (void)state;
    says((struct reason){.code = REASON_POOL_CLOSED, .pool = {1}, .text = "closing"},
         "pool 'default' is closing and takes no task; `weir pool restore default` opens it again");
    says((struct reason){.code = REASON_POOL_DELETED, .pool = {1}},
         "pool 'default' was deleted; `weir pool restore default` brings it back");
    says((struct reason){.code = REASON_POOL_DELETED, .pool = {1}, .text = "default"},
         "pool 'default' was deleted, and its name is kept; `weir pool restore default` brings it "
         "back, `weir pool delete default --now` frees the name");
}

static void pools_say_whom_they_serve(void **state)
{
    (void)state;
    says((struct reason){.code = REASON_NOT_ADMITTED, .pool = {1}, .account = {2}},
         "pool 'default' is dedicated to others than project 'default'; `weir pool show default` "
         "says to whom");
    says((struct reason){.code = REASON_UNKNOWN_GUEST, .text = "nlp"},
         "there is no project or department 'nlp'");
    says((struct reason){.code = REASON_GUEST_UNCLEAR, .text = "nlp"},
         "both a project and a department are called 'nlp'; say project/nlp or department/nlp");
}

static void sizes_that_cannot_be_say_why(void **state)
{
    (void)state;
    says((struct reason){.code = REASON_WRONG_STATE,
                         .text = "without a provider of its nodes",
                         .pool = {1}},
         "pool 'default' is without a provider of its nodes: its nodes are the agents that were "
         "started by hand");
    says((struct reason){.code = REASON_NODE_LOCKED, .text = "n1"},
         "node 'n1' is locked; `weir node unlock n1` lets it go");
    says((struct reason){.code = REASON_NODES_LOCKED, .pool = {1}, .need = 1, .have = 2},
         "pool 'default' cannot shrink to 1 nodes, because 2 of its nodes are locked; "
         "`weir node unlock NODE` lets a node go");
    says((struct reason){.code = REASON_DEFAULT_POOL, .pool = {1}},
         "tasks that name no pool go to pool 'default'; name another pool under `defaults` of the "
         "server file and run `weir config apply` first");
    says((struct reason){.code = REASON_FLAVOR_REGION, .text = "f", .pool = {1}},
         "flavor 'f' is the flavor of pool 'default' in another region; each region needs a flavor "
         "of its own, because each is sold out apart");
    says(
        (struct reason){.code = REASON_UNKNOWN_ZONE, .text = "z"},
        "the pool has nodes in zone 'z', and its flavor has no such zone; `weir flavor list` shows "
        "the zones");
    says((struct reason){.code = REASON_FLAVOR_SUBNETS, .text = "f"},
         "flavor 'f' has zones, and a plain subnet has one zone only; give the subnet of each zone "
         "as zone=subnet");
    says((struct reason){.code = REASON_NODE_BUSY, .node = {1}, .text = "n1"},
         "node 'n1' runs 0 instances; say what becomes of tasks on busy nodes: wait, requeue or "
         "kill");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_sold_out_is_said_with_alternatives),
        TEST(closed_pools_say_how_they_open),
        TEST(sizes_that_cannot_be_say_why),
        TEST(providers_speak_for_themselves),
        TEST(every_code_has_a_sentence_and_an_object),
        TEST(sentences_have_names_and_amounts),
        TEST(holders_are_named),
        TEST(refusals_name_what_there_is),
        TEST(refusals_are_of_their_kind),
        TEST(pools_say_whom_they_serve),
        TEST(suggestions_are_commands_that_fit),
        TEST(nodes_that_drain_are_named_with_the_way_back),
    };
    return cmocka_run_group_tests_name("reason_text", tests, NULL, NULL);
}
