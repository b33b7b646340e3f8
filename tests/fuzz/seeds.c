/* seeds.c - writes the binary seeds: one fact of each type and a few states, from a short
 * history. Run it again when an encoding changes: `seeds tests/fuzz/corpus`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/core.h"
#include "core/model/object.h"

#include <stdio.h>

enum { OUT_MAX = 1 << 20, PATH_MAX_LEN = 512 };

struct history {
    const char *dir;
    struct core *core;
    struct arena arena;
    int64_t now_ms;
    unsigned snapshots;
    bool written[FACT_TYPE_MAX + 1];
};

static void file_write(const struct history *h, const char *path, const struct buf *bytes)
{
    char name[PATH_MAX_LEN];
    (void)snprintf(name, sizeof name, "%s/%s", h->dir, path);
    FILE *file = fopen(name, "we");
    must(file != NULL);
    must(fwrite(bytes->data, 1, bytes->len, file) == bytes->len);
    must(fclose(file) == 0);
}

static void fact_keep(struct history *h, const struct fact *fact)
{
    if (h->written[fact->type]) {
        return;
    }
    h->written[fact->type] = true;
    char path[PATH_MAX_LEN];
    struct buf out;
    buf_init(&out, OUT_MAX);
    fact_encode(fact, &out);
    (void)snprintf(path, sizeof path, "fact/%s", fact_type_name(fact->type));
    file_write(h, path, &out);
    buf_done(&out);
}

static void snapshot_keep(struct history *h)
{
    char path[PATH_MAX_LEN];
    struct buf out;
    buf_init(&out, OUT_MAX);
    core_encode(h->core, &out);
    (void)snprintf(path, sizeof path, "snapshot/state-%u", h->snapshots++);
    file_write(h, path, &out);
    buf_done(&out);
}

static void step(struct history *h, struct input in)
{
    struct facts facts;
    h->now_ms += 1000;
    in.now_ms = h->now_ms;
    in.actor = "user:root";
    in.cause = "r1";
    fact_list_init(&facts, &h->arena);
    must(core_decide(h->core, &in, &facts) == VERDICT_OK);
    for (size_t i = 0; i < facts.count; i++) {
        fact_keep(h, &facts.at[i]);
        core_apply(h->core, &facts.at[i]);
    }
}

static void node_join(struct history *h, const char *name, uint32_t devices)
{
    const struct named_amount foo = {"foo", 7000};
    const struct label zone = {"zone", "a"};
    const struct node_spec node = {
        .name = name,
        .pool = "default",
        .labels = &zone,
        .label_count = 1,
        .slots_milli = devices > 0 ? (int64_t)devices * 1000 : 2000,
        .cpu_milli = 4000,
        .memory_bytes = (int64_t)8 << 30,
        .device_count = devices,
        .resources = &foo,
        .resource_count = 1,
        .supervisor = {1},
        .boot_id = "boot",
        .address = "10.0.0.1",
        .version = "0.1.0",
    };
    step(h, (struct input){.type = INPUT_NODE_JOIN, .node = {.spec = &node}});
}

static task_id task_submit(struct history *h, int64_t foo_milli, uint32_t instances, bool gang)
{
    static const char *const argv[] = {"sh", "-c", "true"};
    static const char *const env[] = {"A=b"};
    static const char *const tags[] = {"t"};
    const struct named_amount foo = {"foo", foo_milli};
    const struct task_spec spec = {
        .kind = TASK_EXPERIMENT,
        .name = "job",
        .user = "root",
        .project = "default",
        .image = "",
        .workdir = "/w",
        .argv = argv,
        .argv_count = 3,
        .env = env,
        .env_count = 1,
        .tags = tags,
        .tag_count = 1,
        .slots_milli = ASK_NOTHING,
        .cpu_milli = ASK_NOTHING,
        .memory_bytes = ASK_NOTHING,
        .resources = &foo,
        .resource_count = foo_milli > 0,
        .instances = instances,
        .gang = gang,
        .preemptible = true,
        .repeatable = true,
        .stage = foo_milli == 1,
        .priority = PRIORITY_DEFAULT,
        .time_limit_ms = 60000,
        .grace_ms = GRACE_MS_DEFAULT,
        .stale_grace_ms = STALE_GRACE_POOL,
        .preemption_delay_ms = PREEMPTION_DELAY_POOL,
    };
    struct input in = {
        .type = INPUT_TASK_SUBMIT,
        .submit = {.specs = &spec, .count = 1, .has_key = true, .key = {(uint8_t)h->now_ms, 7}}};
    in.submit.key[2] = (uint8_t)(h->now_ms >> 8);
    in.submit.key[3] = (uint8_t)(h->now_ms >> 16);
    step(h, in);
    return query_task_last(h->core);
}

static void pass(struct history *h)
{
    pool_id pool = query_pool_named(h->core, "default")->id;
    step(h, (struct input){.type = INPUT_PASS, .pass = {.pool = pool, .work_max = 100000}});
}

static void report(struct history *h, task_id task, enum report_type type)
{
    const struct instance *instance = query_instance(h->core, task, 0);
    must(instance != NULL);
    const struct report said = {.type = type,
                                .key = {task, 0, instance->attempt},
                                .incarnation = instance->incarnation,
                                .at_ms = h->now_ms,
                                .exit_code = 1};
    step(h, (struct input){.type = INPUT_REPORT,
                           .report = {.node = instance->node, .reports = &said, .count = 1}});
}

static void pools(struct history *h)
{
    const struct pool_spec spec = {
        .name = "extra", .title = "t", .description = "d", .patience_ms = 1000, .aux_tasks = 5};
    step(h, (struct input){.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}});
    pool_id pool = query_pool_named(h->core, "extra")->id;
    step(h, (struct input){.type = INPUT_POOL_DELETE, .pool = {.pool = pool, .now = true}});
}

static void accounts(struct history *h)
{
    static const struct account_spec department = {.kind = ACCOUNT_DEPARTMENT,
                                                   .name = "ml",
                                                   .parent = "",
                                                   .title = "t",
                                                   .description = "d",
                                                   .idle_warn_ms = 60000,
                                                   .idle_after_ms = 120000,
                                                   .idle_action = ACCOUNT_IDLE_END};
    static const struct account_spec project = {
        .kind = ACCOUNT_PROJECT, .name = "vision", .parent = "ml"};
    static const struct account_spec gone = {.kind = ACCOUNT_PROJECT, .name = "gone", .parent = ""};
    static const struct quota_amount amounts[] = {{"slots", 1000, 8000, 2000},
                                                  {"foo", 0, 5000, 1000}};
    static const struct quota_spec quota = {amounts, 2, {200, QUOTA_INHERIT, 60000, 0}};
    const struct account_spec *specs[] = {&department, &project, &gone};
    for (unsigned i = 0; i < 3; i++) {
        step(h, (struct input){.type = INPUT_ACCOUNT_SET, .account = {.spec = specs[i]}});
    }
    account_id id = query_account_named(h->core, ACCOUNT_PROJECT, "gone")->id;
    step(h, (struct input){.type = INPUT_ACCOUNT_DELETE, .account = {.account = id}});
    pool_id pool = query_pool_named(h->core, "default")->id;
    id = query_account_named(h->core, ACCOUNT_PROJECT, "vision")->id;
    step(h, (struct input){.type = INPUT_QUOTA_SET, .quota = {id, pool, &quota}});
}

static void tasks(struct history *h)
{
    task_id staged = task_submit(h, 1, 1, false);
    task_id first = task_submit(h, 5000, 1, false);
    task_id second = task_submit(h, 5000, 1, false);
    (void)task_submit(h, 0, 3, false);
    (void)task_submit(h, 0, 2, true);
    pass(h);
    snapshot_keep(h);
    h->now_ms += 120000;
    pass(h);
    step(h, (struct input){.type = INPUT_TASK_START, .task = {.task = staged}});
    step(h, (struct input){.type = INPUT_TASK_PAUSE, .task = {.task = second}});
    const struct task_edit edit = {.fields = TASK_EDIT_priority | TASK_EDIT_name,
                                   .spec = &(struct task_spec){.priority = 60, .name = "n"}};
    step(h, (struct input){.type = INPUT_TASK_EDIT, .task = {.task = second, .edit = &edit}});
    report(h, first, REPORT_STARTED);
    snapshot_keep(h);
    report(h, first, REPORT_ENDED);
    task_id third = task_submit(h, 2000, 1, false);
    pass(h);
    step(h, (struct input){.type = INPUT_TASK_KILL, .task = {.task = third}});
    step(h, (struct input){.type = INPUT_TICK});
    h->now_ms += (int64_t)48 * 3600 * 1000;
    step(h, (struct input){.type = INPUT_TICK});
}

/* Nodes that a provider was asked for: one joined, one to end, one failed; and other default pools. */
static void launches(struct history *h)
{
    const pool_id pool = query_pool_named(h->core, "default")->id;
    const struct provider_answer answers[] = {
        {{1}, PROVIDER_RUNNING, "i-1", "n1", "", PROVIDER_WHY_OTHER},
        {{3}, PROVIDER_FAILED, "", "", "no capacity", PROVIDER_WHY_NO_CAPACITY},
    };
    step(h, (struct input){.type = INPUT_LAUNCH_ASK, .launch = {.pool = pool, .count = 3}});
    step(h, (struct input){.type = INPUT_LAUNCH_STOP, .launch = {.launch = {2}}});
    step(h, (struct input){.type = INPUT_PROVIDER, .provider = {.answers = answers, .count = 2}});
    const struct pool_spec spec = {.name = "other", .title = "", .description = ""};
    step(h, (struct input){.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}});
    step(h, (struct input){.type = INPUT_DEFAULTS_SET, .defaults = {{"default", "other"}}});
}

/* A flavor that is sold out in its zone, and a pool that waits for it. */
static void flavors(struct history *h)
{
    static const char *const zones[] = {"a"};
    static const char *const pools[] = {"elastic"};
    struct flavor_spec flavor;
    struct pool_spec pool;
    struct task_spec task;
    object_init(&flavor_object, &flavor);
    flavor.name = "f";
    flavor.zones = zones;
    flavor.zone_count = 1;
    step(h, (struct input){.type = INPUT_FLAVOR_SET, .flavor = {.spec = &flavor}});
    object_init(&pool_object, &pool);
    pool.name = pools[0];
    pool.provider = POOL_LOCAL;
    pool.nodes_max = 1;
    pool.flavor = "f";
    step(h, (struct input){.type = INPUT_POOL_CREATE, .pool = {.spec = &pool}});
    const pool_id id = query_pool_named(h->core, pool.name)->id;
    object_init(&task_object, &task);
    task.argv = zones;
    task.argv_count = 1;
    task.pools = pools;
    task.pool_count = 1;
    task.slots_milli = 1000;
    task.cpu_milli = ASK_NOTHING;
    task.memory_bytes = ASK_NOTHING;
    step(h, (struct input){.type = INPUT_TASK_SUBMIT, .submit = {.specs = &task, .count = 1}});
    step(h, (struct input){.type = INPUT_PASS, .pass = {.pool = id, .work_max = 100}});
    const struct provider_answer no = {{4}, PROVIDER_FAILED, "",
                                       "",  "sold out",      PROVIDER_WHY_NO_CAPACITY};
    step(h, (struct input){.type = INPUT_PROVIDER, .provider = {.answers = &no, .count = 1}});
    step(h, (struct input){.type = INPUT_PASS, .pass = {.pool = id, .work_max = 100}});
    snapshot_keep(h);
    flavor.name = "g";
    step(h, (struct input){.type = INPUT_FLAVOR_SET, .flavor = {.spec = &flavor}});
    const flavor_id other = query_flavor_named(h->core, "g")->id;
    step(h, (struct input){.type = INPUT_FLAVOR_DELETE, .flavor = {.flavor = other}});
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }
    struct history h = {.dir = argv[1], .core = core_new(), .now_ms = 1700000000000};
    arena_init(&h.arena);
    step(&h, (struct input){.type = INPUT_SERVER_START, .server = {.server_uuid = {7}}});
    snapshot_keep(&h);
    node_join(&h, "n1", 0);
    node_join(&h, "n2", 4);
    const struct node_edit drain = {.fields = NODE_EDIT_DRAIN, .drain = true};
    node_id node = query_node_named(h.core, "n2")->id;
    step(&h, (struct input){.type = INPUT_NODE_EDIT, .node = {.node = node, .edit = &drain}});
    step(&h, (struct input){.type = INPUT_NODE_SILENT, .node = {.node = node}});
    pools(&h);
    accounts(&h);
    tasks(&h);
    launches(&h);
    flavors(&h);
    snapshot_keep(&h);
    core_free(h.core);
    arena_done(&h.arena);
    return 0;
}
