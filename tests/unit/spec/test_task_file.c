/* test_task_file.c - tasks as users write them, and the errors they get.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/task_file.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct arena arena;

static struct task_spec reads(const char *text)
{
    struct doc *doc;
    struct task_spec spec;
    struct error e = {0};
    assert_int_equal(doc_yaml_parse(&arena, str_of(text), &doc, &e), ERR_OK);
    enum err r = task_file_spec_read(doc, &arena, &spec, &e);
    if (r != ERR_OK) {
        print_error("%s\n", e.text);
    }
    assert_int_equal(r, ERR_OK);
    return spec;
}

static void refuses(const char *text, const char *path, const char *message)
{
    struct doc *doc;
    const struct task_spec *specs = NULL;
    uint32_t count = 77;
    struct error e = {0};
    assert_int_equal(doc_yaml_parse(&arena, str_of(text), &doc, &e), ERR_OK);
    assert_int_equal(task_file_specs_read(doc, &arena, &specs, &count, &e), ERR_INVALID);
    assert_null(specs);
    assert_int_equal(count, 77);
    assert_string_equal(e.path, path);
    assert_string_equal(e.text, message);
}

/* The same with the fields of a good task around them. */
static void refuses_field(const char *field, const char *path, const char *message)
{
    char text[1024];
    (void)snprintf(text, sizeof text, "command: [true]\n%s\n", field);
    refuses(text, path, message);
}

static void defaults_are_those_of_a_command(void **state)
{
    (void)state;
    struct task_spec spec = reads("{\"command\":[\"echo\",\"hi\"]}");
    assert_int_equal(spec.kind, TASK_COMMAND);
    assert_string_equal(spec.name, "");
    assert_string_equal(spec.user, "");
    assert_string_equal(spec.project, "default");
    assert_string_equal(spec.image, "");
    assert_string_equal(spec.workdir, "");
    assert_int_equal(spec.argv_count, 2);
    assert_string_equal(spec.argv[1], "hi");
    assert_int_equal(spec.env_count, 0);
    assert_int_equal(spec.pool_count, 0);
    assert_true(spec.slots_milli == ASK_NOTHING);
    assert_true(spec.cpu_milli == ASK_NOTHING);
    assert_true(spec.memory_bytes == ASK_NOTHING);
    assert_false(spec.needs_gpu);
    assert_int_equal(spec.instances, 1);
    assert_false(spec.gang);
    assert_true(spec.preemptible);
    assert_true(spec.repeatable);
    assert_false(spec.stage);
    assert_int_equal(spec.priority, 50);
    assert_int_equal(spec.max_retries, 0);
    assert_true(spec.time_limit_ms == 0);
    assert_true(spec.grace_ms == 30000);
}

static void every_field_is_read(void **state)
{
    (void)state;
    struct task_spec spec =
        reads("name: resnet\n"
              "kind: experiment\n"
              "command: [python, train.py, --lr, 0.1]\n"
              "env: {A: 1, B: no, C: \"x y\", D: }\n"
              "workdir: /src\n"
              "image: repo/img:1\n"
              "project: vision\n"
              "pools: [v100-spot, v100]\n"
              "resources: {slots: 4, cpu: 0.5, memory: 64Gi, foo: 2, bar: 0.125}\n"
              "instances: 3\n"
              "gang: yes\n"
              "priority: 90\n"
              "preemptible: no\n"
              "repeatable: off\n"
              "time_limit: 2h\n"
              "grace: 90\n"
              "max_retries: 5\n"
              "depends_on: [7, 9]\n"
              "tags: [a, b c]\n"
              "stage: true\n");
    assert_string_equal(spec.name, "resnet");
    assert_int_equal(spec.kind, TASK_EXPERIMENT);
    assert_int_equal(spec.argv_count, 4);
    assert_string_equal(spec.argv[3], "0.1");
    assert_int_equal(spec.env_count, 4);
    assert_string_equal(spec.env[0], "A=1");
    assert_string_equal(spec.env[1], "B=no");
    assert_string_equal(spec.env[2], "C=x y");
    assert_string_equal(spec.env[3], "D=");
    assert_string_equal(spec.workdir, "/src");
    assert_string_equal(spec.image, "repo/img:1");
    assert_string_equal(spec.project, "vision");
    assert_int_equal(spec.pool_count, 2);
    assert_string_equal(spec.pools[1], "v100");
    assert_true(spec.slots_milli == 4000);
    assert_true(spec.cpu_milli == 500);
    assert_true(spec.memory_bytes == (int64_t)64 << 30);
    assert_int_equal(spec.resource_count, 2);
    assert_string_equal(spec.resources[0].name, "foo");
    assert_true(spec.resources[0].milli == 2000);
    assert_true(spec.resources[1].milli == 125);
    assert_int_equal(spec.instances, 3);
    assert_true(spec.gang);
    assert_int_equal(spec.priority, 90);
    assert_false(spec.preemptible);
    assert_false(spec.repeatable);
    assert_true(spec.time_limit_ms == 7200000);
    assert_true(spec.grace_ms == 90000);
    assert_int_equal(spec.max_retries, 5);
    assert_int_equal(spec.depends_count, 2);
    assert_true(spec.depends_on[1] == 9);
    assert_int_equal(spec.tag_count, 2);
    assert_string_equal(spec.tags[1], "b c");
    assert_true(spec.stage);
}

static void preemptible_depends_on_the_kind_unless_given(void **state)
{
    (void)state;
    assert_true(reads("{\"command\":[\"x\"],\"kind\":\"experiment\"}").preemptible);
    assert_false(reads("{\"command\":[\"x\"],\"kind\":\"notebook\"}").preemptible);
    assert_false(reads("{\"command\":[\"x\"],\"kind\":\"service\"}").preemptible);
    assert_true(reads("{\"preemptible\":true,\"command\":[\"x\"],\"kind\":\"shell\"}").preemptible);
}

static void an_entrypoint_is_a_shell_line(void **state)
{
    (void)state;
    struct task_spec spec = reads("entrypoint: python train.py && echo done");
    assert_int_equal(spec.argv_count, 3);
    assert_string_equal(spec.argv[0], "sh");
    assert_string_equal(spec.argv[1], "-c");
    assert_string_equal(spec.argv[2], "python train.py && echo done");
    assert_int_equal(reads("entrypoint: [a, b]").argv_count, 2);
}

static void determined_spellings_are_understood(void **state)
{
    (void)state;
    struct task_spec spec = reads("entrypoint: x\nresources: {resource_pool: gpu-pool, slots: 8}");
    assert_int_equal(spec.pool_count, 1);
    assert_string_equal(spec.pools[0], "gpu-pool");
    assert_true(spec.slots_milli == 8000);
    assert_int_equal(spec.resource_count, 0);
}

static void gpus_are_slots_that_need_devices(void **state)
{
    (void)state;
    struct task_spec spec = reads("{\"command\":[\"x\"],\"resources\":{\"gpu\":2}}");
    assert_true(spec.slots_milli == 2000);
    assert_true(spec.needs_gpu);
    spec = reads("{\"command\":[\"x\"],\"resources\":{\"gpu\":0.25}}");
    assert_true(spec.slots_milli == 250);
    assert_true(spec.needs_gpu);
    spec = reads("{\"command\":[\"x\"],\"resources\":{\"slots\":0.5}}");
    assert_true(spec.needs_gpu);
    spec = reads("{\"command\":[\"x\"],\"resources\":{\"gpu\":0}}");
    assert_true(spec.slots_milli == 0);
    assert_false(spec.needs_gpu);
    spec = reads("{\"command\":[\"x\"],\"resources\":{\"gpu\":2,\"gpu_memory\":\"16Gi\"}}");
    assert_true(spec.slots_milli == 2000);
    assert_true(spec.gpu_memory_bytes == (int64_t)16 << 30);
    assert_int_equal(spec.stale_grace_ms, STALE_GRACE_POOL);
    assert_int_equal(spec.preemption_delay_ms, PREEMPTION_DELAY_POOL);
    spec = reads("command: [x]\nstale_grace: never\npreemption_delay: 90s\n");
    assert_true(spec.stale_grace_ms == STALE_GRACE_NEVER);
    assert_true(spec.preemption_delay_ms == 90000);
    spec = reads("command: [x]\nstale_grace: 2m\n");
    assert_true(spec.stale_grace_ms == 120000);
    spec = reads("{\"command\":[\"x\"],\"avoid\":[\"n1\",\"n2\"]}");
    assert_int_equal(spec.avoid_count, 2);
    assert_string_equal(spec.avoid[1], "n2");
    spec = reads("{\"command\":[\"x\"],\"devices\":[0,3]}");
    assert_true(spec.device_mask == 9);
    assert_true(spec.slots_milli == 2000);
    assert_true(spec.needs_gpu);
}

static void parts_of_devices_are_shares_or_memory(void **state)
{
    (void)state;
    struct task_spec spec = reads("{\"command\":[\"x\"],\"resources\":{\"gpu_memory\":\"16Gi\"}}");
    assert_true(spec.slots_milli == ASK_NOTHING);
    assert_true(spec.gpu_memory_bytes == (int64_t)16 << 30);
    assert_true(spec.needs_gpu);
    spec = reads("{\"command\":[\"x\"],\"resources\":{\"gpu_memory\":\"1Gi\",\"gpu_devices\":3}}");
    assert_int_equal(spec.gpu_devices, 3);
    spec = reads("{\"command\":[\"x\"],\"resources\":{\"gpu\":0.5,\"gpu_devices\":2}}");
    assert_true(spec.slots_milli == 500);
    assert_int_equal(spec.gpu_devices, 2);
    spec = reads("{\"command\":[\"x\"],\"resources\":{\"gpu\":0.5},\"devices\":[0,3]}");
    assert_true(spec.slots_milli == 500);
    assert_true(spec.device_mask == 9);
    spec = reads("{\"command\":[\"x\"],\"resources\":{\"gpu_memory\":\"1Gi\"},\"devices\":[1]}");
    assert_true(spec.slots_milli == ASK_NOTHING);
    assert_true(spec.device_mask == 2);
    const char *parts = "resources.gpu_devices: it needs a request for a part of a device: gpu "
                        "below 1, or gpu_memory without gpu";
    refuses("{\"command\":[\"x\"],\"resources\":{\"gpu_devices\":2}}", "resources.gpu_devices",
            parts);
    refuses("{\"command\":[\"x\"],\"resources\":{\"gpu\":2,\"gpu_devices\":2}}",
            "resources.gpu_devices", parts);
    refuses("{\"command\":[\"x\"],\"resources\":{\"gpu\":0.5,\"gpu_devices\":3},\"devices\":[0,3]}",
            "devices", "devices: names 2 devices, but gpu_devices is another number");
}

static void an_array_is_instances_from_a_first_index(void **state)
{
    (void)state;
    struct task_spec spec = reads("{\"command\":[\"x\"],\"array\":\"5-104\"}");
    assert_int_equal(spec.instances, 100);
    assert_int_equal(spec.array_first, 5);
}

static void null_counts_as_not_given(void **state)
{
    (void)state;
    struct task_spec spec = reads("{\"command\":[\"x\"],\"name\":null,\"priority\":null}");
    assert_string_equal(spec.name, "");
    assert_int_equal(spec.priority, 50);
}

static void wrong_amounts_are_refused_by_path(void **state)
{
    (void)state;
    const char *form = "resources.foo: an amount is a number of 0 or more with at most three "
                       "decimal places, like 2 or 0.5, not '%s'";
    const char *bad[] = {"-1", "NaN", "1e99", "x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char field[64];
        char message[240];
        (void)snprintf(field, sizeof field, "resources: {foo: %s}", bad[i]);
        size_t head = strlen(form) - 3;
        (void)snprintf(message, sizeof message, "%.*s%s'", (int)head, form, bad[i]);
        refuses_field(field, "resources.foo", message);
    }
    refuses_field("resources: {foo: }", "resources.foo",
                  "resources.foo: an amount is missing, like foo: 1");
    refuses("{\"command\":[\"x\"],\"resources\":{\"foo\":\"5\"}}", "resources.foo",
            "resources.foo: an amount (a number of 0 or more) is wanted, not a text");
    refuses("{\"command\":[\"x\"],\"resources\":{\"\":1}}", "resources.",
            "resources.: the name of a resource is empty");
    refuses_field("resources: [foo]", "resources",
                  "resources: a map of names and amounts is wanted, like {slots: 1}, not a list");
    refuses_field("resources: {gpu: 1.5}", "resources.gpu",
                  "resources.gpu: a number above 1 must be whole (a number below 1 is a part of "
                  "one device), not '1.5'");
    refuses_field("resources: {gpu: 1, slots: 2}", "resources.gpu",
                  "resources.gpu: gpu and slots are the same thing; give one of them");
    refuses_field("devices: [1]\nresources: {slots: 2}", "devices",
                  "devices: names 1 devices, but slots is another number");
    refuses_field("devices: [1, 1]", "devices[1]", "devices[1]: device 1 comes twice");
    refuses_field("stale_grace: soon", "stale_grace",
                  "stale_grace: a duration is like 2h, 1h30m, 90s or 250ms, or a number of "
                  "seconds, not 'soon'");
    refuses_field("preemption_delay: -1s", "preemption_delay",
                  "preemption_delay: a duration is like 2h, 1h30m, 90s or 250ms, or a number "
                  "of seconds, not '-1s'");
    refuses_field("avoid: n1", "avoid", "avoid: a list of at most 16 names is wanted, not a text");
    refuses_field("avoid: [n1, '']", "avoid[1]", "avoid[1]: the name of a node is empty");
    refuses_field("devices: [64]", "devices[0]",
                  "devices[0]: a whole number from 0 to 63 is wanted, not 64");
}

static void a_name_twice_is_refused_by_the_document(void **state)
{
    (void)state;
    struct doc *doc = NULL;
    struct error e;
    const char *text = "command: [x]\nresources: {foo: 1, foo: 2}";
    assert_int_equal(doc_yaml_parse(&arena, str_of(text), &doc, &e), ERR_INVALID);
    assert_string_equal(e.path, "resources.foo");
    assert_string_equal(e.text, "line 2, column 21: the key 'foo' stands twice");
}

static void unknown_fields_are_refused_with_the_nearest_name(void **state)
{
    (void)state;
    refuses_field("pirority: 5", "pirority", "pirority: unknown field; did you mean 'priority'?");
    refuses_field("xyz: 5", "xyz", "xyz: unknown field");
    refuses_field("slots: 5", "slots",
                  "slots: it belongs under resources, like resources: {slots: 1}");
    refuses_field("user: root", "user",
                  "user: the token of the request says who the user is; the field cannot be given");
    refuses_field("fallback: {}", "fallback",
                  "fallback: it names no condition, like {after: 5m} or {on: [no-capacity, lost]}");
    refuses_field("fallback: {after: 0s}", "fallback.after",
                  "fallback.after: it must be longer than 0; without `after` time opens no pool");
    refuses_field("fallback: {on: [full]}", "fallback.on[0]",
                  "fallback.on[0]: no-capacity or lost is wanted, not 'full'");
    refuses_field("fallback: {on: 5}", "fallback.on",
                  "fallback.on: no-capacity or lost is wanted, not '5'");
}

static void wrong_kinds_of_values_are_refused(void **state)
{
    (void)state;
    refuses("[]", "", "1 to 100000 tasks are wanted, not 0");
    refuses("\"x\"", "", "a map of fields is wanted, not a text");
    refuses("{}", "command",
            "command: it is missing: what to run, like [\"python\", \"train.py\"]");
    refuses("{\"command\":\"ls -l\"}", "command",
            "command: a list of texts is wanted, not a text, like [python, train.py]; a shell line "
            "goes into 'entrypoint'");
    refuses("{\"command\":[]}", "command", "command: a list of 1 to 4096 texts is wanted, not 0");
    refuses("[{\"command\":[\"x\"]},{\"command\":[\"x\",{}]}]", "[1].command[1]",
            "[1].command[1]: a text is wanted, not a map");
    refuses("{\"command\":[\"\"]}", "command[0]", "command[0]: the program's name is empty");
    refuses("{\"command\":[\"x\"],\"entrypoint\":\"x\"}", "command",
            "command: command and entrypoint are both given");
    refuses("{\"command\":[\"x\"],\"array\":\"0-9\",\"instances\":3}", "array",
            "array: array and instances are both given");
    refuses("{\"command\":[\"x\"],\"pool\":\"a\",\"pools\":[\"b\"]}", "pools",
            "pools: the pool is given twice (also in line 1)");
    refuses_field("priority: 101", "priority",
                  "priority: a whole number from 1 to 100 is wanted, not 101");
    refuses_field("priority: '50'", "priority",
                  "priority: a whole number from 1 to 100 is wanted, not the text '50'");
    refuses_field("gang: maybe", "gang", "gang: true or false is wanted, not a text");
    refuses_field("kind: job", "kind",
                  "kind: experiment, command, shell, notebook, tensorboard or service is wanted, "
                  "not 'job'");
    refuses_field("time_limit: soon", "time_limit",
                  "time_limit: a duration is like 2h, 1h30m, 90s or 250ms, or a number of seconds, "
                  "not 'soon'");
    refuses_field("env: {A=B: 1}", "env.A=B",
                  "env.A=B: the name of an environment variable is not empty and has no '=' and no "
                  "control characters, not 'A=B'");
    refuses_field("pools: [a b]", "pools[0]",
                  "pools[0]: the name of a pool is made of letters, digits, '-', '_' and '.' and "
                  "starts with a letter or digit, not 'a b'");
    refuses_field("depends_on: [0]", "depends_on[0]",
                  "depends_on[0]: a whole number from 1 to 9223372036854775807 is wanted, not 0");
    refuses_field("tags: ['']", "tags[0]", "tags[0]: it is empty");
    refuses_field("name: \"a\\nb\"", "name",
                  "name: control characters (line breaks too) are not possible here");
}

static void all_texts_together_are_bounded(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_add_str(&text, "{\"command\":[\"x\"");
    for (int i = 0; i < 3000; i++) {
        buf_addf(&text, ",\"%0100d\"", i);
    }
    buf_add_str(&text, "]}");
    refuses(buf_text(&text), "",
            "all texts of the task together are 303002 bytes; at most 262144 are allowed");
    buf_done(&text);
}

static void a_file_error_names_file_line_and_column(void **state)
{
    (void)state;
    struct task_file file = {0};
    struct problems problems;
    struct error e;
    const char *text = "name: x\ncommand: [x]\nresources:\n  foo: -1\n";
    assert_int_equal(task_file_read(str_of(text), "task.yaml", &arena, &file, &problems, &e),
                     ERR_INVALID);
    assert_non_null(strstr(e.text, "task.yaml:4:8: resources.foo: an amount is a number"));
    assert_string_equal(e.path, "resources.foo");
    assert_int_equal(task_file_read(str_of("a: [b"), "t.yaml", &arena, &file, &problems, &e),
                     ERR_INVALID);
    assert_non_null(strstr(e.text, "t.yaml:2:1: "));
    assert_null(strstr(e.text, "line"));
    text = "- command: [x]\n- command: [y]\n";
    assert_int_equal(task_file_read(str_of(text), "t.yaml", &arena, &file, &problems, &e), ERR_OK);
    assert_int_equal(file.count, 2);
    assert_string_equal(file.specs[1].argv[0], "y");
}

static void a_report_has_every_problem_with_its_line(void **state)
{
    (void)state;
    struct task_file file = {0};
    struct problems problems;
    struct error e;
    const char *text = "comand: [x]\nname: \"日本\"\nenv: {\"日=a\": 1}\npriority: 1e3\n";
    assert_int_equal(task_file_read(str_of(text), "t.yaml", &arena, &file, &problems, &e),
                     ERR_INVALID);
    assert_int_equal(problems.total, 4);
    const char *report = problem_report(&problems, "t.yaml", str_of(text), &arena);
    assert_non_null(strstr(report, "t.yaml:1:1: comand: unknown field; did you mean 'command'?\n"
                                   "    comand: [x]\n"
                                   "    ^\n"));
    assert_non_null(strstr(report, "t.yaml:3:7: env.日=a: "));
    assert_non_null(strstr(report, "t.yaml:4:11: priority: a whole number from 1 to 100 is wanted, "
                                   "not 1e3\n"
                                   "    priority: 1e3\n"
                                   "              ^\n"));
    text = "{\"日本\": {}, \"x\": 1}";
    assert_int_equal(task_file_read(str_of(text), "t.json", &arena, &file, &problems, &e),
                     ERR_INVALID);
    report = problem_report(&problems, "t.json", str_of(text), &arena);
    assert_non_null(strstr(report, "t.json:1:12: x: unknown field\n"
                                   "    {\"日本\": {}, \"x\": 1}\n"
                                   "                 ^\n"));
}

static void a_report_shows_a_part_of_a_long_line(void **state)
{
    (void)state;
    struct task_file file = {0};
    struct problems problems;
    struct error e;
    const char *text = arena_fmt(&arena, "{\"name\": \"%0300d\", \"x\": \"%0300d\"}", 0, 0);
    assert_int_equal(task_file_read(str_of(text), "t.json", &arena, &file, &problems, &e),
                     ERR_INVALID);
    const char *report = problem_report(&problems, "t.json", str_of(text), &arena);
    assert_non_null(strstr(report, "    …0000"));
    assert_non_null(strstr(report, "0000…\n"));
    assert_true(strlen(report) < 1000);
}

static void a_partial_file_may_leave_out_the_command(void **state)
{
    (void)state;
    struct task_file file = {.partial = true};
    struct problems problems;
    struct error e;
    assert_int_equal(
        task_file_read(str_of("priority: 7\n"), "t.yaml", &arena, &file, &problems, &e), ERR_OK);
    assert_int_equal(task_file_read(str_of("priorty: 7\n"), "t.yaml", &arena, &file, &problems, &e),
                     ERR_INVALID);
    assert_int_equal(problems.total, 1);
}

static void a_topology_makes_a_gang(void **state)
{
    (void)state;
    struct task_spec spec =
        reads("command: [true]\ninstances: 3\ntopology: {required: zone, preferred: rack}\n");
    assert_true(spec.gang);
    assert_string_equal(spec.topology.required, "zone");
    assert_string_equal(spec.topology.preferred, "rack");
    refuses_field("topology: {}", "topology", "topology: it names no level, like {required: rack}");
    refuses_field(
        "topology: {required: a b}", "topology.required",
        "topology.required: a label's key has 1 to 255 letters, digits, '-', '_', '.' and "
        "'/', not 'a b'");
    refuses_field("topology: {requires: rack}", "topology.requires",
                  "topology.requires: unknown field; did you mean 'required'?");
    refuses_field("array: \"0-3\"\ntopology: {required: rack}", "array",
                  "array: an array cannot be a gang");
}

static void groups_are_a_tree_in_order(void **state)
{
    (void)state;
    struct task_spec spec =
        reads("command: [true]\n"
              "resources: {slots: 2}\n"
              "groups:\n"
              "  - {name: leader, instances: 1, resources: {gpu: 1, foo: 3}}\n"
              "  - {name: replicas, topology: {required: rack},\n"
              "     groups: [{name: a, instances: 2}, {name: b, instances: 3}]}\n");
    assert_true(spec.gang);
    assert_int_equal(spec.instances, 6);
    assert_int_equal(spec.group_count, 4);
    assert_string_equal(spec.groups[0].name, "leader");
    assert_int_equal(spec.groups[0].asks->slots_milli, 1000);
    assert_true(spec.groups[0].asks->needs_gpu);
    assert_string_equal(spec.groups[0].asks->resources[0].name, "foo");
    assert_int_equal(spec.groups[1].instances, 0);
    assert_string_equal(spec.groups[1].topology.required, "rack");
    assert_int_equal(spec.groups[2].parent, 2);
    assert_int_equal(spec.groups[3].parent, 2);
    assert_null(spec.groups[3].asks);
}

static void groups_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    refuses_field("groups: []", "groups", "groups: a list of groups is wanted, not an empty one");
    refuses_field("groups: [{name: a}]", "groups[0]",
                  "groups[0]: a group has either instances or groups");
    refuses_field("groups: [{name: a, instances: 1}, {name: a, instances: 1}]", "groups[1]",
                  "groups[1]: two groups have the name 'a'");
    refuses_field(
        "instances: 2\ngroups: [{name: a, instances: 1}]", "groups",
        "groups: instances, min_instances and array cannot be given together with groups");
    refuses_field(
        "groups: [{name: a, instances: 1, resources: {slots: -1}}]", "groups[0].resources.slots",
        "groups[0].resources.slots: an amount is a number of 0 or more with at most three decimal "
        "places, like 2 or 0.5, not '-1'");
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults_are_those_of_a_command),
        TEST(every_field_is_read),
        TEST(preemptible_depends_on_the_kind_unless_given),
        TEST(an_entrypoint_is_a_shell_line),
        TEST(determined_spellings_are_understood),
        TEST(gpus_are_slots_that_need_devices),
        TEST(parts_of_devices_are_shares_or_memory),
        TEST(an_array_is_instances_from_a_first_index),
        TEST(null_counts_as_not_given),
        TEST(wrong_amounts_are_refused_by_path),
        TEST(a_name_twice_is_refused_by_the_document),
        TEST(unknown_fields_are_refused_with_the_nearest_name),
        TEST(wrong_kinds_of_values_are_refused),
        TEST(a_topology_makes_a_gang),
        TEST(groups_are_a_tree_in_order),
        TEST(groups_that_make_no_sense_are_refused),
        TEST(all_texts_together_are_bounded),
        TEST(a_file_error_names_file_line_and_column),
        TEST(a_report_has_every_problem_with_its_line),
        TEST(a_report_shows_a_part_of_a_long_line),
        TEST(a_partial_file_may_leave_out_the_command),
    };
    return cmocka_run_group_tests_name("task_file", tests, NULL, NULL);
}
