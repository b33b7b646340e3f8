/* test_launch.c - nodes that a provider is asked for: the core's effects drive a made-up provider,
 * and what that says goes back as inputs, twice, late and about nothing where it should not matter.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../core/core_rig.h"
#include "fake_provider.h"

#include <stdio.h>
#include <string.h>

static const pool_id pool = {1};

enum { ANSWERS_MAX = 32, TEXT_MAX = 512 };

/* What the provider said and nobody has told the core yet. */
struct said {
    struct provider_answer answer;
    char name[TEXT_MAX];
    char node[TEXT_MAX];
    char words[TEXT_MAX];
};

struct cloud {
    struct rig rig;
    struct core *replayed; /* lives by the facts alone */
    struct fake_provider fake;
    struct said said[ANSWERS_MAX];
    unsigned said_count;
    unsigned foreign; /* reports about machines that are none of ours */
};

static void reported(void *ctx, const struct provider_report *report)
{
    struct cloud *cloud = ctx;
    struct said *said = &cloud->said[cloud->said_count];
    assert_true(cloud->said_count < ANSWERS_MAX);
    if (!provider_answer_of(query_server_uuid(cloud->rig.core), report, &said->answer)) {
        cloud->foreign++;
        return;
    }
    (void)str_copy(said->name, sizeof said->name, report->name);
    (void)str_copy(said->node, sizeof said->node, report->node);
    (void)str_copy(said->words, sizeof said->words, report->words);
    said->answer.name = said->name;
    said->answer.node = said->node;
    said->answer.words = said->words;
    cloud->said_count++;
}

static void order_give(struct cloud *cloud, const struct effect *effect)
{
    char key[PROVIDER_KEY_MAX];
    struct provider *provider = &cloud->fake.provider;
    provider_key(query_server_uuid(cloud->rig.core), effect->launch, key);
    if (effect->type == EFFECT_LAUNCH) {
        const struct provider_order order = {
            .key = key, .pool = query_pool_name(cloud->rig.core, effect->pool)};
        provider->ops->launch(provider, &order);
    } else {
        assert_int_equal(effect->type, EFFECT_TERMINATE);
        provider->ops->terminate(provider, key);
    }
}

static enum verdict step(struct cloud *cloud, struct input in)
{
    cloud->rig.now_ms += 1000;
    const enum verdict verdict = rig_do(&cloud->rig, in);
    for (size_t i = 0; verdict == VERDICT_OK && i < cloud->rig.facts.count; i++) {
        core_apply(cloud->replayed, &cloud->rig.facts.at[i]);
    }
    rig_standing_tell(cloud->replayed, cloud->rig.now_ms);
    assert_same_state(cloud->rig.core, cloud->replayed);
    return verdict;
}

/* One step whose orders reach the provider. */
static enum verdict ordered(struct cloud *cloud, struct input in)
{
    const enum verdict verdict = step(cloud, in);
    for (size_t i = 0; i < cloud->rig.effects.count; i++) {
        order_give(cloud, &cloud->rig.effects.at[i]);
    }
    return verdict;
}

/* Tells the core what the provider has said; how many facts that made. */
static size_t heard(struct cloud *cloud)
{
    struct provider_answer answers[ANSWERS_MAX];
    for (unsigned i = 0; i < cloud->said_count; i++) {
        answers[i] = cloud->said[i].answer;
    }
    struct input in = {.type = INPUT_PROVIDER,
                       .provider = {.answers = answers, .count = cloud->said_count}};
    assert_int_equal(ordered(cloud, in), VERDICT_OK);
    return cloud->rig.facts.count;
}

static size_t hear(struct cloud *cloud)
{
    size_t facts = heard(cloud);
    cloud->said_count = 0;
    return facts;
}

static size_t answer(struct cloud *cloud, struct provider_answer answer)
{
    struct input in = {.type = INPUT_PROVIDER, .provider = {.answers = &answer, .count = 1}};
    assert_int_equal(step(cloud, in), VERDICT_OK);
    assert_int_equal(cloud->rig.effects.count, 0);
    return cloud->rig.facts.count;
}

static enum verdict ask(struct cloud *cloud, uint32_t count)
{
    struct input in = {.type = INPUT_LAUNCH_ASK, .launch = {.pool = pool, .count = count}};
    return ordered(cloud, in);
}

static enum verdict stop(struct cloud *cloud, uint64_t launch)
{
    struct input in = {.type = INPUT_LAUNCH_STOP, .launch = {.launch = {launch}}};
    return ordered(cloud, in);
}

static enum launch_state state_of(const struct cloud *cloud, uint64_t launch)
{
    const struct launch *row = query_launch(cloud->rig.core, (launch_id){launch});
    assert_non_null(row);
    return (enum launch_state)row->state;
}

static bool there(const struct cloud *cloud, uint64_t launch)
{
    return query_launch(cloud->rig.core, (launch_id){launch}) != NULL;
}

static int begin(void **state)
{
    static struct cloud cloud;
    cloud = (struct cloud){0};
    rig_init(&cloud.rig);
    cloud.replayed = core_copy(cloud.rig.core);
    fake_provider_init(&cloud.fake, (struct provider_sink){&cloud, reported});
    *state = &cloud;
    return 0;
}

static int end(void **state)
{
    struct cloud *cloud = *state;
    core_free(cloud->replayed);
    rig_done(&cloud->rig);
    return 0;
}

/* A node joins both cores. */
static node_id join(struct cloud *cloud, const char *name)
{
    node_id node = rig_node(&cloud->rig, name, 2, 0, 1);
    for (size_t i = 0; i < cloud->rig.facts.count; i++) {
        core_apply(cloud->replayed, &cloud->rig.facts.at[i]);
    }
    rig_standing_tell(cloud->replayed, cloud->rig.now_ms);
    return node;
}

static void a_launch_goes_all_the_way(void **state)
{
    struct cloud *cloud = *state;
    assert_int_equal(ask(cloud, 1), VERDICT_OK);
    assert_int_equal(state_of(cloud, 1), LAUNCH_ASKED);
    assert_int_equal(cloud->fake.count, 1);
    assert_int_equal(hear(cloud), 1);
    assert_int_equal(state_of(cloud, 1), LAUNCH_REQUESTED);
    const struct launch *launch = query_launch(cloud->rig.core, (launch_id){1});
    assert_string_equal(query_launch_name(launch), "m-1");
    assert_true(launch->changed_ms > launch->asked_ms);

    fake_provider_up(&cloud->fake, 0, "");
    assert_int_equal(hear(cloud), 1);
    assert_int_equal(state_of(cloud, 1), LAUNCH_RUNNING);
    assert_int_equal(query_launch(cloud->rig.core, (launch_id){1})->node.v, 0);

    /* The provider knows of the node before the server does: the next report finds it. */
    fake_provider_up(&cloud->fake, 0, "n1");
    assert_int_equal(hear(cloud), 0);
    const node_id node = join(cloud, "n1");
    fake_provider_up(&cloud->fake, 0, "n1");
    assert_int_equal(hear(cloud), 1);
    assert_int_equal(query_launch(cloud->rig.core, (launch_id){1})->node.v, node.v);

    assert_int_equal(stop(cloud, 1), VERDICT_OK);
    assert_int_equal(state_of(cloud, 1), LAUNCH_ENDING);
    assert_int_equal(fake_provider_alive(&cloud->fake), 0);
    assert_int_equal(hear(cloud), 1);
    assert_false(there(cloud, 1));
    assert_false(rig_fact(&cloud->rig, FACT_LAUNCH_ENDED)->launch.failed);
}

static void an_answer_that_comes_twice_counts_once(void **state)
{
    struct cloud *cloud = *state;
    assert_int_equal(ask(cloud, 3), VERDICT_OK);
    assert_int_equal(heard(cloud), 3);
    assert_int_equal(heard(cloud), 0);
    cloud->said_count = 0;
    fake_provider_up(&cloud->fake, 1, "");
    fake_provider_up(&cloud->fake, 1, "");
    assert_int_equal(hear(cloud), 1); /* in one input, too */
    fake_provider_lose(&cloud->fake, 2);
    fake_provider_lose(&cloud->fake, 2);
    assert_int_equal(hear(cloud), 1);
    assert_int_equal(state_of(cloud, 1), LAUNCH_REQUESTED);
    assert_int_equal(state_of(cloud, 2), LAUNCH_RUNNING);
    assert_false(there(cloud, 3));
}

static void late_answers_take_nothing_back(void **state)
{
    struct cloud *cloud = *state;
    assert_int_equal(ask(cloud, 1), VERDICT_OK);
    fake_provider_up(&cloud->fake, 0, "");
    /* The later word comes first. */
    const struct said first = cloud->said[0];
    cloud->said[0] = cloud->said[1];
    cloud->said[1] = first;
    cloud->said[0].answer.name = "m-1";
    cloud->said[1].answer.words = "still waiting for a machine";
    assert_int_equal(hear(cloud), 1);
    assert_int_equal(state_of(cloud, 1), LAUNCH_RUNNING);
    assert_int_equal(stop(cloud, 1), VERDICT_OK);
    cloud->said_count = 0;
    const struct provider_answer late[] = {
        {.launch = {1}, .says = PROVIDER_RUNNING, .name = "m-1", .node = "", .words = ""},
        {.launch = {1}, .says = PROVIDER_REQUESTED, .name = "m-1", .node = "", .words = "?"},
    };
    assert_int_equal(answer(cloud, late[0]), 0);
    assert_int_equal(answer(cloud, late[1]), 0);
    assert_int_equal(state_of(cloud, 1), LAUNCH_ENDING);
}

static void answers_about_nothing_change_nothing(void **state)
{
    struct cloud *cloud = *state;
    assert_int_equal(ask(cloud, 1), VERDICT_OK);
    (void)hear(cloud);
    assert_int_equal(stop(cloud, 1), VERDICT_OK);
    (void)hear(cloud);
    assert_false(there(cloud, 1));
    for (int says = 0; says < PROVIDER_SAYS_COUNT; says++) {
        for (uint64_t id = 0; id < 4; id++) { /* 0 and 2 were never given, 1 has ended */
            const struct provider_answer stray = {.launch = {id},
                                                  .says = (enum provider_says)says,
                                                  .name = "x",
                                                  .node = "",
                                                  .words = ""};
            assert_int_equal(answer(cloud, stray), 0);
        }
    }
    /* The number of an ended launch is not given again. */
    assert_int_equal(ask(cloud, 1), VERDICT_OK);
    assert_true(there(cloud, 2));
}

static void a_failed_launch_leaves_its_reason(void **state)
{
    struct cloud *cloud = *state;
    cloud->fake.refuses = "InsufficientInstanceCapacity: no p5 in this zone";
    assert_int_equal(ask(cloud, 1), VERDICT_OK);
    assert_int_equal(hear(cloud), 1);
    const struct fact *fact = rig_fact(&cloud->rig, FACT_LAUNCH_ENDED);
    assert_true(fact->launch.failed);
    assert_string_equal(fact->launch.words, cloud->fake.refuses);
    assert_false(there(cloud, 1));
}

/* 255 bytes of them, and no half character. */
static void long_words_are_cut_between_characters(void **state)
{
    struct cloud *cloud = *state;
    char words[401];
    for (unsigned i = 0; i < 200; i++) {
        memcpy(words + 2 * i, "\xc3\xa4", 2);
    }
    words[400] = '\0';
    assert_int_equal(ask(cloud, 1), VERDICT_OK);
    const struct provider_answer slow = {
        .launch = {1}, .says = PROVIDER_REQUESTED, .name = words, .node = "", .words = words};
    assert_int_equal(answer(cloud, slow), 1);
    assert_int_equal(answer(cloud, slow), 0);
    const struct launch *launch = query_launch(cloud->rig.core, (launch_id){1});
    assert_int_equal(strlen(query_launch_words(launch)), 254);
    assert_int_equal(strlen(query_launch_name(launch)), 254);
    /* What the provider says next takes their place, its name for the machine stays. */
    const struct provider_answer next = {
        .launch = {1}, .says = PROVIDER_REQUESTED, .name = "", .node = "", .words = "soon"};
    assert_int_equal(answer(cloud, next), 1);
    launch = query_launch(cloud->rig.core, (launch_id){1});
    assert_string_equal(query_launch_words(launch), "soon");
    assert_int_equal(strlen(query_launch_name(launch)), 254);
}

/* Such words have no character between which they could be cut. */
static void words_that_are_no_text_are_left_out(void **state)
{
    struct cloud *cloud = *state;
    char words[401];
    memset(words, 0x80, 400);
    words[400] = '\0';
    assert_int_equal(ask(cloud, 1), VERDICT_OK);
    const struct provider_answer said = {
        .launch = {1}, .says = PROVIDER_RUNNING, .name = "m", .node = "", .words = words};
    assert_int_equal(answer(cloud, said), 1);
    assert_string_equal(query_launch_words(query_launch(cloud->rig.core, (launch_id){1})), "");
}

/* The facts were stored, then the server died before its provider heard of them. */
static void orders_lost_in_a_crash_are_given_again(void **state)
{
    struct cloud *cloud = *state;
    struct input in = {.type = INPUT_LAUNCH_ASK, .launch = {.pool = pool, .count = 2}};
    assert_int_equal(step(cloud, in), VERDICT_OK);
    assert_int_equal(cloud->rig.effects.count, 2);
    order_give(cloud, &cloud->rig.effects.at[0]); /* only the first went out */
    cloud->said_count = 0;                        /* and its answer was lost */
    struct effects open = {0};
    core_launch_orders(cloud->rig.core, &open);
    assert_int_equal(open.count, 2);
    for (size_t i = 0; i < open.count; i++) {
        assert_int_equal(open.at[i].type, EFFECT_LAUNCH);
        order_give(cloud, &open.at[i]);
    }
    assert_int_equal(cloud->fake.launch_calls, 3);
    assert_int_equal(fake_provider_alive(&cloud->fake), 2); /* one machine a launch */
    assert_int_equal(hear(cloud), 2);

    in = (struct input){.type = INPUT_LAUNCH_STOP, .launch = {.launch = {2}}};
    assert_int_equal(step(cloud, in), VERDICT_OK);
    open.count = 0;
    core_launch_orders(cloud->rig.core, &open); /* launch 1 is the provider's already */
    assert_int_equal(open.count, 1);
    assert_int_equal(open.at[0].type, EFFECT_TERMINATE);
    assert_int_equal(open.at[0].launch.v, 2);
    assert_int_equal(open.at[0].pool.v, pool.v);
    order_give(cloud, &open.at[0]);
    order_give(cloud, &open.at[0]);
    assert_int_equal(fake_provider_alive(&cloud->fake), 1);
    assert_int_equal(hear(cloud), 1);
    open.count = 0;
    core_launch_orders(cloud->rig.core, &open);
    assert_int_equal(open.count, 0);
    effect_done(&open);
}

static void listed(void *ctx, const char *problem)
{
    (void)problem;
    ++*(unsigned *)ctx;
}

static void a_list_says_everything_again(void **state)
{
    struct cloud *cloud = *state;
    unsigned lists = 0;
    assert_int_equal(ask(cloud, 2), VERDICT_OK);
    cloud->said_count = 0; /* nobody heard */
    (void)str_copy(cloud->fake.machines[2].key, PROVIDER_KEY_MAX, "weir-of-another-server-1");
    cloud->fake.machines[2].node = "";
    cloud->fake.count = 3;
    cloud->fake.provider.ops->list(&cloud->fake.provider, listed, &lists);
    assert_int_equal(lists, 1);
    assert_int_equal(cloud->foreign, 1);
    assert_int_equal(heard(cloud), 2);
    assert_int_equal(heard(cloud), 0);
}

static void a_stop_is_asked_once(void **state)
{
    struct cloud *cloud = *state;
    assert_int_equal(stop(cloud, 1), VERDICT_NOT_FOUND);
    assert_int_equal(ask(cloud, 1), VERDICT_OK);
    cloud->said_count = 0;
    struct input in = {.type = INPUT_LAUNCH_STOP, .launch = {.launch = {1}}};
    assert_int_equal(step(cloud, in), VERDICT_OK);
    assert_int_equal(cloud->rig.effects.count, 1);
    assert_int_equal(step(cloud, in), VERDICT_OK);
    assert_int_equal(cloud->rig.facts.count, 0);
}

static void what_cannot_be_is_refused(void **state)
{
    struct cloud *cloud = *state;
    struct input in = {.type = INPUT_LAUNCH_ASK, .launch = {.pool = {7}, .count = 1}};
    assert_int_equal(step(cloud, in), VERDICT_NOT_FOUND);
    in.launch.pool = pool;
    in.launch.count = LAUNCHES_MAX + 1;
    assert_int_equal(step(cloud, in), VERDICT_REFUSED);
    assert_int_equal(cloud->rig.facts.refusal.code, REASON_LIMIT);
}

static void a_pool_with_launches_stays(void **state)
{
    struct cloud *cloud = *state;
    struct pool_spec spec;
    struct arena arena; /* a step clears the arena of the rig */
    arena_init(&arena);
    query_pool_spec(cloud->rig.core, pool, &arena, &spec);
    spec.name = "elastic";
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    assert_int_equal(step(cloud, in), VERDICT_OK);
    arena_done(&arena);
    const pool_id elastic = query_pool_named(cloud->rig.core, "elastic")->id;
    in = (struct input){.type = INPUT_LAUNCH_ASK, .launch = {.pool = elastic, .count = 1}};
    assert_int_equal(ordered(cloud, in), VERDICT_OK);
    in = (struct input){.type = INPUT_POOL_DELETE,
                        .pool = {.pool = elastic, .force = true, .now = true}};
    assert_int_equal(step(cloud, in), VERDICT_CONFLICT);
    assert_int_equal(cloud->rig.facts.refusal.code, REASON_IN_USE);
    assert_int_equal(stop(cloud, 1), VERDICT_OK);
    (void)hear(cloud);
    assert_int_equal(step(cloud, in), VERDICT_OK);
}

static void keys_come_back_as_their_launch(void **state)
{
    (void)state;
    static const uint8_t uuid[16] = {0xab, 1, 2, 0xff};
    static const uint8_t other[16] = {0xab, 1, 2, 0xfe};
    const launch_id ids[] = {{1}, {42}, {UINT64_MAX}};
    for (unsigned i = 0; i < 3; i++) {
        char key[PROVIDER_KEY_MAX];
        provider_key(uuid, ids[i], key);
        struct provider_report report = {
            .key = key, .says = PROVIDER_RUNNING, .words = "w", .why = PROVIDER_WHY_PRICE};
        struct provider_answer answer = {0};
        assert_true(provider_answer_of(uuid, &report, &answer));
        assert_int_equal(answer.launch.v, ids[i].v);
        assert_int_equal(answer.says, PROVIDER_RUNNING);
        assert_string_equal(answer.words, "w");
        assert_int_equal(answer.why, PROVIDER_WHY_PRICE);
        assert_false(provider_answer_of(other, &report, &answer));
    }
    static const char *const wrong[] = {"",
                                        "weir-",
                                        "weir-ab0102ff000000000000000000000000",
                                        "weir-ab0102ff000000000000000000000000-",
                                        "weir-ab0102ff000000000000000000000000-x",
                                        "weir-ab0102ff000000000000000000000000-01",
                                        "weir-ab0102ff000000000000000000000000-1 ",
                                        "WEIR-ab0102ff000000000000000000000000-1"};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct provider_report report = {.key = wrong[i]};
        struct provider_answer answer;
        assert_false(provider_answer_of(uuid, &report, &answer));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_launch_goes_all_the_way),           TEST(an_answer_that_comes_twice_counts_once),
        TEST(late_answers_take_nothing_back),      TEST(answers_about_nothing_change_nothing),
        TEST(a_failed_launch_leaves_its_reason),   TEST(long_words_are_cut_between_characters),
        TEST(words_that_are_no_text_are_left_out), TEST(orders_lost_in_a_crash_are_given_again),
        TEST(a_list_says_everything_again),        TEST(a_stop_is_asked_once),
        TEST(what_cannot_be_is_refused),           TEST(a_pool_with_launches_stays),
        TEST(keys_come_back_as_their_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
