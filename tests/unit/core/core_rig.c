/* core_rig.c - a core under test.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "base/must.h"

enum { STATE_BYTES_MAX = 1 << 30 };

char *rig_bytes(const struct core *core, size_t *ret_len)
{
    struct buf bytes;
    buf_init(&bytes, STATE_BYTES_MAX);
    core_encode(core, &bytes);
    assert_false(bytes.full);
    return buf_steal(&bytes, ret_len);
}

void assert_same_state(const struct core *a, const struct core *b)
{
    size_t a_len;
    size_t b_len;
    char *a_bytes = rig_bytes(a, &a_len);
    char *b_bytes = rig_bytes(b, &b_len);
    assert_int_equal(a_len, b_len);
    assert_memory_equal(a_bytes, b_bytes, a_len);
    free(a_bytes);
    free(b_bytes);
}

static void check_stored(const struct core *core)
{
    size_t len;
    char *bytes = rig_bytes(core, &len);
    struct core *again = NULL;
    struct error e = {0};
    if (core_decode((struct str){bytes, len}, &again, &e) != ERR_OK) {
        fail_msg("%s", e.text);
    }
    core_check(again);
    assert_same_state(core, again);
    core_free(again);
    free(bytes);
}

/* Applies a fact after encoding and decoding, as the store would. */
static void apply_stored(struct rig *rig, const struct fact *fact)
{
    struct buf bytes;
    buf_init(&bytes, STATE_BYTES_MAX);
    fact_encode(fact, &bytes);
    struct fact decoded;
    struct error e = {0};
    if (fact_decode((struct str){bytes.data, bytes.len}, &rig->arena, &decoded, &e) != ERR_OK) {
        fail_msg("%s", e.text);
    }
    buf_done(&bytes);
    core_apply(rig->core, &decoded);
    core_react(rig->core, &decoded, &rig->effects);
}

/* A change of a pool's state is told by a tick that comes at once, as in the server. The tick is left out where other deadlines
 * have come, too: tests choose when these come. */
void rig_standing_tell(struct core *core, int64_t now_ms)
{
    struct arena arena;
    struct facts facts;
    if (query_deadline(core) != 0) {
        return;
    }
    const struct input tick = {.type = INPUT_TICK, .now_ms = now_ms, .actor = "timer", .cause = ""};
    arena_init(&arena);
    fact_list_init(&facts, &arena);
    assert_int_equal(core_decide(core, &tick, &facts), VERDICT_OK);
    bool only = true;
    for (size_t i = 0; i < facts.count; i++) {
        only = only && facts.at[i].type == FACT_POOL_STATE;
    }
    for (size_t i = 0; only && i < facts.count; i++) {
        core_apply(core, &facts.at[i]);
    }
    arena_done(&arena);
}

enum verdict rig_do(struct rig *rig, struct input in)
{
    arena_clear(&rig->arena);
    fact_list_init(&rig->facts, &rig->arena);
    rig->effects.count = 0;
    in.now_ms = rig->now_ms;
    in.actor = "user:test";
    in.cause = "";
    struct core *before = core_copy(rig->core);
    enum verdict verdict = core_decide(rig->core, &in, &rig->facts);
    assert_same_state(before, rig->core);
    core_free(before);
    if (verdict == VERDICT_OK) {
        for (size_t i = 0; i < rig->facts.count; i++) {
            apply_stored(rig, &rig->facts.at[i]);
        }
    }
    rig_standing_tell(rig->core, rig->now_ms);
    core_check(rig->core);
    check_stored(rig->core);
    return verdict;
}

void rig_init(struct rig *rig)
{
    *rig = (struct rig){.core = core_new(), .now_ms = 1000};
    arena_init(&rig->arena);
    arena_init(&rig->kept);
    struct input in = {.type = INPUT_SERVER_START, .server = {.server_uuid = {1, 2, 3}}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

void rig_done(struct rig *rig)
{
    core_free(rig->core);
    effect_done(&rig->effects);
    arena_done(&rig->arena);
    arena_done(&rig->kept);
}

node_id rig_node(struct rig *rig, const char *name, unsigned slots, int64_t foo, uint8_t supervisor)
{
    struct named_amount amount = {"foo", foo};
    struct node_spec spec = {.name = name,
                             .pool = "",
                             .slots_milli = (int64_t)slots * 1000,
                             .cpu_milli = (int64_t)slots * 2000,
                             .memory_bytes = (int64_t)slots << 30,
                             .resources = &amount,
                             .resource_count = foo > 0,
                             .supervisor = {supervisor},
                             .boot_id = "boot",
                             .address = "127.0.0.1",
                             .version = "1"};
    struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    return query_node_named(rig->core, name)->id;
}

struct task_spec rig_spec(void)
{
    static const char *const argv[] = {"true"};
    return (struct task_spec){.kind = TASK_COMMAND,
                              .name = "t",
                              .user = "u",
                              .argv = argv,
                              .argv_count = 1,
                              .slots_milli = ASK_NOTHING,
                              .cpu_milli = ASK_NOTHING,
                              .memory_bytes = ASK_NOTHING,
                              .instances = 1,
                              .repeatable = true,
                              .preemptible = true,
                              .priority = PRIORITY_DEFAULT,
                              .grace_ms = 10000,
                              .stale_grace_ms = STALE_GRACE_POOL,
                              .preemption_delay_ms = PREEMPTION_DELAY_POOL};
}

enum verdict rig_try_submit(struct rig *rig, struct task_spec spec)
{
    struct input in = {.type = INPUT_TASK_SUBMIT, .submit = {.specs = &spec, .count = 1}};
    return rig_do(rig, in);
}

task_id rig_submit(struct rig *rig, struct task_spec spec)
{
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_OK);
    return query_task_last(rig->core);
}

void rig_pass(struct rig *rig)
{
    pool_id pool;
    for (int turn = 0; query_pass_due(rig->core, rig->now_ms, &pool); turn++) {
        assert_in_range(turn, 0, 1000);
        struct input in = {.type = INPUT_PASS, .pass = {.pool = pool, .work_max = 1000000}};
        assert_int_equal(rig_do(rig, in), VERDICT_OK);
        if (rig->facts.count == 0) {
            core_pass_idle(rig->core, pool);
        }
    }
}

void rig_report(struct rig *rig, task_id task, uint32_t index, enum report_type type, int code)
{
    const struct instance *instance = query_instance(rig->core, task, index);
    assert_non_null(instance);
    struct report report = {.type = type,
                            .key = {task, index, instance->attempt},
                            .incarnation = instance->incarnation,
                            .at_ms = rig->now_ms,
                            .exit_code = code};
    struct input in = {.type = INPUT_REPORT,
                       .report = {.node = instance->node, .reports = &report, .count = 1}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

void rig_run(struct rig *rig, task_id task, uint32_t index, int code)
{
    rig_report(rig, task, index, REPORT_STARTED, 0);
    rig_report(rig, task, index, REPORT_ENDED, code);
}

enum verdict rig_task(struct rig *rig, enum input_type type, task_id task)
{
    return rig_do(rig, (struct input){.type = type, .task = {.task = task}});
}

enum verdict rig_on_node(struct rig *rig, enum input_type type, node_id node)
{
    return rig_do(rig, (struct input){.type = type, .node = {.node = node}});
}

enum task_state rig_state(const struct rig *rig, task_id task)
{
    const struct task *row = query_task(rig->core, task);
    return row != NULL ? (enum task_state)row->state : query_task_outcome(rig->core, task);
}

enum instance_state rig_instance(const struct rig *rig, task_id task, uint32_t index)
{
    const struct instance *instance = query_instance(rig->core, task, index);
    assert_non_null(instance);
    return instance->state;
}

size_t rig_count(const struct rig *rig, enum fact_type type)
{
    size_t count = 0;
    for (size_t i = 0; i < rig->facts.count; i++) {
        count += rig->facts.at[i].type == type;
    }
    return count;
}

const struct fact *rig_fact(const struct rig *rig, enum fact_type type)
{
    for (size_t i = 0; i < rig->facts.count; i++) {
        if (rig->facts.at[i].type == type) {
            return &rig->facts.at[i];
        }
    }
    fail_msg("no fact %s", fact_type_name(type));
    return NULL;
}
