/* test_flavor.c - flavors: what the nodes of a pool are, in which zone they are asked for, what is remembered about zones
 * that are sold out, and which pool is served first. After each step the rig checks all invariants and reads the state
 * back from its bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/object.h"
#include "core/sched/explain/explain.h"
#include "core/state/soldout.h"
#include "org_rig.h"

static const int64_t FIRST_WAIT_MS = 30 * 1000;
static const int64_t FADE_MS = 60 * 60 * 1000;

static const char *const zones[] = {"a", "b", "c"};

static struct flavor_spec two_slots(const char *name, uint32_t zone_count)
{
    struct flavor_spec spec;
    object_init(&flavor_object, &spec);
    spec.name = name;
    spec.slots = 2;
    spec.cpu_milli = 4000;
    spec.zones = zones;
    spec.zone_count = zone_count;
    spec.price_milli = 1500;
    spec.currency = "EUR";
    return spec;
}

static enum verdict flavor_set(struct org *org, flavor_id id, const struct flavor_spec *spec)
{
    struct input in = {.type = INPUT_FLAVOR_SET, .flavor = {.flavor = id, .spec = spec}};
    return rig_do(&org->rig, in);
}

static const struct flavor *flavor_named(const struct org *org, const char *name)
{
    const struct flavor *flavor = query_flavor_named(org->rig.core, name);
    assert_non_null(flavor);
    return flavor;
}

static void of_flavor(struct pool_spec *spec)
{
    spec->provider = POOL_LOCAL;
    spec->nodes_max = 3;
    spec->flavor = "f";
}

/* The pool `default` has up to three nodes of flavor f, which has so many zones. */
static void begin(struct org *org, uint32_t zone_count)
{
    const struct flavor_spec spec = two_slots("f", zone_count);
    org_init(org);
    assert_int_equal(flavor_set(org, (flavor_id){0}, &spec), VERDICT_OK);
    org_pool(org, of_flavor);
}

static const struct pool *pool_of(const struct org *org, pool_id id)
{
    return query_pool(org->rig.core, id);
}

/* Runs one pass of the pool. Returns how many nodes it asked for. */
static size_t asks_of(struct org *org, pool_id id)
{
    struct input in = {.type = INPUT_PASS, .pass = {.pool = id, .work_max = 1 << 20}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    return rig_count(&org->rig, FACT_LAUNCH_ASKED);
}

static size_t asks(struct org *org)
{
    return asks_of(org, org_pool_id);
}

static const char *zone_of(const struct org *org, uint64_t launch)
{
    return query_launch_zone(query_launch(org->rig.core, (launch_id){launch}));
}

static void answers(struct org *org, uint64_t launch, enum provider_says says,
                    enum provider_why why)
{
    const struct provider_answer answer = {
        .launch = {launch}, .says = says, .name = "", .node = "", .words = "words", .why = why};
    struct input in = {.type = INPUT_PROVIDER, .provider = {.answers = &answer, .count = 1}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

static void refused(struct org *org, uint64_t launch)
{
    answers(org, launch, PROVIDER_FAILED, PROVIDER_WHY_NO_CAPACITY);
}

static task_id work(struct org *org, uint32_t instances)
{
    return org_submit(org, (struct org_task){.slots = 2, .instances = instances});
}

/* A second pool of flavor f. */
static pool_id blue_pool(struct org *org)
{
    struct pool_spec spec;
    object_init(&pool_object, &spec);
    spec.name = "blue";
    of_flavor(&spec);
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
    return query_pool_named(org->rig.core, "blue")->id;
}

static task_id work_in_blue(struct org *org, uint32_t instances)
{
    static const char *const pools[] = {"blue"};
    struct task_spec spec = rig_spec();
    spec.slots_milli = 2 * SLOT_MILLI;
    spec.instances = instances;
    spec.pools = pools;
    spec.pool_count = 1;
    return rig_submit(&org->rig, spec);
}

/* ---- what a flavor is ---- */

static void a_pool_has_the_amounts_of_its_flavor(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 0);
    struct task_spec spec = rig_spec();
    spec.slots_milli = 3 * SLOT_MILLI;
    spec.gang = true; /* a task alone would be divided over two nodes */
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_REFUSED);
    assert_int_equal(org.rig.facts.refusal.code, REASON_TOO_LARGE);
    assert_int_equal(org.rig.facts.refusal.available, 2 * SLOT_MILLI);
    struct flavor_spec larger = two_slots("f", 0);
    larger.slots = 4;
    assert_int_equal(flavor_set(&org, flavor_named(&org, "f")->id, &larger), VERDICT_OK);
    assert_int_equal(rig_try_submit(&org.rig, spec), VERDICT_OK);
    assert_int_equal(asks(&org), 1);
    assert_string_equal(zone_of(&org, 1), "");
    org_done(&org);
}

static void what_a_node_is_stays_while_there_are_nodes(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 2);
    (void)work(&org, 1);
    assert_int_equal(asks(&org), 1);
    struct flavor_spec other = two_slots("f", 3);
    other.price_milli = 2;
    const flavor_id id = flavor_named(&org, "f")->id;
    assert_int_equal(flavor_set(&org, id, &other), VERDICT_OK);
    assert_int_equal(flavor_named(&org, "f")->zone_count, 3);
    other.slots = 3;
    assert_int_equal(flavor_set(&org, id, &other), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_FLAVOR_FIXED);
    struct input in = {.type = INPUT_FLAVOR_DELETE, .flavor = {.flavor = id}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_FLAVOR_USED);
    struct pool_spec spec;
    query_pool_spec(org.rig.core, org_pool_id, &org.rig.kept, &spec);
    spec.flavor = "";
    in = (struct input){.type = INPUT_POOL_EDIT, .pool = {.pool = org_pool_id, .spec = &spec}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_CONFLICT);
    answers(&org, 1, PROVIDER_GONE, PROVIDER_WHY_OTHER);
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    in = (struct input){.type = INPUT_FLAVOR_DELETE, .flavor = {.flavor = id}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    assert_null(query_flavor_named(org.rig.core, "f"));
    org_done(&org);
}

static void bad_flavors_are_refused(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 1);
    struct pool_spec pool;
    object_init(&pool_object, &pool);
    pool.name = "blue";
    of_flavor(&pool);
    pool.flavor = "none";
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &pool}};
    assert_int_equal(rig_do(&org.rig, in), VERDICT_REFUSED);
    assert_int_equal(org.rig.facts.refusal.code, REASON_UNKNOWN_FLAVOR);
    pool.flavor = "f";
    pool.provider = POOL_STATIC;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_REFUSED);
    assert_int_equal(org.rig.facts.refusal.code, REASON_FLAVOR_PROVIDER);
    struct flavor_spec twice = two_slots("g", 2);
    const char *const same[] = {"a", "a"};
    twice.zones = same;
    assert_int_equal(flavor_set(&org, (flavor_id){0}, &twice), VERDICT_REFUSED);
    assert_int_equal(org.rig.facts.refusal.code, REASON_LIMIT);
    const struct flavor_spec again = two_slots("f", 1);
    assert_int_equal(flavor_set(&org, (flavor_id){0}, &again), VERDICT_CONFLICT);
    assert_int_equal(flavor_set(&org, (flavor_id){77}, &again), VERDICT_NOT_FOUND);
    org_done(&org);
}

/* ---- sold out ---- */

static void another_zone_is_tried_at_once(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 2);
    (void)work(&org, 2);
    assert_int_equal(asks(&org), 2);
    assert_string_equal(zone_of(&org, 1), "a");
    refused(&org, 1);
    assert_int_equal(asks(&org), 1);
    assert_string_equal(zone_of(&org, 3), "b");
    assert_int_equal(pool_of(&org, org_pool_id)->launch_retry_ms,
                     0); /* the pool does not back off */
    assert_string_equal(query_pool_refusal(pool_of(&org, org_pool_id)), "words");
    answers(&org, 2, PROVIDER_RUNNING, PROVIDER_WHY_OTHER); /* asked for before the refusal */
    assert_false(soldout_zone_open(&flavor_named(&org, "f")->zones[0], org.rig.now_ms));
    org_done(&org);
}

/* All zones are sold out: one node is asked for at each retry, each time later. */
static void a_sold_out_flavor_is_asked_again_by_one_launch(void **state)
{
    (void)state;
    struct org org;
    struct explanation why;
    begin(&org, 1);
    const task_id task = work(&org, 3);
    assert_int_equal(asks(&org), 3);
    int64_t wait_ms = FIRST_WAIT_MS;
    for (uint64_t launch = 1; launch <= 3; launch++) {
        refused(&org, launch); /* three refusals of one moment are one refusal */
    }
    for (uint64_t launch = 4; launch < 8; launch++) {
        assert_int_equal(asks(&org), 0);
        const struct flavor_zone *zone = &flavor_named(&org, "f")->zones[0];
        assert_int_equal(zone->retry_ms, org.rig.now_ms + wait_ms);
        assert_int_equal(pool_of(&org, org_pool_id)->wake_ms, zone->retry_ms);
        assert_int_equal(pool_of(&org, org_pool_id)->sold_nodes, 3);
        explain_task(org.rig.core, task, &why);
        assert_int_equal(why.reason.code, REASON_SOLD_OUT);
        assert_int_equal(why.reason.until_ms, zone->retry_ms);
        assert_string_equal(why.reason.text, "f");
        org.rig.now_ms += wait_ms;
        assert_int_equal(asks(&org), 1);
        assert_int_equal(asks(&org), 0); /* no second question before the answer */
        refused(&org, launch);
        wait_ms *= 2;
    }
    org.rig.now_ms += wait_ms;
    assert_int_equal(asks(&org), 1);
    answers(&org, 8, PROVIDER_RUNNING, PROVIDER_WHY_OTHER);
    assert_int_equal(asks(&org), 2); /* capacity is back: the others follow at once */
    assert_int_equal(pool_of(&org, org_pool_id)->sold_nodes, 0);
    assert_int_equal(flavor_named(&org, "f")->zones[0].since_ms, 0);
    org_done(&org);
}

static void the_memory_fades(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 1);
    const task_id task = work(&org, 3);
    assert_int_equal(asks(&org), 3);
    for (uint64_t launch = 1; launch <= 3; launch++) {
        refused(&org, launch);
    }
    (void)asks(&org);
    assert_int_equal(rig_task(&org.rig, INPUT_TASK_KILL, task), VERDICT_OK);
    (void)asks(&org);
    assert_int_equal(pool_of(&org, org_pool_id)->sold_nodes, 0); /* nobody wants nodes any more */
    org.rig.now_ms += FADE_MS;
    (void)work(&org, 3);
    assert_int_equal(asks(&org), 3);
    refused(&org, 4);
    assert_int_equal(flavor_named(&org, "f")->zones[0].failures, 1); /* as if for the first time */
    org_done(&org);
}

/* An older launch is refused in the moment in which the zone is asked again. The answer to the question counts. */
static void a_late_refusal_does_not_hide_that_capacity_is_back(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 1);
    (void)work(&org, 3);
    assert_int_equal(asks(&org), 3);
    refused(&org, 1);
    refused(&org, 2);
    (void)asks(&org);
    org.rig.now_ms += FIRST_WAIT_MS;
    assert_int_equal(asks(&org), 1);
    refused(&org, 3);
    answers(&org, 4, PROVIDER_RUNNING, PROVIDER_WHY_OTHER);
    assert_int_equal(flavor_named(&org, "f")->zones[0].since_ms, 0);
    assert_int_equal(asks(&org), 2);
    org_done(&org);
}

static void other_errors_make_the_pool_back_off(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 1);
    (void)work(&org, 1);
    assert_int_equal(asks(&org), 1);
    answers(&org, 1, PROVIDER_FAILED, PROVIDER_WHY_LIMIT);
    assert_true(pool_of(&org, org_pool_id)->launch_retry_ms > org.rig.now_ms);
    assert_int_equal(flavor_named(&org, "f")->zones[0].since_ms, 0);
    org_done(&org);
}

/* ---- the line ---- */

static void the_pool_that_waits_longest_is_served_first(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 1);
    const pool_id blue = blue_pool(&org);
    (void)work_in_blue(&org, 2);
    assert_int_equal(asks_of(&org, blue), 2);
    refused(&org, 1);
    refused(&org, 2);
    assert_int_equal(asks_of(&org, blue), 0); /* blue is first in line */
    org.rig.now_ms += 1000;
    (void)work(&org, 1);
    assert_int_equal(asks(&org), 0);
    uint32_t of;
    assert_int_equal(soldout_place(org.rig.core, pool_of(&org, blue), &of), 1);
    assert_int_equal(soldout_place(org.rig.core, pool_of(&org, org_pool_id), &of), 2);
    assert_int_equal(of, 2);
    assert_int_equal(pool_of(&org, org_pool_id)->wake_ms, 0); /* only the first pool wakes up */
    org.rig.now_ms += FIRST_WAIT_MS;
    assert_int_equal(asks(&org), 0);
    assert_int_equal(asks_of(&org, blue), 1);
    answers(&org, 3, PROVIDER_RUNNING, PROVIDER_WHY_OTHER);
    assert_int_equal(asks(&org), 0); /* capacity is back, and blue is ahead */
    assert_true(pool_of(&org, blue)->due);
    assert_int_equal(asks_of(&org, blue), 1);
    assert_true(pool_of(&org, org_pool_id)->due);
    assert_int_equal(asks(&org), 1);
    org_done(&org);
}

static void pool_rests(struct pool_spec *spec)
{
    spec->paused = true;
}

static void a_pool_that_cannot_ask_lets_the_next_pass(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 1);
    const pool_id blue = blue_pool(&org);
    (void)work(&org, 1);
    assert_int_equal(asks(&org), 1);
    refused(&org, 1);
    assert_int_equal(asks(&org), 0);
    (void)work_in_blue(&org, 1);
    assert_int_equal(asks_of(&org, blue), 0);
    org_pool(&org, pool_rests);
    assert_true(pool_of(&org, blue)->due);
    org.rig.now_ms += FIRST_WAIT_MS;
    assert_int_equal(asks_of(&org, blue), 1);
    uint32_t of;
    assert_int_equal(soldout_place(org.rig.core, pool_of(&org, org_pool_id), &of), 1);
    org_done(&org);
}

static void other_flavors_are_offered_the_cheapest_first(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 1);
    struct flavor_spec spec = two_slots("dear", 2);
    spec.price_milli = 9000;
    assert_int_equal(flavor_set(&org, (flavor_id){0}, &spec), VERDICT_OK);
    spec = two_slots("cheap", 2);
    spec.price_milli = 1000;
    assert_int_equal(flavor_set(&org, (flavor_id){0}, &spec), VERDICT_OK);
    spec = two_slots("priceless", 2);
    spec.price_milli = 0;
    assert_int_equal(flavor_set(&org, (flavor_id){0}, &spec), VERDICT_OK);
    spec = two_slots("small", 2);
    spec.slots = 1;
    assert_int_equal(flavor_set(&org, (flavor_id){0}, &spec), VERDICT_OK);
    struct alternative found[ALTERNATIVES_MAX];
    assert_int_equal(
        soldout_alternatives(org.rig.core, pool_of(&org, org_pool_id), org.rig.now_ms, found), 3);
    assert_string_equal(query_flavor_name(org.rig.core, found[0].flavor), "cheap");
    assert_string_equal(query_flavor_name(org.rig.core, found[1].flavor), "dear");
    assert_string_equal(query_flavor_name(org.rig.core, found[2].flavor), "priceless");
    org_done(&org);
}

/* ---- a number of nodes for each zone ---- */

static const char *const two_and_one[] = {"a=2", "b=1"};
static const char *const one_and_two[] = {"a=1", "b=2"};

static enum verdict zoned_pool(struct org *org, const char *name, const char *const *places,
                               uint32_t count, uint32_t nodes)
{
    struct pool_spec spec;
    const struct pool *pool = query_pool_named(org->rig.core, name);
    object_init(&pool_object, &spec);
    spec.name = name;
    of_flavor(&spec);
    spec.nodes_fixed = nodes;
    spec.nodes_min = nodes;
    spec.nodes_max = nodes;
    spec.zones = places;
    spec.zone_count = count;
    struct input in = {.type = pool == NULL ? INPUT_POOL_CREATE : INPUT_POOL_EDIT,
                       .pool = {.spec = &spec}};
    in.pool.pool = pool == NULL ? (pool_id){0} : pool->id;
    return rig_do(&org->rig, in);
}

static uint32_t places_in(const struct org *org, pool_id id, const char *zone)
{
    uint32_t count = 0;
    for (const struct launch *launch = query_launch_next(org->rig.core, (launch_id){0});
         launch != NULL; launch = query_launch_next(org->rig.core, launch->id)) {
        count += launch->pool.v == id.v && launch->state != LAUNCH_ENDING &&
                 strcmp(query_launch_zone(launch), zone) == 0;
    }
    return count;
}

static void zones_have_their_numbers(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 3);
    static const char *const unknown[] = {"z=3"};
    static const char *const short_sum[] = {"a=2"};
    assert_int_equal(zoned_pool(&org, "zoned", unknown, 1, 3), VERDICT_REFUSED);
    assert_int_equal(org.rig.facts.refusal.code, REASON_UNKNOWN_ZONE);
    assert_int_equal(zoned_pool(&org, "zoned", short_sum, 1, 3), VERDICT_REFUSED);
    assert_int_equal(org.rig.facts.refusal.code, REASON_LIMIT);
    assert_int_equal(zoned_pool(&org, "zoned", two_and_one, 2, 3), VERDICT_OK);
    const pool_id id = query_pool_named(org.rig.core, "zoned")->id;
    assert_int_equal(asks_of(&org, id), 3);
    assert_int_equal(places_in(&org, id, "a"), 2);
    assert_int_equal(places_in(&org, id, "b"), 1);
    /* a machine that ends is asked for again where it stood */
    answers(&org, 3, PROVIDER_GONE, PROVIDER_WHY_OTHER);
    org.rig.now_ms = pool_of(&org, id)->launch_retry_ms;
    assert_int_equal(asks_of(&org, id), 1);
    assert_string_equal(zone_of(&org, 4), "b");
    /* other numbers: what is too much in a zone goes, what lacks comes */
    assert_int_equal(zoned_pool(&org, "zoned", one_and_two, 2, 3), VERDICT_OK);
    assert_int_equal(places_in(&org, id, "a"), 1);
    assert_int_equal(asks_of(&org, id), 1);
    assert_int_equal(places_in(&org, id, "b"), 2);
    /* the flavor keeps the zones in which a pool has nodes */
    struct flavor_spec spec = two_slots("f", 1);
    assert_int_equal(flavor_set(&org, flavor_named(&org, "f")->id, &spec), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_UNKNOWN_ZONE);
    org_done(&org);
}

/* Locked nodes keep a zone above its number. Otherwise nodes of another zone would go in their place. */
static void a_zone_with_locked_nodes_keeps_its_number(void **state)
{
    (void)state;
    static const char *const one_and_one[] = {"a=1", "b=1"};
    struct org org;
    begin(&org, 2);
    assert_int_equal(zoned_pool(&org, "zoned", two_and_one, 2, 3), VERDICT_OK);
    const pool_id id = query_pool_named(org.rig.core, "zoned")->id;
    assert_int_equal(asks_of(&org, id), 3);
    const struct node_edit lock = {.fields = NODE_EDIT_LOCK, .locked = true};
    for (uint8_t i = 1; i <= 3; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "zoned-%d", i);
        struct node_spec spec = {.name = name,
                                 .pool = "zoned",
                                 .slots_milli = 2000,
                                 .cpu_milli = 64000,
                                 .memory_bytes = (int64_t)1 << 40,
                                 .boot_id = "",
                                 .address = "",
                                 .version = "",
                                 .supervisor = {i}};
        struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
        assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
        in = (struct input){.type = INPUT_NODE_EDIT, .node = {.edit = &lock}};
        in.node.node = query_node_named(org.rig.core, name)->id;
        assert_true(i == 3 || rig_do(&org.rig, in) == VERDICT_OK);
    }
    assert_int_equal(pool_of(&org, id)->launch_live, 3);
    assert_int_equal(zoned_pool(&org, "zoned", one_and_one, 2, 2), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_NODES_LOCKED);
    assert_int_equal(org.rig.facts.refusal.need, 2);
    assert_int_equal(org.rig.facts.refusal.have, 2);
    assert_int_equal(pool_of(&org, id)->launch_live, 3);
    org_done(&org);
}

/* Zone b is sold out. The pool with a number of nodes there waits in the line of b alone. */
static void each_zone_has_its_line(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 2);
    assert_int_equal(zoned_pool(&org, "zoned", two_and_one, 2, 3), VERDICT_OK);
    const pool_id id = query_pool_named(org.rig.core, "zoned")->id;
    assert_int_equal(asks_of(&org, id), 3);
    refused(&org, 3);
    assert_int_equal(asks_of(&org, id), 0);
    assert_int_equal(pool_of(&org, id)->sold_nodes, 1);
    uint32_t of;
    assert_int_equal(soldout_place_in(org.rig.core, pool_of(&org, id), 0, &of), 0);
    assert_int_equal(soldout_place_in(org.rig.core, pool_of(&org, id), 1, &of), 1);
    struct alternative found[ALTERNATIVES_MAX];
    assert_int_equal(soldout_alternatives(org.rig.core, pool_of(&org, id), org.rig.now_ms, found),
                     1);
    assert_int_equal(found[0].zone, 0); /* zone a of the same flavor */
    /* another pool takes zone a, which is open, though a pool waits for b */
    (void)work(&org, 1);
    assert_int_equal(asks(&org), 1);
    assert_string_equal(zone_of(&org, 4), "a");
    refused(&org, 4);
    org.rig.now_ms += 1000;
    assert_int_equal(asks(&org), 0); /* it waits for both zones, behind the first pool in b */
    assert_int_equal(soldout_place_in(org.rig.core, pool_of(&org, org_pool_id), 0, &of), 1);
    assert_int_equal(soldout_place_in(org.rig.core, pool_of(&org, org_pool_id), 1, &of), 2);
    assert_int_equal(of, 2);
    org.rig.now_ms += FIRST_WAIT_MS;
    assert_int_equal(asks_of(&org, id), 1); /* each asks where it is first */
    assert_string_equal(zone_of(&org, 5), "b");
    assert_int_equal(asks(&org), 1);
    assert_string_equal(zone_of(&org, 6), "a");
    org_done(&org);
}

static void of_services(struct pool_spec *spec)
{
    spec->accepts = 1u << TASK_SERVICE;
    spec->nodes_min = 3;
}

static void a_pool_of_services_spreads(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 3);
    org_pool(&org, of_services);
    assert_int_equal(asks(&org), 3);
    assert_int_equal(places_in(&org, org_pool_id, "a"), 1);
    assert_int_equal(places_in(&org, org_pool_id, "c"), 1);
    org_done(&org);
}

static void grows_each_minute(struct pool_spec *spec)
{
    spec->grow_period_ms = 60 * 1000;
}

static void a_pool_with_a_period_grows_once_in_it(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 0);
    org_pool(&org, grows_each_minute);
    (void)work(&org, 1);
    assert_int_equal(asks(&org), 1); /* from nothing at once */
    org.rig.now_ms += 1000;
    (void)work(&org, 1);
    assert_int_equal(asks(&org), 0);
    assert_int_equal(pool_of(&org, org_pool_id)->wake_ms, org.rig.now_ms + 59 * 1000);
    org.rig.now_ms += 59 * 1000;
    assert_int_equal(asks(&org), 1);
    org_done(&org);
}

static enum verdict life(struct org *org, enum input_type type, pool_id id)
{
    struct input in = {.type = type, .pool = {.pool = id, .force = true}};
    return rig_do(&org->rig, in);
}

/* A restored pool asks for its nodes in a zone of its flavor, and behind the pools that wait for the flavor. */
static void a_restored_pool_stands_in_line(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 1);
    const pool_id blue = blue_pool(&org);
    (void)work_in_blue(&org, 1);
    assert_int_equal(asks_of(&org, blue), 1);
    assert_int_equal(life(&org, INPUT_POOL_DELETE, blue), VERDICT_OK);
    assert_int_equal(life(&org, INPUT_POOL_RESTORE, blue), VERDICT_OK);
    assert_int_equal(rig_count(&org.rig, FACT_LAUNCH_ASKED), 1);
    assert_string_equal(zone_of(&org, 2), "a");
    (void)work(&org, 1);
    assert_int_equal(asks(&org), 1);
    assert_int_equal(life(&org, INPUT_POOL_DELETE, blue), VERDICT_OK);
    refused(&org, 3);
    assert_int_equal(asks(&org), 0);
    assert_int_equal(life(&org, INPUT_POOL_RESTORE, blue), VERDICT_OK);
    assert_int_equal(rig_count(&org.rig, FACT_LAUNCH_ASKED), 0);
    uint32_t of;
    assert_int_equal(soldout_place(org.rig.core, pool_of(&org, blue), &of), 2);
    org_done(&org);
}

static enum verdict ec2_pool(struct org *org, const char *name, const char *region,
                             const char *const *subnets, uint32_t subnet_count)
{
    struct pool_spec spec;
    object_init(&pool_object, &spec);
    spec.name = name;
    spec.provider = POOL_EC2;
    spec.nodes_max = 1;
    spec.flavor = "cloud";
    spec.ec2_region = region;
    spec.ec2_subnets = subnets;
    spec.ec2_subnet_count = subnet_count;
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    return rig_do(&org->rig, in);
}

/* The memory of sold-out zones belongs to the flavor, so all its EC2 pools are in one region. */
static void an_ec2_flavor_is_of_one_region(void **state)
{
    (void)state;
    struct org org;
    begin(&org, 0);
    struct flavor_spec spec = two_slots("cloud", 0);
    spec.provider = POOL_EC2;
    assert_int_equal(flavor_set(&org, (flavor_id){0}, &spec), VERDICT_OK);
    assert_int_equal(ec2_pool(&org, "one", "eu-west-1", NULL, 0), VERDICT_OK);
    assert_int_equal(ec2_pool(&org, "two", "eu-west-1", NULL, 0), VERDICT_OK);
    assert_int_equal(ec2_pool(&org, "three", "us-east-1", NULL, 0), VERDICT_REFUSED);
    assert_int_equal(org.rig.facts.refusal.code, REASON_FLAVOR_REGION);
    org_done(&org);
}

static void each_zone_of_a_flavor_has_its_subnet(void **state)
{
    (void)state;
    static const char *const plain[] = {"subnet-1"};
    static const char *const one[] = {"a=subnet-1"};
    static const char *const both[] = {"b=subnet-2", "a=subnet-1"};
    struct org org;
    begin(&org, 0);
    struct flavor_spec spec = two_slots("cloud", 2);
    spec.provider = POOL_EC2;
    assert_int_equal(flavor_set(&org, (flavor_id){0}, &spec), VERDICT_OK);
    assert_int_equal(ec2_pool(&org, "one", "eu-west-1", plain, 1), VERDICT_REFUSED);
    assert_int_equal(org.rig.facts.refusal.code, REASON_FLAVOR_SUBNETS);
    assert_int_equal(ec2_pool(&org, "one", "eu-west-1", one, 1), VERDICT_REFUSED);
    assert_int_equal(ec2_pool(&org, "one", "eu-west-1", both, 2), VERDICT_OK);
    spec = two_slots("cloud", 3);
    spec.provider = POOL_EC2;
    const flavor_id id = flavor_named(&org, "cloud")->id;
    assert_int_equal(flavor_set(&org, id, &spec), VERDICT_CONFLICT);
    assert_int_equal(org.rig.facts.refusal.code, REASON_FLAVOR_SUBNETS);
    org_done(&org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_has_the_amounts_of_its_flavor),
        cmocka_unit_test(what_a_node_is_stays_while_there_are_nodes),
        cmocka_unit_test(bad_flavors_are_refused),
        cmocka_unit_test(another_zone_is_tried_at_once),
        cmocka_unit_test(a_sold_out_flavor_is_asked_again_by_one_launch),
        cmocka_unit_test(the_memory_fades),
        cmocka_unit_test(a_late_refusal_does_not_hide_that_capacity_is_back),
        cmocka_unit_test(other_errors_make_the_pool_back_off),
        cmocka_unit_test(the_pool_that_waits_longest_is_served_first),
        cmocka_unit_test(a_pool_that_cannot_ask_lets_the_next_pass),
        cmocka_unit_test(other_flavors_are_offered_the_cheapest_first),
        cmocka_unit_test(zones_have_their_numbers),
        cmocka_unit_test(each_zone_has_its_line),
        cmocka_unit_test(a_zone_with_locked_nodes_keeps_its_number),
        cmocka_unit_test(a_pool_of_services_spreads),
        cmocka_unit_test(a_pool_with_a_period_grows_once_in_it),
        cmocka_unit_test(a_restored_pool_stands_in_line),
        cmocka_unit_test(an_ec2_flavor_is_of_one_region),
        cmocka_unit_test(each_zone_of_a_flavor_has_its_subnet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
