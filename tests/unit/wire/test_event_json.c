/* test_event_json.c - the event of every type of fact, compared with samples/events.jsonl.
 *
 * WEIR_GOLDEN_WRITE=1 writes the file anew: do that only when events are meant to change.
 * SPDX-License-Identifier: Apache-2.0 */
#include "site.h"

#include "wire/event_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LINE_MAX_LEN = 4096, TASKS = 12 };

#define KEY                                                                                        \
    {                                                                                              \
        {12}, 3, 4                                                                                 \
    }

static const struct pool_spec pool_spec = {.name = "new"};
static const struct node_spec node_spec = {.name = "newer"};
static const struct flavor_spec flavor_spec = {.name = "v100"};
static const struct network_spec network_spec = {.name = "lab"};
static const struct account_spec account_spec = {.kind = ACCOUNT_PROJECT, .name = "vision"};
static const struct task_spec task_spec = {.kind = TASK_SHELL,
                                           .name = "t",
                                           .user = "u",
                                           .project = "default",
                                           .priority = 99,
                                           .instances = 10};
static const struct quota_row quota_row = {
    .term_count = 2,
    .terms = {
        {.resource = {RESOURCE_SLOTS}, .guaranteed = QUOTA_UNSET, .limit = 8000, .weight = 2000},
        {.resource = {RESOURCE_MEMORY}, .guaranteed = 1 << 30, .limit = QUOTA_UNLIMITED}}};
static const struct request request = {.slots_milli = 1500, .cpu_milli = -1, .memory_bytes = 5};
static const struct reservation reservations[] = {{{11}, 1700000000000, true}, {{12}, 0, false}};

/* Each type at least once. Pools 1 and 2, nodes 1 and 2, tasks 1 to 12 and the first two accounts are there. */
static const struct fact facts[] = {
    {.type = FACT_SERVER_STARTED, .server_started = {.epoch = 5, .server_uuid = {7}}},
    {.type = FACT_RESOURCE_DEFINED, .resource_defined = {.resource = {9}, .name = "foo"}},
    {.type = FACT_POOL_SET, .pool_set = {.pool = {3}, .spec = &pool_spec}},
    {.type = FACT_POOL_DELETED, .pool_deleted = {{2}}},
    {.type = FACT_NODE_SET, .node_set = {{3}, {2}, 8, &node_spec}},
    {.type = FACT_NODE_STATE, .node_state = {{2}, NODE_LOST}},
    {.type = FACT_NODE_STATE, .node_state = {{77}, NODE_REMOVED}},
    {.type = FACT_NODE_EDITED,
     .node_edited = {.node = {1}, .edit = {.fields = NODE_EDIT_DRAIN, .drain = true}}},
    {.type = FACT_TASK_SUBMITTED,
     .task_submitted = {{13}, {2}, {2}, .request = &request, .spec = &task_spec}},
    {.type = FACT_DEFAULTS_SET, .defaults_set = {{"gpus", "cpus"}}},
    {.type = FACT_LAUNCH_ASKED, .launch = {.launch = {7}, .pool = {2}, .zone = "a"}},
    {.type = FACT_LAUNCH_CHANGED,
     .launch = {{7}, {2}, LAUNCH_RUNNING, {2}, .name = "i-1", .words = "up"}},
    {.type = FACT_LAUNCH_ENDED,
     .launch = {{7}, {2}, .failed = true, .words = "no room", .why = PROVIDER_WHY_NO_CAPACITY}},
    {.type = FACT_SUBMIT_KEY, .submit_key = {.key = {1}, .first = {4}, .count = 5}},
    {.type = FACT_TASK_QUEUED, .task = {{12}}},
    {.type = FACT_TASK_PAUSED, .task = {{12}}},
    {.type = FACT_TASK_EDITED, .task_edited = {.task = {12}, .pool = {2}}},
    {.type = FACT_TASK_EDITED, .task_edited = {.task = {12}}},
    {.type = FACT_TASK_KILL_ASKED, .task = {{1234}}},
    {.type = FACT_PASS, .pass = {{2}, 1000, 10, true}},
    {.type = FACT_ALLOCATED, .allocated = {KEY, {2}, 8, 1ULL << 63 | 5, 500, 250, 1 << 20, 18012}},
    {.type = FACT_HEAD_BLOCKED, .head = {{2}, {12}}},
    {.type = FACT_HEAD_BLOCKED, .head = {{1}, {0}}},
    {.type = FACT_RESERVED, .reserved = {{2}, reservations, 2}},
    {.type = FACT_RESERVED, .reserved = {{2}, reservations, 0}},
    {.type = FACT_BUDGETS, .budgets = {{2}, {7000, -30, 9000, 0}, {-500, 10, 800, 0}}},
    {.type = FACT_CREDIT, .credit = {{2}, {{2}, 0, 8000, {-70, 3, 90, 0}}}},
    {.type = FACT_RELEASED, .released_holder = {{2}, {12}}},
    {.type = FACT_ATTEMPT_STARTED, .attempt_started = {KEY, 1699999999999, true}},
    {.type = FACT_ATTEMPT_STOPPING, .attempt_stopping = {KEY, END_PREEMPTED, 1700000030000}},
    {.type = FACT_ATTEMPT_ENDED,
     .attempt_ended = {.report = {REPORT_ENDED, KEY, 8, 1700000000001, -2, 10, 20, 30, 40, false,
                                  false, true},
                       .cause = END_SPAWN,
                       .again = true}},
    {.type = FACT_TASK_ENDED, .task_ended = {{12}, TASK_FAILED, END_EXIT, -1, 3}},
    {.type = FACT_TASK_ARCHIVED, .task = {{12}}},
    {.type = FACT_SUBMIT_KEYS_EXPIRED, .keys_expired = {55}},
    {.type = FACT_ACCOUNT_SET, .account_set = {{7}, {1}, &account_spec}},
    {.type = FACT_ACCOUNT_DELETED, .account_deleted = {{1}}},
    {.type = FACT_ACCOUNT_DELETED, .account_deleted = {{99}}},
    {.type = FACT_QUOTA_SET, .quota_set = {{2}, {2}, &quota_row}},
    {.type = FACT_CLAIMED, .allocated = {KEY, {1}, 1, 0, 1500, 0, 0, 0}},
    {.type = FACT_CLAIM_DROPPED, .claim_dropped = {{12}, 3}},
    {.type = FACT_EVICTED,
     .evicted = {KEY,
                 5000,
                 {EVICT_GUARANTEE, {11}, {1}, {{1}, 8000, 4000, 6000}, {{2}, 1000, -1, 2000}}}},
    {.type = FACT_POOL_WAKE, .pool_wake = {{2}, 1700000007000}},
    {.type = FACT_POOL_WAKE, .pool_wake = {{2}, 0}},
    {.type = FACT_TASK_MOVED, .task_moved = {.task = {12}, .other = {9}, .behind = true}},
    {.type = FACT_TASK_MOVED, .task_moved = {.task = {12}, .other = {9}}},
    {.type = FACT_DEPENDENTS_RELEASED, .released = {{12}, 1000}},
    {.type = FACT_HOLD_ENDED, .task = {{12}}},
    {.type = FACT_POOL_OPENED, .pool_opened = {{12}, {2}, FALLBACK_NO_CAPACITY}},
    {.type = FACT_HISTORY_TICKED, .history_ticked = {{2}}},
    {.type = FACT_ATTEMPT_CHECKPOINT, .attempt_checkpoint = {KEY, 1699999999998}},
    {.type = FACT_ATTEMPT_HEALTH,
     .attempt_health = {KEY, SERVICE_UNHEALTHY, "GET /healthz was answered with status 503"}},
    {.type = FACT_FLAVOR_SET, .flavor_set = {{5}, &flavor_spec}},
    {.type = FACT_FLAVOR_DELETED, .flavor_deleted = {{99}}},
    {.type = FACT_NETWORK_SET, .network_set = {{5}, &network_spec}},
    {.type = FACT_NETWORK_DELETED, .network_deleted = {{99}}},
    {.type = FACT_ROLLOUT,
     .rollout = {{12},
                 {{11},
                  {12},
                  2000,
                  600000,
                  0,
                  1699999999998,
                  0,
                  ROLLOUT_STOPPED,
                  ROLLOUT_NOT_READY,
                  0,
                  0}}},
    {.type = FACT_INSTANCES_HELD, .held = {{12}, 1, 2, true}},
    {.type = FACT_TASK_IDLE,
     .task_idle = {{12}, 1699999999998, 1700000000000, {1}, {2}, IDLE_ENDED}},
    {.type = FACT_FLAVOR_WAITS, .flavor_waits = {{2}, 3, 0}},
    {.type = FACT_POOL_STATE,
     .pool_state = {{2},
                    {POOL_PARTIALLY_EXECUTING, HEALTH_DEGRADED, WHY_LOST, 2, 3, 1},
                    .words = ""}},
    {.type = FACT_POOL_STATE,
     .pool_state = {{2},
                    {POOL_SUBMITTED, HEALTH_UNAVAILABLE, WHY_PROVIDER, 0, 1, 0},
                    .words = "no capacity"}},
    {.type = FACT_POOL_CLOSING, .pool_closing = {{2}, .kill = true}},
    {.type = FACT_POOL_PENDING_DELETE, .pool_pending = {{2}, 1700000000000, 3}},
    {.type = FACT_POOL_RESTORED, .pool_restored = {{2}}},
    {.type = FACT_NODE_MOVED, .node_moved = {{1}, {2}}},
    {.type = FACT_NODE_LEAVING,
     .node_leaving = {{2}, LEAVE_SCALED, BUSY_REQUEUE, 1700000000000, "the pool was made smaller"}},
    {.type = FACT_NODE_LOCKED, .node_locked = {{2}, true}},
    {.type = FACT_NODE_SPARE, .node_spare = {{2}, true, "it is kept"}},
    {.type = FACT_POOL_REPLACING,
     .replacing = {{2}, {.at_once = 2, .total = 5, .begun = 3, .since_ms = 1}, "no capacity"}},
    {.type = FACT_NODE_FORGOTTEN, .node_forgotten = {{77}, "burst-9"}},
};
enum { FACTS = sizeof facts / sizeof facts[0] };

static FILE *golden_open(const char *mode)
{
    char path[512];
    const char *dir = getenv("WEIR_SAMPLES");
    assert_non_null(dir);
    assert_true(snprintf(path, sizeof path, "%s/events.jsonl", dir) < (int)sizeof path);
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    return file;
}

static void site_fill(struct site *site)
{
    static const struct node_spec node = {
        .name = "n2", .pool = "second", .boot_id = "b", .address = "a", .version = "v"};
    struct pool_spec pool;
    site_init(site);
    query_pool_spec(site->core, (pool_id){1}, &site->arena, &pool);
    pool.name = "second";
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &pool}};
    assert_int_equal(site_step(site, in), VERDICT_OK);
    in = (struct input){.type = INPUT_NODE_JOIN, .actor = "node:n2", .node = {.spec = &node}};
    assert_int_equal(site_step(site, in), VERDICT_OK);
    for (unsigned i = 0; i < TASKS; i++) {
        (void)site_submit(site, 0);
    }
    assert_int_equal(query_task_last(site->core).v, TASKS);
}

static void every_type_of_fact_has_a_sample(void **state)
{
    (void)state;
    bool seen[FACT_TYPE_MAX + 1] = {false};
    for (unsigned i = 0; i < FACTS; i++) {
        seen[facts[i].type] = true;
    }
    for (unsigned type = 0; type <= FACT_TYPE_MAX; type++) {
        assert_int_equal(seen[type], fact_type_known(type));
    }
}

static void events_are_as_they_were(void **state)
{
    (void)state;
    const bool write = getenv("WEIR_GOLDEN_WRITE") != NULL;
    FILE *golden = golden_open(write ? "w" : "r");
    struct site site;
    site_fill(&site);
    for (unsigned i = 0; i < FACTS; i++) {
        struct fact fact = facts[i];
        fact.time_ms = 1700000000000;
        fact.actor = "user:x";
        fact.cause = "r-1";
        buf_clear(&site.out);
        json_out_init(&site.j, &site.out);
        event_json(&site.j, site.core, i + 1, &fact);
        char line[LINE_MAX_LEN] = "";
        if (write) {
            assert_true(fprintf(golden, "%s\n", buf_text(&site.out)) > 0);
        } else {
            assert_non_null(fgets(line, sizeof line, golden));
            line[strcspn(line, "\n")] = '\0';
            assert_string_equal(buf_text(&site.out), line);
        }
    }
    assert_true(write || fgetc(golden) == EOF);
    assert_int_equal(fclose(golden), 0);
    site_done(&site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_of_fact_has_a_sample),
        cmocka_unit_test(events_are_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
