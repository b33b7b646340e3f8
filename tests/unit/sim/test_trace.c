/* test_trace.c - traces of the known formats, and what is wrong with others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace.h"

#include "sim/models.h"
#include "sim/trace_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct scenario scenario;

static int setup(void **state)
{
    (void)state;
    scenario_init(&scenario);
    struct label *label = arena_new(&scenario.arena, struct label, 1);
    *label = (struct label){MODEL_LABEL, "T4"};
    const struct cluster_node node = {.spec = {.name = "n1",
                                               .labels = label,
                                               .label_count = 1,
                                               .slots_milli = 8000,
                                               .device_count = 8}};
    for (size_t i = 0; i < 32; i++) {
        vec_push(&scenario.nodes, node);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scenario_done(&scenario);
    return 0;
}

static void reads(const char *text, const char *format, const char *columns)
{
    const struct trace_options how = {.file = "t.csv", .format = format, .columns = columns};
    struct error e = {0};
    if (trace_read(&how, str_of(text), &scenario, &e) != ERR_OK) {
        fail_msg("%s", e.text);
    }
}

static void refuses(const char *text, const char *format, const char *columns, const char *message)
{
    const struct trace_options how = {.file = "t.csv", .format = format, .columns = columns};
    struct error e = {0};
    assert_int_not_equal(trace_read(&how, str_of(text), &scenario, &e), ERR_OK);
    if (strstr(e.text, message) == NULL) {
        fail_msg("'%s' does not say '%s'", e.text, message);
    }
}

static void philly_has_dates_and_clusters(void **state)
{
    (void)state;
    reads("timestamp,duration,num_gpus,gpu_time,cluster\n"
          "2017-10-01 00:00:45,30,1,30,6214e9\n"
          "2017-10-01 00:01:55,61.5,24,61,11cb48\n",
          "philly", NULL);
    assert_int_equal(scenario.jobs.count, 2);
    const struct job *first = &scenario.jobs.at[0];
    const struct job *second = &scenario.jobs.at[1];
    assert_int_equal(first->at_ms, 0);
    assert_int_equal(first->runs_ms, 30000);
    assert_string_equal(first->kind->spec.project, "6214e9");
    assert_true(first->kind->spec.needs_gpu);
    assert_int_equal(second->at_ms, 70000);
    assert_int_equal(second->runs_ms, 61500);
    /* Larger than a node: a gang of the largest equal parts. */
    assert_int_equal(second->kind->spec.slots_milli, 8000);
    assert_int_equal(second->kind->spec.instances, 3);
    assert_true(second->kind->spec.gang);
}

static void a_trace_may_have_dates(void **state)
{
    (void)state;
    reads("submit,duration\n5,10\n", "csv", NULL);
    assert_int_equal(scenario.begins_ms, 0);
    reads("; UnixStartTime: 749458803\n 1 100 5 60 4 -1 -1 4 120 -1 1 7 3 -1 1 -1 -1 -1\n", "swf",
          NULL);
    assert_int_equal(scenario.begins_ms, 749458903000);
}

static void arrivals_that_are_stretched_have_no_dates(void **state)
{
    (void)state;
    const struct trace_options how = {.file = "t.csv", .arrivals = 5178};
    const char *text = "submit,duration\n2017-10-01 00:00:45,30\n";
    struct error e;
    assert_int_equal(trace_read(&how, str_of(text), &scenario, &e), ERR_OK);
    assert_int_equal(scenario.begins_ms, 0);
    reads(text, "csv", NULL);
    assert_int_equal(scenario.begins_ms, 1506816045000);
}

static void openb_has_shares_and_models(void **state)
{
    (void)state;
    struct error e;
    reads("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
          "deletion_time,scheduled_time\n"
          "a,6000,12288,1,460,,LS,Running,10,40,20\n"
          "b,4000,8192,2,1000,T4|P100,LS,Running,10,40,\n"
          "c,4000,8192,0,0,,LS,Running,10,40,20\n",
          "openb", NULL);
    assert_int_equal(models_apply(&scenario, &e), ERR_OK);
    const struct task_spec *share = &scenario.jobs.at[0].kind->spec;
    assert_int_equal(share->slots_milli, 460);
    assert_int_equal(share->cpu_milli, 6000);
    assert_int_equal(share->memory_bytes, 12288LL << 20);
    assert_int_equal(share->resource_count, 0);
    assert_int_equal(scenario.jobs.at[0].runs_ms, 20000);
    assert_int_equal(scenario.jobs.at[1].runs_ms, 30000);
    const struct task_spec *chosen = &scenario.jobs.at[1].kind->spec;
    assert_int_equal(chosen->slots_milli, 2000);
    assert_int_equal(chosen->resource_count, 1);
    assert_int_equal(scenario.nodes.at[0].spec.resource_count, 1);
    assert_string_equal(scenario.nodes.at[0].spec.resources[0].name, chosen->resources[0].name);
    assert_false(scenario.jobs.at[2].kind->spec.needs_gpu);
    assert_int_equal(scenario.jobs.at[2].kind->spec.slots_milli, 0);
}

static void swf_has_comments_and_missing_values(void **state)
{
    (void)state;
    reads("; UnixStartTime: 0\n"
          "  1  100  5  60  4 -1 -1  4  120 -1 1 7 3 -1 1 -1 -1 -1\n"
          "  2  130  5  30 -1 -1 -1  2   -1 -1 1 7 3 -1 1 -1 -1 -1\n",
          "swf", NULL);
    assert_int_equal(scenario.jobs.count, 2);
    assert_int_equal(scenario.jobs.at[0].kind->spec.slots_milli, 4000);
    assert_int_equal(scenario.jobs.at[0].kind->spec.time_limit_ms, 120000);
    assert_false(scenario.jobs.at[0].kind->spec.needs_gpu);
    assert_int_equal(scenario.jobs.at[1].at_ms, 30000);
    assert_int_equal(scenario.jobs.at[1].kind->spec.slots_milli, 2000);
    assert_int_equal(scenario.jobs.at[1].kind->spec.time_limit_ms, 0);
    assert_string_equal(scenario.jobs.at[1].kind->spec.user, "7");
    assert_string_equal(scenario.jobs.at[1].kind->spec.project, "3");
}

static void swf_of_a_job_that_never_ran(void **state)
{
    (void)state;
    reads("3 0 -1 -1 8 -1 -1 8 300 -1 5 -1 -1 -1 1 -1 -1 -1\n", "swf", NULL);
    assert_int_equal(scenario.jobs.at[0].runs_ms, 0);
    assert_string_equal(scenario.jobs.at[0].kind->spec.project, "default");
    refuses("; c\n1 0 5 100 4\n", "swf", NULL,
            "t.csv:2:12: the row ends here, with 5 of the 18 fields of swf");
    refuses("1 0 5 1 4 1 1 1 1 1 1 1 1 1 1 1 1 1\n", "swf", "priority=#19",
            "there is no column '#19'; swf has #1 to #18");
}

static void headers_may_use_semicolons_or_tabs(void **state)
{
    (void)state;
    reads("submit;duration;gpus\r\n0;5;1\r\n", "csv", NULL);
    reads("submit\tduration\tgpus\n0\t5\t2\n", "csv", NULL);
    assert_int_equal(scenario.jobs.at[0].kind->spec.slots_milli, 1000);
    assert_int_equal(scenario.jobs.at[1].kind->spec.slots_milli, 2000);
}

static void rows_are_as_wide_as_the_header(void **state)
{
    (void)state;
    reads("submit,duration,gpus\n0,5,1,\n", "csv", NULL); /* a separator too many is nothing */
    refuses("submit,duration,gpus\n0,5,1,7\n", "csv", NULL,
            "t.csv:2:7: the header names 3 columns, and here is one more");
    refuses("submit,duration,gpus\n0,5\n", "csv", NULL, "t.csv:2:4: the row ends here, with 2 of");
    refuses("submit,duration,gpus\n0,5,\"1\n", "csv", NULL, "t.csv:2:5: the quote is not closed");
    refuses("submit,duration,gpus\n0,-1,1\n", "csv", NULL, "t.csv:2:3: duration: a number of 0");
    refuses("submit,duration,gpus\n0,,1\n", "csv", NULL, "t.csv:2:3: duration: a number of 0");
    refuses("submit,gpus\n0,1\n", "csv", "duration=#9",
            "there is no column '#9'; the header has submit, gpus");
    refuses("when,gpus\n0,1\n", "csv", NULL, "names it; the header has when, gpus");
}

static void columns_can_be_named_counted_and_left_out(void **state)
{
    (void)state;
    reads("when,how_long,width,team\n5,10,2,vision\n", NULL,
          "submit=when,duration=#2,gpus=width,project=team");
    assert_int_equal(scenario.jobs.at[0].kind->spec.slots_milli, 2000);
    assert_string_equal(scenario.jobs.at[0].kind->spec.project, "vision");
    reads("submit,duration,project\n5,10,vision\n", "csv", "project=-");
    assert_string_equal(scenario.jobs.at[1].kind->spec.project, "default");
}

static void a_column_is_named_once(void **state)
{
    (void)state;
    refuses("submit,duration,gpus,duration\n5,10,1,20\n", "csv", NULL,
            "t.csv:1:22: the header names the column 'duration' twice; --columns duration=#2 reads "
            "the first, --columns duration=#4 this one");
    refuses("submit,duration\n5,10\n", "csv", "gpus=a,gpus=b",
            "columns: 'gpus' gets a column twice");
    reads("submit,note,duration,note,duration\n5,a,10,b,20\n", "csv", "duration=#5");
    assert_int_equal(scenario.jobs.at[0].runs_ms, 20000); /* nobody reads the notes */
}

static const char *project_of(size_t job)
{
    return scenario.jobs.at[job].kind->spec.project;
}

static void different_texts_are_different_projects(void **state)
{
    (void)state;
    reads("submit,duration,project\n1,5,a b\n2,5,a/b\n3,5,a-b\n4,5,a b\n5,5,a-b-2\n6,5,a+b\n",
          "csv", NULL);
    assert_string_equal(project_of(2), "a-b"); /* a text that is a name keeps it */
    assert_string_equal(project_of(4), "a-b-2");
    assert_string_equal(project_of(0), project_of(3));
    const size_t changed[] = {0, 1, 5};
    for (size_t i = 0; i < 3; i++) {
        assert_memory_equal(project_of(changed[i]), "a-b-", 4);
        for (size_t other = 0; other < 6; other++) {
            const bool same = other == changed[i] || (changed[i] == 0 && other == 3);
            assert_int_equal(strcmp(project_of(changed[i]), project_of(other)) == 0, same);
        }
    }
    assert_int_equal(scenario.names_changed, 3);
    assert_non_null(strstr(scenario.name_changed_first, "project 'a b' is 'a-b-"));
}

static void long_texts_are_different_users(void **state)
{
    (void)state;
    char text[512];
    char longest[80];
    memset(longest, 'u', 70);
    longest[70] = '\0';
    (void)snprintf(text, sizeof text, "submit,duration,user\n1,5,%s1\n2,5,%s2\n3,5,%.63s\n",
                   longest, longest, longest);
    reads(text, "csv", NULL);
    const char *first = scenario.jobs.at[0].kind->spec.user;
    const char *second = scenario.jobs.at[1].kind->spec.user;
    assert_string_not_equal(first, second);
    assert_int_equal(strlen(first), 63);
    assert_int_equal(strlen(second), 63);
    assert_memory_equal(scenario.jobs.at[2].kind->spec.user, longest, 64 - 1);
    assert_int_equal(scenario.names_changed, 2);
}

/* 249 is 83 times 3, and 32 nodes of 8 hold 64 parts of 3. The core divides unevenly. */
static void parts_that_find_no_nodes_are_left_to_the_core(void **state)
{
    (void)state;
    reads("submit,duration,gpus\n1,5,249\n2,5,248\n3,5,91\n", "csv", NULL);
    assert_int_equal(scenario.jobs.at[0].kind->spec.slots_milli, 249000);
    assert_int_equal(scenario.jobs.at[0].kind->spec.instances, 1);
    assert_false(scenario.jobs.at[0].kind->spec.gang);
    assert_int_equal(scenario.jobs.at[1].kind->spec.instances, 31);
    assert_int_equal(scenario.jobs.at[2].kind->spec.instances, 13);
    assert_int_equal(scenario.jobs.at[2].kind->spec.slots_milli, 7000);
}

static void equal_rows_share_one_kind(void **state)
{
    (void)state;
    reads("submit,duration,gpus\n1,10,2\n2,20,2\n3,20,1\n", "csv", NULL);
    assert_ptr_equal(scenario.jobs.at[0].kind, scenario.jobs.at[1].kind);
    assert_ptr_not_equal(scenario.jobs.at[0].kind, scenario.jobs.at[2].kind);
}

static void malformed_rows_are_named_by_their_place(void **state)
{
    (void)state;
    refuses("", "csv", NULL, "the file is empty");
    refuses("submit,gpus\n", "csv", NULL, "--columns duration=NAME");
    refuses("duration\n", "csv", NULL, "--columns submit=NAME");
    refuses("submit,duration\nsoon,5\n", "csv", NULL, "t.csv:2:1: submit:");
    refuses("submit,duration\n1,5\n2,-5\n", "csv", NULL, "t.csv:3:3: duration:");
    refuses("submit,duration,gpus\n1,5,1.5\n", "csv", NULL, "t.csv:2:5: an amount above one GPU");
    refuses("submit,start,end\n1,9,5\n", "csv", NULL, "t.csv:2:5: the task ends before it starts");
    refuses("submit,duration,priority\n1,5,101\n", "csv", NULL, "t.csv:2:5: a priority");
    refuses("submit,duration\n1\n", "csv", NULL,
            "t.csv:2:2: the row ends here, with 1 of the 2 columns that the header names");
    refuses("submit,duration,gpus,project\n1,5,1,a\n2,5,1\n", "csv", NULL,
            "t.csv:3:6: the row ends here, with 3 of the 4 columns");
    refuses("submit,duration\n1,5\n2026-01-01 00:00:00,5\n", "csv", NULL,
            "t.csv:3:1: submit: a number of seconds, as in the first row, is wanted, not "
            "'2026-01-01 00:00:00'");
    refuses("duration,submit\n5,2026-01-01 00:00:00\n5,7\n", "csv", NULL,
            "t.csv:3:3: submit: a date and time, as in the first row, is wanted, not '7'");
    refuses("submit,duration\n1,5\n", "parquet", NULL, "not 'parquet'");
    refuses("submit,duration\n1,5\n", "csv", "width=x", "'width=x' is not of the form");
    refuses("submit,duration\n1,5\n", "csv", "gpus=x", "there is no column 'x'");
}

static void bad_rows_can_be_counted_instead(void **state)
{
    (void)state;
    const struct trace_options how = {.file = "t.csv", .skip_bad = true};
    struct error e;
    const char *text = "submit,duration\n1,5\n2,x\n,5\n3,7\n4\n2026-01-01 00:00:00,5\n";
    assert_int_equal(trace_read(&how, str_of(text), &scenario, &e), ERR_OK);
    assert_int_equal(scenario.jobs.count, 2);
    assert_int_equal(scenario.rows_bad, 4);
}

static void what_the_trace_does_not_say_is_said_for_all(void **state)
{
    (void)state;
    const struct trace_options how = {
        .file = "t.csv", .checkpoint_ms = 3600000, .stops_in_ms = 30000};
    struct error e;
    const char *text = "submit,duration,gpus\n1,5,1\n2,5,2\n";
    assert_int_equal(trace_read(&how, str_of(text), &scenario, &e), ERR_OK);
    assert_int_equal(scenario.jobs.count, 2);
    for (size_t i = 0; i < scenario.jobs.count; i++) {
        assert_int_equal(scenario.jobs.at[i].kind->checkpoint_ms, 3600000);
        assert_int_equal(scenario.jobs.at[i].kind->stops_in_ms, 30000);
    }
}

static void arrivals_are_multiplied_and_lengths_are_not(void **state)
{
    (void)state;
    const struct trace_options how = {.file = "t.csv", .arrivals = 5178};
    struct error e;
    const char *text = "submit,duration\n7,5\n9,100\n10,7\n10007,1000\n";
    assert_int_equal(trace_read(&how, str_of(text), &scenario, &e), ERR_OK);
    /* 2, 3 and 10,000 seconds after the first: 1.0356, 1.5534 and 5,178 rounded. */
    const int64_t at_ms[] = {0, 1000, 2000, 5178000};
    const int64_t runs_ms[] = {5000, 100000, 7000, 1000000};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(scenario.jobs.at[i].at_ms, at_ms[i]);
        assert_int_equal(scenario.jobs.at[i].runs_ms, runs_ms[i]);
    }
    const struct trace_options longer = {.file = "t.csv", .arrivals = 10000000};
    assert_int_equal(
        trace_read(&longer, str_of("submit,duration\n0,1\n9999999,1\n"), &scenario, &e),
        ERR_INVALID);
    assert_non_null(strstr(e.text, "more than a hundred years"));
}

static void a_factor_has_four_places(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    ".",       "0",         "0.0000", "-1",
                                      "1e3", "0.51781", "1000.0001", "x"};
    struct error e;
    int64_t factor = 0;
    assert_int_equal(trace_value_factor(str_of("0.5178"), &factor, &e), ERR_OK);
    assert_int_equal(factor, 5178);
    assert_int_equal(trace_value_factor(str_of("2"), &factor, &e), ERR_OK);
    assert_int_equal(factor, 20000);
    assert_int_equal(trace_value_factor(str_of("1.05"), &factor, &e), ERR_OK);
    assert_int_equal(factor, 10500);
    assert_int_equal(trace_value_factor(str_of("1000"), &factor, &e), ERR_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(trace_value_factor(str_of(bad[i]), &factor, &e), ERR_INVALID);
    }
    assert_int_equal(factor, 10000000);
}

static void ages_and_amounts_have_an_end(void **state)
{
    (void)state;
    refuses("submit,duration\n1,99999999999\n", "csv", NULL,
            "t.csv:2:3: duration: nothing takes more than a hundred years");
    refuses("submit,duration,time_limit\n1,5,99999999999\n", "csv", NULL, "t.csv:2:5: time_limit");
    refuses("submit,end\n1,9999-01-01 00:00:00\n", "csv", NULL, "t.csv:2:3: end");
    refuses("submit,duration,memory_mib\n1,5,99999999999\n", "csv", NULL,
            "t.csv:2:5: the amount of memory is too large");
    refuses("submit,duration\n1,5\n99999999999,5\n", "csv", NULL, "more than a hundred years");
}

static void a_trace_ends_at_the_limit_of_tasks(void **state)
{
    (void)state;
    scenario.jobs_max = 2;
    refuses("submit,duration\n1,5\n2,5\n3,5\n", "csv", NULL, "t.csv:4:1: more than 2 tasks");
}

#define WITH_SCENARIO(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCENARIO(philly_has_dates_and_clusters),
        WITH_SCENARIO(a_trace_may_have_dates),
        WITH_SCENARIO(arrivals_that_are_stretched_have_no_dates),
        WITH_SCENARIO(openb_has_shares_and_models),
        WITH_SCENARIO(swf_has_comments_and_missing_values),
        WITH_SCENARIO(swf_of_a_job_that_never_ran),
        WITH_SCENARIO(headers_may_use_semicolons_or_tabs),
        WITH_SCENARIO(rows_are_as_wide_as_the_header),
        WITH_SCENARIO(columns_can_be_named_counted_and_left_out),
        WITH_SCENARIO(equal_rows_share_one_kind),
        WITH_SCENARIO(a_column_is_named_once),
        WITH_SCENARIO(different_texts_are_different_projects),
        WITH_SCENARIO(long_texts_are_different_users),
        WITH_SCENARIO(parts_that_find_no_nodes_are_left_to_the_core),
        WITH_SCENARIO(malformed_rows_are_named_by_their_place),
        WITH_SCENARIO(bad_rows_can_be_counted_instead),
        WITH_SCENARIO(what_the_trace_does_not_say_is_said_for_all),
        WITH_SCENARIO(arrivals_are_multiplied_and_lengths_are_not),
        cmocka_unit_test(a_factor_has_four_places),
        WITH_SCENARIO(ages_and_amounts_have_an_end),
        WITH_SCENARIO(a_trace_ends_at_the_limit_of_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
