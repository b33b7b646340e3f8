/* test_samples.c - every older format has a stored sample (tests/unit/core/samples/), and each is read.
 *
 * state-v11 and later and the facts attempt-ended 3, task-edited 5 and 6, and reserved 1 and 2 were written by programs of these
 * versions. The states hold one site that grows with the versions: tasks that ended, run, failed once and wait, from version 13 on a
 * task that was lost twice, from 14 on a pool whose provider refused, from 15 on a task with two pools and a locked node, from 16 on a
 * pool with spare nodes, from 17 on a service that starts again, from 18 on a network.
 * SPDX-License-Identifier: Apache-2.0 */
#include "org_rig.h"

#include "base/mem.h"
#include "core/model/losses.h"
#include "core/model/quota.h"
#include "core/state/fact_internal.h"
#include "core/state/state_codec.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES_MAX = 1 << 16, STATE_FIRST = 11, STATE_LAST = 18 };

/* The first version of the state with ... */
enum {
    LOSSES_SINCE = 13,
    CLOUD_SINCE = 14,
    SEVERAL_SINCE = 15,
    SPARE_SINCE = 16,
    SERVICE_SINCE = 17,
    NETWORK_SINCE = 18
};

static const task_id runs = {2};
static const task_id again = {3};
static const task_id after = {4};
static const task_id gang = {5};
static const task_id lost = {6};
static const task_id several = {8};
static const task_id service = {9};

static struct str bytes_of(struct arena *arena, const char *path)
{
    char *bytes = arena_new(arena, char, BYTES_MAX);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail_msg("there is no sample '%s'", path);
    }
    const size_t len = fread(bytes, 1, BYTES_MAX, file);
    assert_int_equal(fclose(file), 0);
    assert_in_range(len, 1, BYTES_MAX - 1);
    return (struct str){bytes, len};
}

static struct str sample(struct arena *arena, const char *name)
{
    return bytes_of(arena, arena_fmt(arena, "%s/%s", getenv("WEIR_SAMPLES"), name));
}

static bool fact_read(struct arena *arena, struct str bytes, const char *name, unsigned version)
{
    struct fact fact;
    struct error e = {0};
    if (fact_decode(bytes, arena, &fact, &e) != ERR_OK) {
        fail_msg("%s %u: %s", name, version, e.text);
    }
    assert_int_equal(fact.version, version);
    assert_string_equal(fact_type_name(fact.type), name);
    return true;
}

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Reads the fact of one line of samples/facts.txt: name, version, and the bytes in hex. */
static bool line_read(struct arena *arena, char *line, const char *want)
{
    const size_t head = strlen(want);
    if (strncmp(line, want, head) != 0) {
        return false;
    }
    char *bytes = arena_new(arena, char, BYTES_MAX);
    size_t len = 0;
    for (const char *p = line + head; p[0] != '\n'; p += 2) {
        assert_in_range(len, 0, BYTES_MAX - 1);
        bytes[len++] = (char)(hex_digit(p[0]) << 4 | hex_digit(p[1]));
    }
    char name[128];
    unsigned version;
    assert_int_equal(sscanf(want, "%127s %u", name, &version), 2);
    return fact_read(arena, (struct str){bytes, len}, name, version);
}

static bool line_found(struct arena *arena, FILE *lines, const char *want)
{
    static char line[3 * BYTES_MAX];
    bool found = false;
    rewind(lines);
    while (!found && fgets(line, sizeof line, lines) != NULL) {
        found = line_read(arena, line, want);
    }
    return found;
}

/* A sample is a file, or a line of facts.txt, which the test core_codec writes. */
static void every_version_of_a_fact_has_a_sample(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    const char *dir = getenv("WEIR_SAMPLES");
    FILE *lines = fopen(arena_fmt(&arena, "%s/facts.txt", dir), "r");
    assert_non_null(lines);
    for (unsigned type = 1; type <= FACT_TYPE_MAX; type++) {
        const unsigned newest = fact_type_known(type) ? fact_bodies[type].newest : 0;
        for (unsigned version = 1; version <= newest; version++) {
            const char *name = fact_type_name((enum fact_type)type);
            if (!line_found(&arena, lines, arena_fmt(&arena, "%s %u ", name, version))) {
                const char *path = arena_fmt(&arena, "%s/fact-%s-v%u", dir, name, version);
                (void)fact_read(&arena, bytes_of(&arena, path), name, version);
            }
        }
    }
    assert_int_equal(fclose(lines), 0);
    arena_done(&arena);
}

/* ---- the site ---- */

static void one_report(struct rig *rig, struct report report)
{
    const struct instance *instance = query_instance(rig->core, report.key.task, report.key.index);
    report.key.attempt = instance->attempt;
    report.incarnation = instance->incarnation;
    const struct input in = {.type = INPUT_REPORT,
                             .report = {.node = instance->node, .reports = &report, .count = 1}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static pool_id pool_make(struct rig *rig, const char *name, void (*change)(struct pool_spec *))
{
    struct arena arena;
    struct pool_spec spec;
    arena_init(&arena);
    query_pool_spec(rig->core, org_pool_id, &arena, &spec);
    spec.name = name;
    change(&spec);
    const struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    arena_done(&arena);
    return query_pool_named(rig->core, name)->id;
}

static void elastic(struct pool_spec *spec)
{
    spec->provider = POOL_LOCAL;
    spec->nodes_max = 3;
    spec->node_slots = 2;
    spec->node_idle_ms = 60000;
    spec->max_starting_ms = 600000;
}

static void spare(struct pool_spec *spec)
{
    spec->spare_nodes = 1;
}

static void work_begins(struct rig *rig)
{
    struct task_spec spec = rig_spec();
    const task_id done = rig_submit(rig, spec);
    rig_pass(rig);
    rig->now_ms = 2000;
    rig_run(rig, done, 0, 0);
    spec.name = "runs";
    spec.project = "vision";
    spec.slots_milli = 2000;
    assert_int_equal(rig_submit(rig, spec).v, runs.v);
    rig->now_ms = 3000;
    rig_pass(rig);
    rig->now_ms = 61000;
    rig_report(rig, runs, 0, REPORT_STARTED, 0);
    rig->now_ms = 62000;
    one_report(rig,
               (struct report){.type = REPORT_CHECKPOINT, .key = {.task = runs}, .at_ms = 62000});
    spec = rig_spec();
    spec.name = "again";
    spec.max_retries = 2;
    assert_int_equal(rig_submit(rig, spec).v, again.v);
    rig_pass(rig);
    rig_report(rig, again, 0, REPORT_STARTED, 0);
    rig->now_ms = 65000;
    one_report(rig, (struct report){.type = REPORT_ENDED,
                                    .key = {.task = again},
                                    .exit_code = 3,
                                    .cpu_ms = 1500,
                                    .memory_peak_bytes = 4096,
                                    .at_ms = 65000});
    rig_pass(rig);
    rig_report(rig, again, 0, REPORT_STARTED, 0);
}

static void work_waits(struct rig *rig)
{
    static const uint64_t behind[] = {2};
    struct task_spec spec = rig_spec();
    spec.name = "after";
    spec.priority = 70;
    spec.depends_on = behind;
    spec.depends_count = 1;
    assert_int_equal(rig_submit(rig, spec).v, after.v);
    spec = rig_spec();
    spec.name = "gang";
    spec.project = "speech";
    spec.instances = 2;
    spec.gang = true;
    spec.slots_milli = 2000;
    assert_int_equal(rig_submit(rig, spec).v, gang.v);
    rig_pass(rig);
    spec = rig_spec();
    spec.name = "lost";
    spec.max_losses = 5;
    spec.priority = 90;
    assert_int_equal(rig_submit(rig, spec).v, lost.v);
    rig_pass(rig);
    for (unsigned i = 0; i < 2; i++) {
        rig_report(rig, lost, 0, REPORT_STARTED, 0);
        rig_report(rig, lost, 0, REPORT_LOST, 0);
        rig_pass(rig);
    }
}

static void pools_come(struct rig *rig)
{
    static const char *const both[] = {"cloud", "default"};
    const pool_id cloud = pool_make(rig, "cloud", elastic);
    struct task_spec spec = rig_spec();
    spec.name = "cloudy";
    spec.pools = both;
    spec.pool_count = 1;
    (void)rig_submit(rig, spec);
    struct input in = {.type = INPUT_PASS, .pass = {.pool = cloud, .work_max = UINT64_MAX}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    const struct provider_answer answer = {
        .launch = {1}, .says = PROVIDER_FAILED, .name = "", .node = "", .words = "no room"};
    in = (struct input){.type = INPUT_PROVIDER, .provider = {.answers = &answer, .count = 1}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    spec = rig_spec();
    spec.name = "several";
    spec.pools = both;
    spec.pool_count = 2;
    spec.slots_milli = 2000;
    assert_int_equal(rig_submit(rig, spec).v, several.v);
    const struct node_edit lock = {.fields = NODE_EDIT_LOCK, .locked = true};
    in = (struct input){.type = INPUT_NODE_EDIT, .node = {.node = {1}, .edit = &lock}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    (void)pool_make(rig, "kept", spare);
}

static void service_ends(struct rig *rig)
{
    struct task_spec spec = rig_spec();
    spec.kind = TASK_SERVICE;
    spec.name = "service";
    spec.restart = RESTART_AUTO;
    spec.restart_delay_ms = 1000;
    spec.priority = 95;
    assert_int_equal(rig_submit(rig, spec).v, service.v);
    rig_pass(rig);
    rig_report(rig, service, 0, REPORT_STARTED, 0);
    rig->now_ms += 1000;
    rig_report(rig, service, 0, REPORT_ENDED, 3);
}

static void network_comes(struct rig *rig)
{
    const struct network_spec spec = {.name = "lab", .range = "10.77.0.0/24", .outbound = true};
    const struct input in = {.type = INPUT_NETWORK_SET, .network = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

/* Writes the site as this program has it. What a new version brings is added here, and to the test below. */
static void site_write(const char *path)
{
    struct org org;
    size_t len;
    org_init(&org);
    (void)org_add(&org, ACCOUNT_DEPARTMENT, "research", "");
    const account_id vision = org_add(&org, ACCOUNT_PROJECT, "vision", "research");
    (void)org_add(&org, ACCOUNT_PROJECT, "speech", "research");
    (void)rig_node(&org.rig, "n1", 4, 7000, 1);
    org_quota(&org, vision, (struct org_quota){.guaranteed = 2, .limit = 3, .weight = 2});
    work_begins(&org.rig);
    work_waits(&org.rig);
    pools_come(&org.rig);
    service_ends(&org.rig);
    network_comes(&org.rig);
    char *bytes = rig_bytes(org.rig.core, &len);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    free(bytes);
    org_done(&org);
}

/* ---- the samples ---- */

static bool was_written(struct arena *arena, unsigned version)
{
    char line[256];
    bool found = version < STATE_LAST;
    FILE *file = fopen(arena_fmt(arena, "%s/formats.txt", getenv("WEIR_SAMPLES")), "r");
    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file) != NULL) {
        unsigned listed;
        found = sscanf(line, "state %u ", &listed) == 1 && listed == version;
    }
    assert_int_equal(fclose(file), 0);
    return found;
}

static bool state_found(struct arena *arena, unsigned version)
{
    glob_t found;
    const char *dir = getenv("WEIR_SAMPLES");
    if (glob(arena_fmt(arena, "%s/state-v%u", dir, version), 0, NULL, &found) != 0 &&
        glob(arena_fmt(arena, "%s/state-v%u-*", dir, version), 0, NULL, &found) != 0) {
        return false;
    }
    const struct str bytes = bytes_of(arena, found.gl_pathv[0]);
    struct core *core = NULL;
    struct error e = {0};
    assert_int_equal(bytes.p[sizeof "weir state"], version); /* behind the length and the words */
    if (core_decode(bytes, &core, &e) != ERR_OK) {
        fail_msg("%s: %s", found.gl_pathv[0], e.text);
    }
    core_check(core);
    core_free(core);
    globfree(&found);
    return true;
}

/* WEIR_GOLDEN_WRITE=1 writes the sample of the newest version. */
static void every_version_of_the_state_has_a_sample(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    for (unsigned version = STATE_VERSION_FIRST; version <= STATE_VERSION; version++) {
        if (!was_written(&arena, version) || state_found(&arena, version)) {
            continue;
        }
        if (version != STATE_VERSION || getenv("WEIR_GOLDEN_WRITE") == NULL) {
            fail_msg("there is no sample of version %u of the state: WEIR_GOLDEN_WRITE=1 meson "
                     "test -C build core_samples writes that of version %u",
                     version, (unsigned)STATE_VERSION);
        }
        site_write(arena_fmt(&arena, "%s/state-v%u", getenv("WEIR_SAMPLES"), version));
    }
    arena_done(&arena);
}

static struct task_spec spec_of(const struct core *core, struct arena *arena, task_id id)
{
    struct task_spec spec;
    assert_non_null(query_task(core, id));
    query_task_spec(core, id, arena, &spec);
    return spec;
}

static void accounts_are_kept(const struct core *core)
{
    const struct account *vision = query_account_named(core, ACCOUNT_PROJECT, "vision");
    assert_non_null(vision);
    assert_string_equal(query_account_name(core, vision->parent), "research");
    assert_non_null(query_account_named(core, ACCOUNT_PROJECT, "speech"));
    struct quota quota;
    query_quota(core, vision->id, (pool_id){1}, &quota);
    assert_int_equal(quota.guaranteed.at[DIM_SLOTS], 2000);
    assert_int_equal(quota.limit.at[DIM_SLOTS], 3000);
    assert_int_equal(quota.weight[DIM_SLOTS], 2000);
}

static void tasks_are_kept(const struct core *core, struct arena *arena)
{
    assert_null(query_task(core, (task_id){1})); /* it ended before */
    assert_string_equal(spec_of(core, arena, runs).project, "vision");
    assert_int_equal(query_task(core, runs)->state, TASK_RUNNING);
    assert_int_equal(query_task(core, runs)->running_ms, 61000);
    assert_int_equal(query_instance(core, runs, 0)->checkpoint_ms, 62000);
    assert_int_equal(query_instance(core, runs, 0)->slots_milli, 2000);
    assert_int_equal(query_task(core, again)->state, TASK_RUNNING);
    assert_int_equal(query_task(core, again)->cpu_ms, 1500);
    assert_int_equal(query_instance(core, again, 0)->attempt, 2);
    assert_int_equal(query_instance(core, again, 0)->retries, 1);
    assert_int_equal(query_task(core, after)->priority, 70);
    assert_int_equal(query_task(core, after)->state, TASK_PENDING);
    assert_int_equal(spec_of(core, arena, after).depends_on[0], runs.v);
    assert_int_equal(query_task(core, gang)->waiting_count, 2);
    assert_true(spec_of(core, arena, gang).gang);
    assert_int_equal(query_node_named(core, "n1")->named_free[0], 7000);
}

static void losses_are_kept(const struct core *core, struct arena *arena, unsigned version)
{
    if (version < LOSSES_SINCE) {
        assert_null(query_task(core, lost));
        assert_int_equal(query_instance(core, again, 0)->losses, 0);
        return;
    }
    assert_int_equal(spec_of(core, arena, lost).max_losses, 5);
    assert_int_equal(query_instance(core, lost, 0)->losses, 2);
    assert_int_equal(query_task(core, lost)->losses, 2);
    assert_true(query_task(core, lost)->hold_until_ms >= 65000 + LOSSES_WAIT_MS);
}

static void pools_are_kept(const struct core *core, struct arena *arena, unsigned version)
{
    const struct pool *cloud = query_pool_named(core, "cloud");
    assert_int_equal(cloud != NULL, version >= CLOUD_SINCE);
    if (cloud != NULL) {
        assert_int_equal(cloud->provider, POOL_LOCAL);
        assert_int_equal(cloud->launch_failures, 1);
        assert_string_equal(query_pool_refusal(cloud), "no room");
    }
    assert_int_equal(query_node_named(core, "n1")->locked, version >= SEVERAL_SINCE);
    if (version >= SEVERAL_SINCE) {
        assert_int_equal(spec_of(core, arena, several).pool_count, 2);
        assert_string_equal(spec_of(core, arena, several).pools[0], "cloud");
    }
    const struct pool *kept = query_pool_named(core, "kept");
    assert_int_equal(kept != NULL, version >= SPARE_SINCE);
    assert_true(kept == NULL || kept->spare_nodes == 1);
}

static void starts_are_kept(const struct core *core, struct arena *arena, unsigned version)
{
    if (version < SERVICE_SINCE) {
        assert_null(query_task(core, service));
        assert_int_equal(query_instance(core, again, 0)->restarts, 0);
        return;
    }
    assert_int_equal(spec_of(core, arena, service).restart_delay_ms, 1000);
    assert_int_equal(query_task(core, service)->restart, RESTART_ON_FAILURE);
    assert_int_equal(query_instance(core, service, 0)->restarts, 1);
    assert_int_equal(query_task(core, service)->restarts, 1);
}

static void networks_are_kept(const struct core *core, struct arena *arena, unsigned version)
{
    struct network_spec spec;
    const struct network *lab = query_network_named(core, "lab");
    assert_int_equal(lab != NULL, version >= NETWORK_SINCE);
    if (lab != NULL) {
        query_network_spec(core, lab->id, arena, &spec);
        assert_string_equal(spec.range, "10.77.0.0/24");
        assert_true(spec.outbound);
    }
}

static void states_of_versions_11_to_18_are_read(void **state)
{
    (void)state;
    for (unsigned version = STATE_FIRST; version <= STATE_LAST; version++) {
        struct arena arena;
        struct core *core = NULL;
        struct core *same = NULL;
        struct error e = {0};
        size_t len;
        arena_init(&arena);
        assert_int_equal(
            core_decode(sample(&arena, arena_fmt(&arena, "state-v%u", version)), &core, &e),
            ERR_OK);
        core_check(core);
        accounts_are_kept(core);
        tasks_are_kept(core, &arena);
        losses_are_kept(core, &arena, version);
        pools_are_kept(core, &arena, version);
        starts_are_kept(core, &arena, version);
        networks_are_kept(core, &arena, version);
        /* Written as it is written now and read again, it is the same state. */
        char *now = rig_bytes(core, &len);
        assert_int_equal(core_decode((struct str){now, len}, &same, &e), ERR_OK);
        assert_same_state(core, same);
        free(now);
        core_free(same);
        core_free(core);
        arena_done(&arena);
    }
}

static struct fact fact_of(struct arena *arena, const char *name)
{
    struct fact fact;
    struct error e;
    assert_int_equal(fact_decode(sample(arena, name), arena, &fact, &e), ERR_OK);
    return fact;
}

static void edits_of_versions_5_and_6_are_read(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct fact fact = fact_of(&arena, "fact-task-edited-v5");
    assert_int_equal(fact.task_edited.task.v, 3);
    assert_int_equal(fact.task_edited.edit.fields,
                     TASK_EDIT_name | TASK_EDIT_priority | TASK_EDIT_pools | TASK_EDIT_max_losses);
    assert_string_equal(fact.task_edited.edit.spec->name, "n");
    assert_int_equal(fact.task_edited.edit.spec->priority, 60);
    assert_int_equal(fact.task_edited.edit.spec->max_losses, 3);
    assert_int_equal(fact.task_edited.edit.spec->pool_count, 1); /* an edit set one pool */
    assert_string_equal(fact.task_edited.edit.spec->pools[0], "spot");
    assert_int_equal(fact.task_edited.pool.v, 2);
    fact = fact_of(&arena, "fact-task-edited-v6");
    assert_int_equal(fact.task_edited.edit.fields,
                     TASK_EDIT_priority | TASK_EDIT_pools | TASK_EDIT_fallback);
    assert_int_equal(fact.task_edited.edit.spec->pool_count, 2);
    assert_string_equal(fact.task_edited.edit.spec->pools[1], "demand");
    assert_int_equal(fact.task_edited.edit.spec->fallback_after_ms, 60000);
    assert_int_equal(fact.task_edited.edit.spec->fallback_on, 3);
    arena_done(&arena);
}

static void reservations_of_versions_1_and_2_are_read(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct fact fact = fact_of(&arena, "fact-reserved-v1");
    assert_int_equal(fact.reserved.pool.v, 1);
    assert_int_equal(fact.reserved.count, 1);
    assert_int_equal(fact.reserved.at[0].task.v, 9);
    assert_int_equal(fact.reserved.at[0].until_ms, 0);
    fact = fact_of(&arena, "fact-reserved-v2");
    assert_int_equal(fact.reserved.count, 2);
    assert_int_equal(fact.reserved.at[0].until_ms, 7000);
    assert_int_equal(fact.reserved.at[1].task.v, 12);
    assert_false(fact.reserved.at[0].turn);
    arena_done(&arena);
}

static void an_end_of_version_3_started_nothing_again_by_a_rule(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    const struct fact fact = fact_of(&arena, "fact-attempt-ended-v3");
    assert_int_equal(fact.attempt_ended.report.key.task.v, 4);
    assert_int_equal(fact.attempt_ended.report.at_ms, 6900);
    assert_int_equal(fact.attempt_ended.cause, END_NODE_LOST);
    assert_int_equal(fact.attempt_ended.hold_until_ms, 17000);
    assert_int_equal(fact.attempt_ended.restarts, 0);
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_of_a_fact_has_a_sample),
        cmocka_unit_test(every_version_of_the_state_has_a_sample),
        cmocka_unit_test(states_of_versions_11_to_18_are_read),
        cmocka_unit_test(edits_of_versions_5_and_6_are_read),
        cmocka_unit_test(reservations_of_versions_1_and_2_are_read),
        cmocka_unit_test(an_end_of_version_3_started_nothing_again_by_a_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
