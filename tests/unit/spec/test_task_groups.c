/* test_task_groups.c - minimums and labels of groups as users write them, and the errors they get.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/task_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static struct arena arena;

static enum err reads(const char *fields, struct task_spec *ret, struct error *e)
{
    struct doc *doc;
    char text[1024];
    (void)snprintf(text, sizeof text, "command: [true]\n%s\n", fields);
    assert_int_equal(doc_yaml_parse(&arena, str_of(text), &doc, e), ERR_OK);
    return task_file_spec_read(doc, &arena, ret, e);
}

static void refuses(const char *fields, const char *path, const char *message)
{
    struct task_spec spec;
    struct error e = {0};
    assert_int_equal(reads(fields, &spec, &e), ERR_INVALID);
    assert_string_equal(e.path, path);
    assert_string_equal(e.text, message);
}

static void groups_say_how_many_are_needed(void **state)
{
    (void)state;
    struct task_spec spec;
    struct error e = {0};
    assert_int_equal(reads("min_groups: 1\n"
                           "groups:\n"
                           "  - {name: a, instances: 4, min: 2}\n"
                           "  - {name: b, min_groups: 2, groups: [{instances: 1}, {instances: 2}, "
                           "{instances: 3}]}",
                           &spec, &e),
                     ERR_OK);
    assert_true(spec.gang);
    assert_int_equal(spec.min_groups, 1);
    assert_int_equal(spec.group_count, 5);
    assert_int_equal(spec.groups[0].min, 2);
    assert_int_equal(spec.groups[1].min, 2);
    assert_int_equal(spec.groups[2].min, 0);
    assert_int_equal(spec.instances, 10);
}

static void a_group_names_labels_of_its_nodes(void **state)
{
    (void)state;
    struct task_spec spec;
    struct error e = {0};
    assert_int_equal(reads("node_labels: {zone: a}\n"
                           "groups: [{name: a, instances: 1, node_labels: {gpu.model: A100}}, "
                           "{name: b, instances: 1}]",
                           &spec, &e),
                     ERR_OK);
    assert_int_equal(spec.groups[0].node_label_count, 1);
    assert_string_equal(spec.groups[0].node_labels[0].key, "gpu.model");
    assert_string_equal(spec.groups[0].node_labels[0].value, "A100");
    assert_int_equal(spec.groups[1].node_label_count, 0);
    assert_int_equal(spec.node_label_count, 1);
}

static void minimums_that_cannot_be_are_refused(void **state)
{
    (void)state;
    refuses("groups: [{name: a, instances: 2, min: 3}]", "groups[0].min",
            "groups[0].min: it is above instances, which is 2");
    refuses("groups: [{name: a, instances: 2, min: 0}]", "groups[0].min",
            "groups[0].min: a whole number from 1 to 10000 is wanted, not 0");
    refuses("groups: [{name: a, instances: 2, min_groups: 1}]", "groups[0].min_groups",
            "groups[0].min_groups: min_groups is for a group of groups; use min for a group that "
            "has instances");
    refuses("groups: [{name: a, min: 1, groups: [{instances: 1}]}]", "groups[0].min",
            "groups[0].min: min is for a group that has instances; use min_groups for a group of "
            "groups");
    refuses("groups: [{name: a, min_groups: 2, groups: [{instances: 1}]}]", "groups[0].min_groups",
            "groups[0].min_groups: it is above the number of groups, which is 1");
    refuses("min_groups: 3\ngroups: [{instances: 1}, {instances: 1}]", "min_groups",
            "min_groups: it is above the number of groups, which is 2");
    refuses("min_groups: 1", "min_groups", "min_groups: there are no groups");
}

static void labels_that_cannot_be_are_refused(void **state)
{
    (void)state;
    refuses("groups: [{name: a, node_labels: {zone: a}, groups: [{instances: 1}]}]",
            "groups[0].node_labels",
            "groups[0].node_labels: labels belong to the groups that have instances");
    refuses("groups: [{name: a, instances: 1, node_labels: [zone]}]", "groups[0].node_labels",
            "groups[0].node_labels: a map of at most 8 labels is wanted, like {gpu.model: A100}, "
            "not a list");
    refuses("node_labels: {a: 1, b: 1, c: 1, d: 1, e: 1}\n"
            "groups: [{name: a, instances: 1, node_labels: {f: 1, g: 1, h: 1, i: 1}}]",
            "groups",
            "groups: the group 'a' and the task together name 9 labels of nodes; at most 8 are "
            "allowed");
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
        TEST(groups_say_how_many_are_needed),
        TEST(a_group_names_labels_of_its_nodes),
        TEST(minimums_that_cannot_be_are_refused),
        TEST(labels_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests_name("task_groups", tests, NULL, NULL);
}
