/* test_codec.c - facts and the state as bytes: there and back, cut off, and damaged.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/spec_codec.h"
#include "core_rig.h"
#include "damage_map.h"

#include "base/mem.h"
#include "core/model/codec.h"
#include "core/model/object.h"
#include "core/state/fact_internal.h"
#include "core/state/ports.h"
#include "core/state/state_codec.h"

#include <stdio.h>
#include <stdlib.h>

/* The version follows the type; in a state, the magic text with its length. */
enum { BYTES_MAX = 1 << 20, VERSION_AT = 1, STATE_VERSION_AT = sizeof "weir state" };

static const struct named_amount amounts[] = {{"foo", 1500}, {"bar", 0}};
static const struct label labels[] = {{"zone", "a"}, {"gpu.model", ""}};
static const char *const texts[] = {"sh", "-c", "", "exit 7 # \xc3\xa4"};
static const uint64_t depends[] = {1, 3};

static const struct pool_spec pool_spec = {.name = "p",
                                           .title = "T",
                                           .description = "d",
                                           .patience_ms = 5000,
                                           .accepts = 3,
                                           .paused = true,
                                           .aux_tasks = 9,
                                           .policy = POLICY_ROUND_ROBIN,
                                           .placement = PLACEMENT_SPREAD,
                                           .victims = VICTIMS_YOUNGEST,
                                           .preemption_off = true,
                                           .consolidation_max = 7,
                                           .stale_grace_ms = STALE_GRACE_NEVER,
                                           .preempt_min_runtime_ms = 8,
                                           .reclaim_min_runtime_ms = 9,
                                           .preemption_delay_ms = 10,
                                           .user_slots_max = 4000,
                                           .uneven_off = true,
                                           .history_half_life_ms = 11,
                                           .history_window_ms = 12,
                                           .history_factor = 13,
                                           .node_idle_ms = NODE_IDLE_MS_DEFAULT,
                                           .max_starting_ms = MAX_STARTING_MS_DEFAULT,
                                           .node_slots = 1};
static const char *const zones[] = {"a", "b"};
static const struct flavor_spec flavor_spec = {.name = "v100",
                                               .description = "d",
                                               .provider = POOL_LOCAL,
                                               .native = "p3.16xlarge",
                                               .slots = 8,
                                               .gpus = 8,
                                               .cpu_milli = 64000,
                                               .memory_bytes = (int64_t)488 << 30,
                                               .zones = zones,
                                               .zone_count = 2,
                                               .price_milli = 24480,
                                               .currency = "USD",
                                               .spot = true};
static const char *const network_guests[] = {"project/vision"};
static const struct network_spec network_spec = {.name = "lab",
                                                 .description = "d",
                                                 .range = "10.77.0.0/24",
                                                 .outbound = true,
                                                 .guests = network_guests,
                                                 .guest_count = 1};
static const struct account_spec account_spec = {
    .kind = ACCOUNT_PROJECT, .name = "vision", .title = "V", .description = "d"};
static const struct quota_row quota_row = {
    .term_count = 3,
    .rules.rank = 200,
    .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
    .rules.reclaim_min_runtime_ms = 60000,
    .terms = {{.resource = {0}, .weight = 2000, .guaranteed = 5000, .limit = 20000},
              {.resource = {1}, .weight = 1000, .guaranteed = QUOTA_UNSET, .limit = 0},
              {.resource = {7}, .weight = 0, .guaranteed = QUOTA_UNLIMITED, .limit = 1}}};
static const struct node_spec node_spec = {.name = "n",
                                           .pool = "p",
                                           .labels = labels,
                                           .label_count = 2,
                                           .slots_milli = 2000,
                                           .cpu_milli = 8000,
                                           .memory_bytes = 1 << 30,
                                           .gpu_memory_bytes = 77,
                                           .device_count = 2,
                                           .resources = amounts,
                                           .resource_count = 2,
                                           .supervisor = {1, 2, 3},
                                           .boot_id = "b",
                                           .address = "a",
                                           .version = "v"};
static const struct label node_labels[] = {{"gpu.model", "A100"}, {"zone", ""}};
static const struct task_spec task_spec = {.kind = TASK_SHELL,
                                           .name = "t",
                                           .user = "u",
                                           .project = "default",
                                           .image = "i",
                                           .workdir = "/w",
                                           .argv = texts,
                                           .argv_count = 4,
                                           .env = texts,
                                           .env_count = 2,
                                           .tags = texts,
                                           .tag_count = 1,
                                           .pools = texts,
                                           .pool_count = 1,
                                           .depends_on = depends,
                                           .depends_count = 2,
                                           .slots_milli = ASK_NOTHING,
                                           .cpu_milli = 100,
                                           .memory_bytes = ASK_NOTHING,
                                           .gpu_memory_bytes = 5,
                                           .device_mask = 6,
                                           .needs_gpu = true,
                                           .resources = amounts,
                                           .resource_count = 2,
                                           .avoid = texts,
                                           .avoid_count = 2,
                                           .gpu_devices = 3,
                                           .node_labels = node_labels,
                                           .node_label_count = 2,
                                           .instances = 10,
                                           .array_first = 4,
                                           .gang = true,
                                           .repeatable = true,
                                           .stage = true,
                                           .priority = 99,
                                           .max_retries = 3,
                                           .max_losses = LOSSES_DEFAULT,
                                           .restart_delay_ms = RESTART_DELAY_MS_DEFAULT,
                                           .health_every_ms = HEALTH_EVERY_MS_DEFAULT,
                                           .health_timeout_ms = HEALTH_TIMEOUT_MS_DEFAULT,
                                           .health_failures = HEALTH_FAILURES_DEFAULT,
                                           .health_grace_ms = HEALTH_GRACE_MS_DEFAULT,
                                           .time_limit_ms = 1,
                                           .grace_ms = 2,
                                           .stale_grace_ms = STALE_GRACE_POOL,
                                           .preemption_delay_ms = PREEMPTION_DELAY_POOL};
static const struct request request = {.slots_milli = 2000,
                                       .cpu_milli = -1,
                                       .memory_bytes = 5,
                                       .gpu_memory_bytes = 6,
                                       .device_mask = 3,
                                       .needs_gpu = 1,
                                       .named_count = 2,
                                       .named = {{{3}, 1000}, {{200}, 1}},
                                       .wide = 1,
                                       .avoid_count = 2,
                                       .avoid = {{4}, {9}},
                                       .share_devices = 64,
                                       .label_count = 2,
                                       .labels = {{1, 2}, {1, UINT64_MAX}}};

static const struct attempt_key key = {{123456789012}, 77, 3};

static void fill_server_started(struct fact *fact)
{
    fact->server_started.epoch = 5;
    memset(fact->server_started.server_uuid, 7, 16);
}

static void fill_resource_defined(struct fact *fact)
{
    fact->resource_defined.resource.v = 9;
    fact->resource_defined.name = "foo";
}

static void fill_pool_set(struct fact *fact)
{
    fact->pool_set.pool.v = 2;
    fact->pool_set.spec = &pool_spec;
}

static void fill_pool_deleted(struct fact *fact)
{
    fact->pool_deleted.pool.v = 2;
}

static void fill_pool_state(struct fact *fact)
{
    fact->pool_state.pool.v = 2;
    fact->pool_state.now = (struct pool_standing){.state = POOL_PARTIALLY_EXECUTING,
                                                  .health = HEALTH_DEGRADED,
                                                  .why = WHY_PROVIDER,
                                                  .nodes = 2,
                                                  .wanted = 5,
                                                  .lost = 1};
    fact->pool_state.words = "no capacity";
}

static void fill_pool_closing(struct fact *fact)
{
    fact->pool_closing.pool.v = 2;
    fact->pool_closing.kill = true;
}

static void fill_pool_pending(struct fact *fact)
{
    fact->pool_pending.pool.v = 2;
    fact->pool_pending.until_ms = 1700000000000;
    fact->pool_pending.nodes = 3;
}

static void fill_pool_restored(struct fact *fact)
{
    fact->pool_restored.pool.v = 2;
}

static void fill_node_set(struct fact *fact)
{
    fact->node_set.node.v = 3;
    fact->node_set.pool.v = 2;
    fact->node_set.incarnation = 8;
    fact->node_set.spec = &node_spec;
}

static void fill_node_state(struct fact *fact)
{
    fact->node_state.node.v = 3;
    fact->node_state.state = NODE_LOST;
}

static void fill_node_edited(struct fact *fact)
{
    fact->node_edited.node.v = 3;
    fact->node_edited.edit = (struct node_edit){.fields = NODE_EDIT_DRAIN | NODE_EDIT_LABELS,
                                                .drain = true,
                                                .labels = labels,
                                                .label_count = 2};
}

static void fill_task_submitted(struct fact *fact)
{
    fact->task_submitted.task.v = 11;
    fact->task_submitted.pool.v = 2;
    fact->task_submitted.account.v = 5;
    fact->task_submitted.request = &request;
    fact->task_submitted.spec = &task_spec;
}

static void fill_submit_key(struct fact *fact)
{
    memset(fact->submit_key.key, 1, 16);
    memset(fact->submit_key.body_hash, 2, 16);
    fact->submit_key.first.v = 4;
    fact->submit_key.count = 5;
}

static void fill_task_queued(struct fact *fact)
{
    fact->task.task.v = 1ULL << 40;
}

static void fill_task_edited(struct fact *fact)
{
    fact->task_edited.task.v = 6;
    fact->task_edited.pool.v = 2;
    fact->task_edited.account.v = 4;
    fact->task_edited.request = &request;
    static const char *const pool[] = {"p"};
    static struct task_spec spec;
    spec = task_spec;
    spec.priority = 10;
    spec.max_retries = 2;
    spec.time_limit_ms = 3;
    spec.grace_ms = 4;
    spec.name = "new";
    spec.tags = texts;
    spec.tag_count = 2;
    spec.pools = pool;
    spec.pool_count = 1;
    spec.project = "q";
    spec.avoid = texts;
    spec.avoid_count = 1;
    spec.node_labels = labels;
    spec.node_label_count = 1;
    spec.fallback_after_ms = 300000;
    spec.fallback_on = FALLBACK_ON_LOST;
    spec.topology = (struct topology_spec){"zone", "rack"};
    fact->task_edited.edit =
        (struct task_edit){.fields = object_edit_bits(&task_object), .spec = &spec};
}

static void fill_task_moved(struct fact *fact)
{
    static const struct task_rank ranks[] = {{{12}, 5}, {{9}, 7 - RANK_FRONT}};
    fact->task_moved.task.v = 12;
    fact->task_moved.other.v = 9;
    fact->task_moved.behind = true;
    fact->task_moved.ranks = ranks;
    fact->task_moved.rank_count = 2;
}

static void fill_released(struct fact *fact)
{
    fact->released.task.v = 12;
    fact->released.count = 1000;
}

static void fill_pass(struct fact *fact)
{
    fact->pass.pool.v = 2;
    fact->pass.work = 1000;
    fact->pass.placed = 10;
    fact->pass.complete = true;
}

static void fill_claim_dropped(struct fact *fact)
{
    fact->claim_dropped.task.v = 12;
    fact->claim_dropped.index = 3;
}

static void fill_defaults_set(struct fact *fact)
{
    fact->defaults_set.pools[POOL_DEFAULT_GPU] = "v100";
    fact->defaults_set.pools[POOL_DEFAULT_CPU] = "cpu";
}

static void fill_launch(struct fact *fact)
{
    fact->launch.launch.v = 70;
    fact->launch.pool.v = 2;
    fact->launch.state = LAUNCH_RUNNING;
    fact->launch.node.v = 9;
    fact->launch.failed = true;
    fact->launch.name = "i-0abc";
    fact->launch.words = "InsufficientInstanceCapacity";
    fact->launch.zone = "a";
    fact->launch.why = PROVIDER_WHY_NO_CAPACITY;
}

static void fill_flavor_set(struct fact *fact)
{
    fact->flavor_set.flavor.v = 5;
    fact->flavor_set.spec = &flavor_spec;
}

static void fill_flavor_deleted(struct fact *fact)
{
    fact->flavor_deleted.flavor.v = 5;
}

static void fill_rollout(struct fact *fact)
{
    fact->rollout.task.v = 13;
    fact->rollout.row = (struct rollout){.from = {12},
                                         .to = {13},
                                         .drain_ms = 2000,
                                         .within_ms = 600000,
                                         .until_ms = 1700000002000,
                                         .since_ms = 1700000000000,
                                         .draining = 2,
                                         .phase = ROLLOUT_GOING,
                                         .old_first = true};
}

static void fill_instances_held(struct fact *fact)
{
    fact->held.task.v = 13;
    fact->held.first = 1;
    fact->held.count = 2;
    fact->held.held = true;
}

static void fill_attempt_health(struct fact *fact)
{
    fact->attempt_health.key = key;
    fact->attempt_health.now = SERVICE_UNHEALTHY;
    fact->attempt_health.words = "GET /healthz was answered with status 503";
}

static void fill_network_set(struct fact *fact)
{
    fact->network_set.network.v = 5;
    fact->network_set.spec = &network_spec;
}

static void fill_network_deleted(struct fact *fact)
{
    fact->network_deleted.network.v = 5;
}

static void fill_flavor_waits(struct fact *fact)
{
    fact->flavor_waits.pool.v = 2;
    fact->flavor_waits.nodes = 7;
    fact->flavor_waits.zones = 5;
}

static void fill_history_ticked(struct fact *fact)
{
    fact->history_ticked.pool = (pool_id){2};
}

static void fill_pool_wake(struct fact *fact)
{
    fact->pool_wake.pool = (pool_id){2};
    fact->pool_wake.at_ms = 7000;
}

static void fill_evicted(struct fact *fact)
{
    fact->evicted.key = (struct attempt_key){{12}, 3, 4};
    fact->evicted.deadline_ms = 5000;
    fact->evicted.why = (struct eviction){.rule = EVICT_GUARANTEE,
                                          .claimant = {13},
                                          .resource = {RESOURCE_CPU},
                                          .victim = {{5}, 8000, 4000, 6000},
                                          .taker = {{6}, 1000, QUOTA_UNLIMITED, 2000}};
}

static void fill_claimed(struct fact *fact)
{
    fact->allocated.key = key;
    fact->allocated.node.v = 3;
    fact->allocated.incarnation = 8;
    fact->allocated.devices = 1ULL << 63;
    fact->allocated.slots_milli = 500;
    fact->allocated.cpu_milli = 250;
    fact->allocated.memory_bytes = 1 << 20;
}

static void fill_allocated(struct fact *fact)
{
    fill_claimed(fact);
    fact->allocated.master_port = PORTS_MASTER_LAST;
}

static void fill_head_blocked(struct fact *fact)
{
    fact->head.pool.v = 2;
    fact->head.task.v = 12;
}

static void fill_reserved(struct fact *fact)
{
    static const struct reservation list[] = {{{12}, 1700000000000, true}, {{15}, 0, false}};
    fact->reserved.pool.v = 2;
    fact->reserved.at = list;
    fact->reserved.count = 2;
}

static void fill_budgets(struct fact *fact)
{
    fact->budgets.pool.v = 2;
    fact->budgets.idle = (struct bucket){.level = 7000, .rate = -30, .most = 9000};
    fact->budgets.loss = (struct bucket){.level = -500, .rate = 10, .most = 800};
}

static void fill_credit(struct fact *fact)
{
    fact->credit.pool.v = 2;
    fact->credit.row = (struct credit){
        .account = {5}, .dim = 1, .share = 8000, .bucket = {.level = -70, .rate = 3, .most = 90}};
}

static void fill_released_holder(struct fact *fact)
{
    fact->released_holder.pool.v = 2;
    fact->released_holder.task.v = 12;
}

static void fill_attempt_started(struct fact *fact)
{
    fact->attempt_started.key = key;
    fact->attempt_started.at_ms = 1699999999999;
    fact->attempt_started.workdir_missed = true;
}

static void fill_attempt_checkpoint(struct fact *fact)
{
    fact->attempt_checkpoint.key = key;
    fact->attempt_checkpoint.at_ms = 1699999999998;
}

static void fill_attempt_stopping(struct fact *fact)
{
    fact->attempt_stopping.key = key;
    fact->attempt_stopping.cause = END_PREEMPTED;
    fact->attempt_stopping.deadline_ms = 1700000030000;
}

static void fill_attempt_ended(struct fact *fact)
{
    fact->attempt_ended.report = (struct report){
        REPORT_SPAWN_FAILED, key, 8, 1700000000001, 2, 10, 20, 30, 40, false, false, false};
    fact->attempt_ended.cause = END_SPAWN;
    fact->attempt_ended.again = true;
    fact->attempt_ended.hold_until_ms = 1700000005000;
    fact->attempt_ended.restarts = 4;
}

static void fill_task_ended(struct fact *fact)
{
    fact->task_ended.task.v = 12;
    fact->task_ended.state = TASK_FAILED;
    fact->task_ended.cause = END_EXIT;
    fact->task_ended.exit_code = -1;
    fact->task_ended.released = 3;
}

static void fill_submit_keys_expired(struct fact *fact)
{
    fact->keys_expired.before_ms = 55;
}

static void fill_account_set(struct fact *fact)
{
    fact->account_set.account.v = 7;
    fact->account_set.parent.v = 3;
    fact->account_set.spec = &account_spec;
}

static void fill_account_deleted(struct fact *fact)
{
    fact->account_deleted.account.v = 7;
}

static void fill_quota_set(struct fact *fact)
{
    fact->quota_set.account.v = 7;
    fact->quota_set.pool.v = 2;
    fact->quota_set.row = &quota_row;
}

static void fill_pool_opened(struct fact *fact)
{
    fact->pool_opened.task.v = 12;
    fact->pool_opened.pool.v = 2;
    fact->pool_opened.why = FALLBACK_LOST;
}

static void fill_node_moved(struct fact *fact)
{
    fact->node_moved.node.v = 7;
    fact->node_moved.pool.v = 2;
}

static void fill_node_leaving(struct fact *fact)
{
    fact->node_leaving.node.v = 9;
    fact->node_leaving.leave = LEAVE_SCALED;
    fact->node_leaving.busy = BUSY_REQUEUE;
    fact->node_leaving.by_ms = 1700000001000;
    fact->node_leaving.words = "the pool was made smaller";
}

static void fill_task_idle(struct fact *fact)
{
    fact->task_idle.task.v = 12;
    fact->task_idle.since_ms = 1700000000000;
    fact->task_idle.until_ms = 1700000360000;
    fact->task_idle.pool.v = 4;
    fact->task_idle.account.v = 3;
    fact->task_idle.step = IDLE_ENDED;
}

static void fill_node_spare(struct fact *fact)
{
    fact->node_spare.node.v = 2;
    fact->node_spare.spare = true;
    fact->node_spare.words = "it is kept for when another node is lost";
}

static void fill_node_locked(struct fact *fact)
{
    fact->node_locked.node.v = 9;
    fact->node_locked.locked = true;
}

static void fill_replacing(struct fact *fact)
{
    fact->replacing.pool.v = 2;
    fact->replacing.row = (struct replacement){.at_once = 2,
                                               .total = 5,
                                               .begun = 3,
                                               .busy = BUSY_REQUEUE,
                                               .upto = {70},
                                               .cursor = {68},
                                               .since_ms = 1700000000000};
    fact->replacing.words = "no capacity";
}

static void fill_node_forgotten(struct fact *fact)
{
    fact->node_forgotten.node.v = 9;
    fact->node_forgotten.name = "burst-9";
}

/* A fact of each type with every field set. */
static void fact_of(enum fact_type type, struct fact *fact)
{
    static void (*const fills[FACT_TYPE_MAX + 1])(struct fact *) = {
        [FACT_SERVER_STARTED] = fill_server_started,
        [FACT_RESOURCE_DEFINED] = fill_resource_defined,
        [FACT_POOL_SET] = fill_pool_set,
        [FACT_POOL_DELETED] = fill_pool_deleted,
        [FACT_POOL_STATE] = fill_pool_state,
        [FACT_POOL_CLOSING] = fill_pool_closing,
        [FACT_POOL_PENDING_DELETE] = fill_pool_pending,
        [FACT_POOL_RESTORED] = fill_pool_restored,
        [FACT_NODE_SET] = fill_node_set,
        [FACT_NODE_STATE] = fill_node_state,
        [FACT_NODE_EDITED] = fill_node_edited,
        [FACT_TASK_SUBMITTED] = fill_task_submitted,
        [FACT_SUBMIT_KEY] = fill_submit_key,
        [FACT_TASK_QUEUED] = fill_task_queued,
        [FACT_TASK_PAUSED] = fill_task_queued,
        [FACT_TASK_KILL_ASKED] = fill_task_queued,
        [FACT_TASK_ARCHIVED] = fill_task_queued,
        [FACT_TASK_EDITED] = fill_task_edited,
        [FACT_PASS] = fill_pass,
        [FACT_ALLOCATED] = fill_allocated,
        [FACT_HEAD_BLOCKED] = fill_head_blocked,
        [FACT_RESERVED] = fill_reserved,
        [FACT_BUDGETS] = fill_budgets,
        [FACT_CREDIT] = fill_credit,
        [FACT_RELEASED] = fill_released_holder,
        [FACT_ATTEMPT_STARTED] = fill_attempt_started,
        [FACT_ATTEMPT_STOPPING] = fill_attempt_stopping,
        [FACT_ATTEMPT_ENDED] = fill_attempt_ended,
        [FACT_TASK_ENDED] = fill_task_ended,
        [FACT_SUBMIT_KEYS_EXPIRED] = fill_submit_keys_expired,
        [FACT_ACCOUNT_SET] = fill_account_set,
        [FACT_ACCOUNT_DELETED] = fill_account_deleted,
        [FACT_QUOTA_SET] = fill_quota_set,
        [FACT_CLAIMED] = fill_claimed,
        [FACT_CLAIM_DROPPED] = fill_claim_dropped,
        [FACT_EVICTED] = fill_evicted,
        [FACT_POOL_WAKE] = fill_pool_wake,
        [FACT_HISTORY_TICKED] = fill_history_ticked,
        [FACT_ATTEMPT_CHECKPOINT] = fill_attempt_checkpoint,
        [FACT_DEFAULTS_SET] = fill_defaults_set,
        [FACT_LAUNCH_ASKED] = fill_launch,
        [FACT_LAUNCH_CHANGED] = fill_launch,
        [FACT_LAUNCH_ENDED] = fill_launch,
        [FACT_TASK_MOVED] = fill_task_moved,
        [FACT_DEPENDENTS_RELEASED] = fill_released,
        [FACT_HOLD_ENDED] = fill_task_queued,
        [FACT_POOL_OPENED] = fill_pool_opened,
        [FACT_FLAVOR_SET] = fill_flavor_set,
        [FACT_FLAVOR_DELETED] = fill_flavor_deleted,
        [FACT_NETWORK_SET] = fill_network_set,
        [FACT_ATTEMPT_HEALTH] = fill_attempt_health,
        [FACT_NETWORK_DELETED] = fill_network_deleted,
        [FACT_FLAVOR_WAITS] = fill_flavor_waits,
        [FACT_NODE_MOVED] = fill_node_moved,
        [FACT_NODE_LEAVING] = fill_node_leaving,
        [FACT_NODE_LOCKED] = fill_node_locked,
        [FACT_NODE_SPARE] = fill_node_spare,
        [FACT_TASK_IDLE] = fill_task_idle,
        [FACT_ROLLOUT] = fill_rollout,
        [FACT_INSTANCES_HELD] = fill_instances_held,
        [FACT_POOL_REPLACING] = fill_replacing,
        [FACT_NODE_FORGOTTEN] = fill_node_forgotten,
    };
    *fact = (struct fact){
        .type = type, .version = 1, .time_ms = 1700000000000, .actor = "user:x", .cause = "r-1"};
    assert_non_null(fills[type]);
    fills[type](fact);
}

static void encode(const struct fact *fact, struct buf *out)
{
    buf_init(out, BYTES_MAX);
    fact_encode(fact, out);
    assert_false(out->full);
}

/* The next type; FACT_TYPE_MAX + 1: there is none. Some numbers have no type. */
static unsigned type_after(unsigned type)
{
    do {
        type++;
    } while (type <= FACT_TYPE_MAX && !fact_type_known(type));
    return type;
}

static void every_fact_comes_back_byte_for_byte(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    for (unsigned type = type_after(0); type <= FACT_TYPE_MAX; type = type_after(type)) {
        struct fact fact;
        fact_of((enum fact_type)type, &fact);
        struct buf bytes;
        encode(&fact, &bytes);
        struct fact again;
        struct error e = {0};
        if (fact_decode((struct str){bytes.data, bytes.len}, &arena, &again, &e) != ERR_OK) {
            fail_msg("%s", e.text);
        }
        assert_string_equal(again.actor, "user:x");
        assert_string_equal(again.cause, "r-1");
        assert_int_equal(again.time_ms, fact.time_ms);
        struct buf second;
        encode(&again, &second);
        assert_int_equal(second.len, bytes.len);
        assert_memory_equal(second.data, bytes.data, bytes.len);
        buf_done(&second);
        buf_done(&bytes);
    }
    arena_done(&arena);
}

static void sixteen_bytes_are_read_or_none(void **state)
{
    (void)state;
    static const uint8_t bytes[17] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
    static const uint8_t nothing[16] = {0};
    uint8_t read[16];
    struct bytes_reader in = {.p = bytes, .left = 16};
    codec_get_16(&in, read);
    assert_false(in.bad);
    assert_int_equal(in.left, 0);
    assert_memory_equal(read, bytes, 16);
    in = (struct bytes_reader){.p = bytes, .left = 15};
    codec_get_16(&in, read);
    assert_true(in.bad);
    assert_memory_equal(read, nothing, 16);
}

static void a_submitted_task_keeps_every_field(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct fact fact;
    fact_of(FACT_TASK_SUBMITTED, &fact);
    struct buf bytes;
    encode(&fact, &bytes);
    struct fact again;
    assert_int_equal(fact_decode((struct str){bytes.data, bytes.len}, &arena, &again, NULL),
                     ERR_OK);
    const struct task_spec *spec = again.task_submitted.spec;
    assert_int_equal(spec->kind, TASK_SHELL);
    assert_string_equal(spec->argv[3], texts[3]);
    assert_int_equal(spec->argv_count, 4);
    assert_int_equal(spec->env_count, 2);
    assert_int_equal(spec->depends_on[1], 3);
    assert_true(spec->slots_milli == ASK_NOTHING);
    assert_string_equal(spec->resources[0].name, "foo");
    assert_true(spec->gang && spec->repeatable && spec->stage && !spec->preemptible);
    assert_memory_equal(again.task_submitted.request, &request, sizeof request);
    buf_done(&bytes);
    arena_done(&arena);
}

static void cut_off_facts_are_refused_at_each_byte(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    for (unsigned type = type_after(0); type <= FACT_TYPE_MAX; type = type_after(type)) {
        struct fact fact;
        fact_of((enum fact_type)type, &fact);
        struct buf bytes;
        encode(&fact, &bytes);
        for (size_t len = 0; len < bytes.len; len++) {
            char *cut = xmemdup(bytes.data, len); /* its own block, so that tools see overruns */
            struct fact again;
            struct error e;
            assert_int_equal(fact_decode((struct str){cut, len}, &arena, &again, &e), ERR_CORRUPT);
            free(cut);
        }
        buf_add_char(&bytes, 0);
        struct fact again;
        struct error e;
        assert_int_equal(fact_decode((struct str){bytes.data, bytes.len}, &arena, &again, &e),
                         ERR_CORRUPT);
        buf_done(&bytes);
        arena_clear(&arena);
    }
    arena_done(&arena);
}

static void damaged_facts_are_read_or_refused_never_worse(void **state)
{
    (void)state;
    struct arena arena;
    struct buf map; /* of each fact how many of the 256 values of each byte are read */
    arena_init(&arena);
    buf_init(&map, BYTES_MAX);
    for (unsigned type = type_after(0); type <= FACT_TYPE_MAX; type = type_after(type)) {
        struct fact fact;
        fact_of((enum fact_type)type, &fact);
        struct buf bytes;
        unsigned read = 0;
        encode(&fact, &bytes);
        buf_add(&map, fact_type_name((enum fact_type)type),
                strlen(fact_type_name((enum fact_type)type)));
        for (size_t at = 0; at < bytes.len * 256; at++) {
            char before = bytes.data[at / 256];
            bytes.data[at / 256] = (char)at;
            struct fact again;
            struct error e;
            struct buf second;
            if (fact_decode((struct str){bytes.data, bytes.len}, &arena, &again, &e) == ERR_OK) {
                read++;
                encode(&again, &second); /* whatever is read is one coding of it */
                if (second.data[VERSION_AT] ==
                    bytes.data[VERSION_AT]) { /* else: an older version */
                    assert_int_equal(second.len, bytes.len);
                    assert_memory_equal(second.data, bytes.data, bytes.len);
                }
                buf_done(&second);
            }
            bytes.data[at / 256] = before;
            arena_clear(&arena);
            if (at % 256 == 255) {
                char number[8];
                (void)snprintf(number, sizeof number, " %u", read);
                buf_add(&map, number, strlen(number));
                read = 0;
            }
        }
        buf_add_char(&map, '\n');
        buf_done(&bytes);
    }
    damage_map_check("facts", &map);
    buf_done(&map);
    arena_done(&arena);
}

static void unknown_versions_are_named(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct fact fact;
    struct error e = {0};
    assert_int_equal(fact_decode((struct str){"\x03\x04\x00", 3}, &arena, &fact, &e), ERR_CORRUPT);
    assert_non_null(strstr(e.text, "pool-set"));
    assert_non_null(strstr(e.text, "version 4"));
    arena_done(&arena);
}

/* ---- versions ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    }
    return hash;
}

/* What decides the bytes of a table: types, versions and order of its fields, and of its parts. */
static uint64_t shape(uint64_t hash, const struct record_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct record_field *field = &table->fields[i];
        hash = mix(hash, &field->type, sizeof field->type);
        hash = mix(hash, &field->since, sizeof field->since);
        hash = field->part != NULL ? shape(hash, field->part) : hash;
    }
    return hash;
}

/* samples/formats.txt has a line for every coding that was ever written: kind, name, version, digest.
 * Lines are added and never changed. */
static void coding_known(FILE *file, const char *name, unsigned version, uint64_t digest)
{
    char line[256];
    char want[256];
    const int len = snprintf(want, sizeof want, "%s %u ", name, version);
    rewind(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, want, (size_t)len) == 0) {
            if (strtoull(line + len, NULL, 16) != digest) {
                fail_msg("the coding of %s has changed: give it a version above %u", name, version);
            }
            return;
        }
    }
    fail_msg("add to samples/formats.txt: %s%016llx", want, (unsigned long long)digest);
}

/* samples/facts.txt has the bytes of a fact of every type, as the program of each version writes them: name, version, hex. Lines
 * are added and never changed. WEIR_GOLDEN_WRITE=1 adds the lines that are missing. */
static void newest_sampled(FILE *file, const char *name, unsigned version, struct str bytes)
{
    static char line[3 * BYTES_MAX];
    char want[256];
    const int len = snprintf(want, sizeof want, "%s %u ", name, version);
    rewind(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, want, (size_t)len) == 0) {
            return;
        }
    }
    if (getenv("WEIR_GOLDEN_WRITE") == NULL) {
        fail_msg("samples/facts.txt has no line '%s…': WEIR_GOLDEN_WRITE=1 meson test -C build "
                 "core_codec writes it",
                 want);
    }
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    (void)fputs(want, file);
    for (size_t i = 0; i < bytes.len; i++) {
        (void)fprintf(file, "%02x", (unsigned char)bytes.p[i]);
    }
    (void)fputc('\n', file);
}

static void every_newest_coding_has_a_sample(void **state)
{
    (void)state;
    char path[512];
    assert_true(snprintf(path, sizeof path, "%s/facts.txt", getenv("WEIR_SAMPLES")) <
                (int)sizeof path);
    FILE *file = fopen(path, getenv("WEIR_GOLDEN_WRITE") != NULL ? "a+" : "r");
    assert_non_null(file);
    for (unsigned type = type_after(0); type <= FACT_TYPE_MAX; type = type_after(type)) {
        struct fact fact;
        struct buf bytes;
        fact_of((enum fact_type)type, &fact);
        encode(&fact, &bytes);
        newest_sampled(file, fact_type_name((enum fact_type)type), fact_bodies[type].newest,
                       (struct str){bytes.data, bytes.len});
        buf_done(&bytes);
    }
    assert_int_equal(fclose(file), 0);
}

static void a_change_of_coding_needs_a_new_version(void **state)
{
    (void)state;
    char path[512];
    assert_true(snprintf(path, sizeof path, "%s/formats.txt", getenv("WEIR_SAMPLES")) <
                (int)sizeof path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    uint64_t whole = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < STATE_SECTION_COUNT; i++) {
        whole = mix(whole, state_codec_sections[i]->name, strlen(state_codec_sections[i]->name));
        whole = shape(whole, &state_codec_sections[i]->fields);
    }
    whole = shape(shape(whole, &state_codec_head), &state_codec_numbers);
    coding_known(file, "state", STATE_VERSION, whole);
    for (unsigned type = type_after(0); type <= FACT_TYPE_MAX; type = type_after(type)) {
        struct fact fact;
        struct buf bytes;
        fact_of((enum fact_type)type, &fact);
        encode(&fact, &bytes);
        const uint64_t digest =
            shape(mix(0xcbf29ce484222325u, bytes.data, bytes.len), &fact_bodies[type].table);
        buf_done(&bytes);
        coding_known(file, fact_type_name((enum fact_type)type), fact_bodies[type].newest, digest);
    }
    assert_int_equal(fclose(file), 0);
}

static void what_a_newer_weir_wrote_is_called_so(void **state)
{
    (void)state;
    struct core *core;
    struct error e = {0};
    const char newer[] = "\x0aweir state\x7f";
    assert_int_equal(core_decode((struct str){newer, sizeof newer - 1}, &core, &e), ERR_CORRUPT);
    assert_non_null(strstr(e.text, "newer Weir (version 127 of the state"));
}

/* ---- what was written before ---- */

/* A file of tests/unit/core/samples, as older versions wrote it. The caller frees. */
static struct str sample(const char *name)
{
    char path[512];
    const char *dir = getenv("WEIR_SAMPLES");
    assert_non_null(dir);
    assert_true(snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = xmalloc(BYTES_MAX);
    size_t len = fread(bytes, 1, BYTES_MAX, file);
    assert_int_equal(fclose(file), 0);
    return (struct str){bytes, len};
}

static void a_pool_of_version_1_has_the_defaults(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct str bytes = sample("fact-pool-set-v1");
    struct fact fact;
    struct error e = {0};
    assert_int_equal(fact_decode(bytes, &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.version, 1);
    const struct pool_spec *spec = fact.pool_set.spec;
    assert_int_equal(spec->policy, POLICY_FAIR_SHARE);
    assert_false(spec->preemption_off);
    assert_int_equal(spec->stale_grace_ms, STALE_GRACE_MS_DEFAULT);
    assert_int_equal(spec->consolidation_max, CONSOLIDATION_DEFAULT);
    struct buf newest;
    encode(&fact, &newest);
    assert_int_equal(fact_decode((struct str){newest.data, newest.len}, &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.version, 3);
    buf_done(&newest);
    arena_done(&arena);
    free((void *)(uintptr_t)bytes.p);
}

/* A launch of version 1 has no zone, and its end does not say why. */
static void launches_of_version_1_are_read(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct str asked = sample("fact-launch-asked-v1");
    struct str ended = sample("fact-launch-ended-v1");
    struct fact fact;
    struct error e = {0};
    assert_int_equal(fact_decode(asked, &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.version, 1);
    assert_int_equal(fact.launch.launch.v, 70);
    assert_true(fact.launch.zone == NULL || fact.launch.zone[0] == '\0');
    assert_int_equal(fact_decode(ended, &arena, &fact, &e), ERR_OK);
    assert_string_equal(fact.launch.words, "no room");
    assert_int_equal(fact.launch.why, PROVIDER_WHY_OTHER);
    arena_done(&arena);
    free((void *)(uintptr_t)asked.p);
    free((void *)(uintptr_t)ended.p);
}

/* A pool of version 1 waited in all zones of its flavor. */
static void a_wait_of_version_1_is_for_all_zones(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct str bytes = sample("fact-flavor-waits-v1");
    struct fact fact;
    struct error e = {0};
    assert_int_equal(fact_decode(bytes, &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.flavor_waits.nodes, 7);
    assert_int_equal(fact.flavor_waits.zones, FLAVOR_ZONES_ALL);
    arena_done(&arena);
    free((void *)(uintptr_t)bytes.p);
}

/* An allocation of version 1 held no port. */
static void an_allocation_of_version_1_has_no_port(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct str bytes = sample("fact-allocated-v1");
    struct fact fact;
    struct error e = {0};
    assert_int_equal(fact_decode(bytes, &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.version, 1);
    assert_int_equal(fact.allocated.key.task.v, 12);
    assert_int_equal(fact.allocated.slots_milli, 500);
    assert_int_equal(fact.allocated.master_port, 0);
    arena_done(&arena);
    free((void *)(uintptr_t)bytes.p);
}

static void a_task_of_version_1_is_in_the_project_default(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct str bytes = sample("fact-task-submitted-v1");
    struct fact fact;
    struct error e = {0};
    assert_int_equal(fact_decode(bytes, &arena, &fact, &e), ERR_OK);
    assert_int_equal(fact.task_submitted.account.v, ACCOUNT_DEFAULT_PROJECT.v);
    assert_string_equal(fact.task_submitted.spec->project, "default");
    arena_done(&arena);
    free((void *)(uintptr_t)bytes.p);
}

static void a_state_of_version_1_is_read(void **state)
{
    (void)state;
    struct str bytes = sample("state-v1");
    struct core *core = NULL;
    struct error e = {0};
    if (core_decode(bytes, &core, &e) != ERR_OK) {
        fail_msg("%s", e.text);
    }
    core_check(core);
    assert_true(query_task_next(core, (task_id){0}) != NULL);
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        assert_int_equal(task->account.v, ACCOUNT_DEFAULT_PROJECT.v);
    }
    struct usage usage;
    query_usage(core, ACCOUNT_DEFAULT_PROJECT, query_pool_named(core, "default")->id, &usage);
    assert_true(usage.running_count > 0);
    struct core *again = NULL;
    size_t len;
    char *newest = rig_bytes(core, &len);
    assert_int_equal(core_decode((struct str){newest, len}, &again, &e), ERR_OK);
    assert_same_state(core, again);
    core_free(again);
    core_free(core);
    free(newest);
    free((void *)(uintptr_t)bytes.p);
}

/* The largest number of devices beside the mark that they are GPUs: both stand in one number of the bytes. */
static void all_devices_of_a_node_are_read_as_gpus(void **state)
{
    (void)state;
    struct arena arena;
    struct buf bytes;
    struct bytes_reader in;
    struct task_spec read;
    struct task_spec spec = rig_spec();
    spec.needs_gpu = true;
    spec.gpu_devices = NODE_DEVICES_MAX;
    arena_init(&arena);
    buf_init(&bytes, TASK_SPEC_BYTES_MAX);
    spec_codec_task_encode(&spec, &bytes);
    bytes_reader_init(&in, bytes.data, bytes.len);
    spec_codec_task_decode(&in, &arena, &read);
    assert_true(bytes_reader_ok(&in));
    assert_true(read.needs_gpu);
    assert_int_equal(read.gpu_devices, NODE_DEVICES_MAX);
    buf_done(&bytes);
    arena_done(&arena);
}

/* ---- the state ---- */

/* A department with a project and quotas; a project below a younger department. */
static void rig_accounts(struct rig *rig)
{
    static const struct account_spec specs[] = {
        {.kind = ACCOUNT_PROJECT, .name = "vision", .parent = "", .title = "Vision"},
        {.kind = ACCOUNT_DEPARTMENT, .name = "ml", .parent = "", .description = "all of it"},
        {.kind = ACCOUNT_PROJECT, .name = "vision", .parent = "ml", .title = "Vision"},
    };
    struct quota_amount of[] = {{"slots", 2000, 3000, 500},
                                {"memory", QUOTA_UNSET, 1 << 20, QUOTA_WEIGHT_DEFAULT}};
    for (unsigned i = 0; i < 3; i++) {
        const struct account *known = query_account_named(rig->core, specs[i].kind, specs[i].name);
        struct input in = {.type = INPUT_ACCOUNT_SET};
        in.account.account = known != NULL ? known->id : (account_id){0};
        in.account.spec = &specs[i];
        assert_int_equal(rig_do(rig, in), VERDICT_OK);
    }
    struct quota_spec spec = {.amounts = of, .amount_count = 2, .rules.rank = 300};
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = query_account_named(rig->core, ACCOUNT_PROJECT, "vision")->id;
    in.quota.pool.v = 1;
    in.quota.spec = &spec;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

/* The pool's shares look back. */
static void rig_look_back(struct rig *rig)
{
    struct pool_spec spec;
    query_pool_spec(rig->core, (pool_id){1}, &rig->kept, &spec);
    spec.history_half_life_ms = 1000000;
    struct input in = {.type = INPUT_POOL_EDIT, .pool = {.spec = &spec, .pool = {1}}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

/* Three nodes asked for: one answered and joined, one to end, one fresh. */
static void rig_launches(struct rig *rig)
{
    struct input ask = {.type = INPUT_LAUNCH_ASK, .launch = {.pool = {1}, .count = 3}};
    struct input stop = {.type = INPUT_LAUNCH_STOP, .launch = {.launch = {2}}};
    const struct provider_answer up = {
        .launch = {1}, .says = PROVIDER_RUNNING, .name = "i-1", .node = "n1", .words = "ok"};
    struct input said = {.type = INPUT_PROVIDER, .provider = {.answers = &up, .count = 1}};
    assert_int_equal(rig_do(rig, ask), VERDICT_OK);
    assert_int_equal(rig_do(rig, stop), VERDICT_OK);
    assert_int_equal(rig_do(rig, said), VERDICT_OK);
}

static enum verdict rig_flavor(struct rig *rig)
{
    struct input in = {.type = INPUT_FLAVOR_SET, .flavor = {.spec = &flavor_spec}};
    return rig_do(rig, in);
}

static enum verdict rig_network(struct rig *rig)
{
    struct input in = {.type = INPUT_NETWORK_SET, .network = {.spec = &network_spec}};
    return rig_do(rig, in);
}

/* A state with something in every section and in every state of an instance. */
static void rich_state(struct rig *rig)
{
    rig_init(rig);
    rig_accounts(rig);
    rig_look_back(rig);
    assert_int_equal(rig_flavor(rig), VERDICT_OK);
    assert_int_equal(rig_network(rig), VERDICT_OK);
    rig_node(rig, "n1", 4, 9000, 1);
    rig_launches(rig);
    node_id gone = rig_node(rig, "n2", 1, 0, 1);
    rig_on_node(rig, INPUT_NODE_REMOVE, gone);
    struct named_amount foo = {"foo", 5000};
    struct task_spec spec = rig_spec();
    spec.instances = 3;
    spec.time_limit_ms = 100000;
    spec.max_retries = 2;
    task_id a = rig_submit(rig, spec);
    rig_pass(rig);
    rig_run(rig, a, 0, 1);
    rig_report(rig, a, 1, REPORT_STARTED, 0);
    rig_run(rig, a, 2, 0);
    task_id failed = rig_submit(rig, rig_spec());
    rig_pass(rig);
    rig_run(rig, failed, 0, 3);
    spec = rig_spec();
    spec.resources = &foo;
    spec.resource_count = 1;
    spec.project = "vision";
    rig_submit(rig, spec);
    rig_submit(rig, spec);
    spec = rig_spec();
    spec.depends_on = &a.v;
    spec.depends_count = 1;
    struct input in = {
        .type = INPUT_TASK_SUBMIT,
        .submit = {.specs = &spec, .count = 1, .has_key = true, .key = {3}, .body_hash = {4}}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    spec = rig_spec();
    spec.gang = true;
    spec.instances = 4;
    rig_submit(rig, spec);
    rig_pass(rig);
    rig->now_ms += 60000;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    task_id killed = rig_submit(rig, rig_spec());
    rig_pass(rig);
    rig_task(rig, INPUT_TASK_KILL, killed);
    spec = rig_spec();
    spec.stage = true;
    rig_submit(rig, spec);
}

static void a_cut_off_state_is_refused_at_each_byte(void **state)
{
    (void)state;
    struct rig rig;
    rich_state(&rig);
    size_t len;
    char *bytes = rig_bytes(rig.core, &len);
    for (size_t cut = 0; cut < len; cut++) {
        char *piece = xmemdup(bytes, cut);
        struct core *core = NULL;
        struct error e;
        assert_int_equal(core_decode((struct str){piece, cut}, &core, &e), ERR_CORRUPT);
        free(piece);
    }
    free(bytes);
    rig_done(&rig);
}

static void a_damaged_state_is_sound_or_refused(void **state)
{
    (void)state;
    struct rig rig;
    rich_state(&rig);
    size_t len;
    char *bytes = rig_bytes(rig.core, &len);
    static const unsigned char values[] = {0, 1, 2, 3, 5, 8, 0x7f, 0x80, 0xff};
    size_t read = 0;
    for (size_t at = 0; at < len * sizeof values; at++) {
        char before = bytes[at / sizeof values];
        bytes[at / sizeof values] = (char)values[at % sizeof values];
        struct core *core = NULL;
        struct error e;
        if (core_decode((struct str){bytes, len}, &core, &e) == ERR_OK) {
            read++;
            size_t again_len;
            char *again = rig_bytes(core, &again_len);
            if (at / sizeof values != STATE_VERSION_AT) {
                assert_int_equal(again_len, len);
                assert_memory_equal(again, bytes, len);
            }
            free(again);
            core_free(core);
        }
        bytes[at / sizeof values] = before;
    }
    assert_true(read > len); /* most numbers may be other numbers */
    free(bytes);
    struct buf map;
    buf_init(&map, BYTES_MAX);
    (void)damage_map_state(rig.core, &map);
    damage_map_check("state", &map);
    buf_done(&map);
    rig_done(&rig);
}

/* Copies go their own ways. */
static void a_copy_does_not_see_what_happens_to_the_other(void **state)
{
    (void)state;
    struct rig rig;
    rich_state(&rig);
    struct core *copy = core_copy(rig.core);
    struct core *kept = core_copy(rig.core);
    rig_submit(&rig, rig_spec());
    rig_task(&rig, INPUT_TASK_KILL, (task_id){1});
    rig_on_node(&rig, INPUT_NODE_SILENT, (node_id){1});
    rig_on_node(&rig, INPUT_NODE_LOST, (node_id){1});
    core_check(copy);
    assert_same_state(copy, kept);
    struct core *original = rig.core;
    rig.core = copy;
    rig_submit(&rig, rig_spec());
    rig_pass(&rig);
    core_free(original);
    core_check(rig.core);
    core_check(kept);
    core_free(kept);
    rig_done(&rig);
}

/* Which road led to a state does not show: a restart after every fact gives the same bytes. */
static void a_restart_after_each_fact_changes_nothing(void **state)
{
    (void)state;
    struct rig rig;
    rich_state(&rig);
    struct core *other = core_copy(rig.core);
    task_id last = query_task_last(rig.core);
    for (uint64_t id = 1; id <= last.v; id++) {
        if (query_task(rig.core, (task_id){id}) == NULL) {
            continue;
        }
        assert_int_equal(rig_task(&rig, INPUT_TASK_KILL, (task_id){id}), VERDICT_OK);
        for (size_t i = 0; i < rig.facts.count; i++) {
            core_apply(other, &rig.facts.at[i]);
            size_t len;
            char *bytes = rig_bytes(other, &len);
            core_free(other);
            assert_int_equal(core_decode((struct str){bytes, len}, &other, NULL), ERR_OK);
            free(bytes);
        }
        assert_same_state(rig.core, other);
    }
    core_free(other);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fact_comes_back_byte_for_byte),
        cmocka_unit_test(sixteen_bytes_are_read_or_none),
        cmocka_unit_test(a_submitted_task_keeps_every_field),
        cmocka_unit_test(cut_off_facts_are_refused_at_each_byte),
        cmocka_unit_test(damaged_facts_are_read_or_refused_never_worse),
        cmocka_unit_test(unknown_versions_are_named),
        cmocka_unit_test(a_change_of_coding_needs_a_new_version),
        cmocka_unit_test(every_newest_coding_has_a_sample),
        cmocka_unit_test(what_a_newer_weir_wrote_is_called_so),
        cmocka_unit_test(a_pool_of_version_1_has_the_defaults),
        cmocka_unit_test(launches_of_version_1_are_read),
        cmocka_unit_test(a_wait_of_version_1_is_for_all_zones),
        cmocka_unit_test(an_allocation_of_version_1_has_no_port),
        cmocka_unit_test(a_task_of_version_1_is_in_the_project_default),
        cmocka_unit_test(all_devices_of_a_node_are_read_as_gpus),
        cmocka_unit_test(a_state_of_version_1_is_read),
        cmocka_unit_test(a_cut_off_state_is_refused_at_each_byte),
        cmocka_unit_test(a_damaged_state_is_sound_or_refused),
        cmocka_unit_test(a_copy_does_not_see_what_happens_to_the_other),
        cmocka_unit_test(a_restart_after_each_fact_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
