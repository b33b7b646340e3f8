/* test_args.c - the command line by the command table
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/args.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { WORDS_MAX = 16 };

struct line {
    char *words[WORDS_MAX];
    int count;
    struct args args;
    struct error e;
    enum err r;
};

/* Parses the words behind a command's name; call line_done() after. */
static void line_parse(struct line *line, const char *command, const char *text)
{
    static char storage[512];
    *line = (struct line){0};
    char *name[COMMAND_WORDS_MAX] = {0};
    char copy[64];
    assert_true(str_copy(copy, sizeof copy, command));
    assert_true(str_copy(storage, sizeof storage, text));
    char *rest;
    int names = 0;
    for (char *p = strtok_r(copy, " ", &rest); p != NULL; p = strtok_r(NULL, " ", &rest)) {
        name[names++] = p;
    }
    for (char *p = strtok_r(storage, " ", &rest); p != NULL; p = strtok_r(NULL, " ", &rest)) {
        line->words[line->count++] = p;
    }
    int used;
    const struct command *found = command_find(names, name, &used);
    assert_non_null(found);
    line->r = args_parse(found, line->count, line->words, &line->args, &line->e);
}

static void line_done(struct line *line)
{
    args_done(&line->args);
}

static void flags_are_read_in_every_spelling(void **state)
{
    (void)state;
    struct line line;
    line_parse(&line, "run", "--slots 2 --priority=7 -t 2h -ea=b -e c=d --gang -- echo --slots 9");
    assert_int_equal(line.r, ERR_OK);
    assert_string_equal(args_text(&line.args, "slots"), "2");
    assert_int_equal(args_number(&line.args, "priority", 0), 7);
    assert_int_equal(args_duration(&line.args, "time", 0), 7200000);
    assert_true(args_has(&line.args, "gang"));
    assert_false(args_has(&line.args, "stage"));
    size_t cursor = 0;
    assert_string_equal(args_each(&line.args, "env", &cursor), "a=b");
    assert_string_equal(args_each(&line.args, "env", &cursor), "c=d");
    assert_null(args_each(&line.args, "env", &cursor));
    assert_int_equal(line.args.rest_count, 3);
    assert_string_equal(line.args.rest[1], "--slots");
    line_done(&line);
}

static void the_first_word_of_a_command_ends_the_flags(void **state)
{
    (void)state;
    struct line line;
    line_parse(&line, "run", "--gang ls -l --help");
    assert_int_equal(line.r, ERR_OK);
    assert_int_equal(line.args.rest_count, 3);
    assert_string_equal(line.args.rest[0], "ls");
    assert_false(args_has(&line.args, "help"));
    line_done(&line);
}

static void an_optional_value_needs_an_equals_sign(void **state)
{
    (void)state;
    struct line line;
    line_parse(&line, "task show", "--json 12");
    assert_int_equal(line.r, ERR_OK);
    assert_true(args_has(&line.args, "json"));
    assert_null(args_text(&line.args, "json"));
    assert_string_equal(line.args.words[0], "12");
    line_done(&line);
    line_parse(&line, "task list", "--json=lines -qw");
    assert_string_equal(args_text(&line.args, "json"), "lines");
    assert_true(args_has(&line.args, "quiet"));
    assert_true(args_has(&line.args, "watch"));
    line_done(&line);
}

static void the_last_of_two_wins(void **state)
{
    (void)state;
    struct line line;
    line_parse(&line, "run", "--slots 2 --slots 4 true");
    assert_string_equal(args_text(&line.args, "slots"), "4");
    line_done(&line);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *command;
        const char *line;
        const char *says;
    } cases[] = {
        {"run", "--slot 2 true", "unknown flag --slot; did you mean --slots?"},
        {"run", "--prioirty 2 true", "did you mean --priority?"},
        {"run", "--xyzzyfoo true", "`weir run --help` lists them"},
        {"run", "--priority high true", "--priority is 'high'; a whole number"},
        {"run", "--time soon true", "--time: "},
        {"run", "--kind job true",
         "--kind is 'job'; it can be experiment, command, shell, notebook, tensorboard or service"},
        {"run", "--gang=yes true", "--gang takes no value"},
        {"run", "--priority", "--priority needs a value: --priority N"},
        {"run", "-Z", "unknown flag -Z"},
        {"task show", "", "`weir task show` needs TASK"},
        {"task show", "1 2", "'2' is one argument too many"},
        {"task list", "--json=xml", "--json is 'xml'; it can be lines"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct line line;
        line_parse(&line, cases[i].command, cases[i].line);
        assert_int_equal(line.r, ERR_USAGE);
        if (strstr(line.e.text, cases[i].says) == NULL) {
            fail_msg("'%s' does not say '%s'", line.e.text, cases[i].says);
        }
        line_done(&line);
    }
}

static void many_short_switches_in_one_word_are_fine(void **state)
{
    (void)state;
    struct line line;
    line_parse(&line, "task list",
               "-qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq");
    assert_int_equal(line.r, ERR_OK);
    assert_int_equal(line.args.flags.count, 64);
    line_done(&line);
}

/* What the table promises to help, completion and the manual. */
static void every_command_is_complete(void **state)
{
    (void)state;
    struct command_cursor cursor = {0};
    size_t count = 0;
    for (const struct command *c = command_next(&cursor); c != NULL; c = command_next(&cursor)) {
        count++;
        assert_non_null(c->args);
        assert_non_null(c->help);
        assert_true(c->role == (c->run == NULL));
        assert_true(c->hidden || c->examples != NULL);
        assert_true(c->args_min <= c->args_max || c->takes_rest);
        for (size_t g = 0; g < COMMAND_GROUPS_MAX && c->groups[g] != NULL; g++) {
            for (const struct flag *f = c->groups[g]; f->name != NULL; f++) {
                /* Only the flag of a field that is always refused has no help. */
                assert_true(f->help != NULL || strcmp(f->name, "image") == 0);
                assert_true(f->type == FLAG_BOOL || f->value != NULL);
                /* No flag hides another of the same name or letter. */
                assert_ptr_equal(command_flag(c, f->name, strlen(f->name), 0), f);
                assert_true(f->letter == 0 || command_flag(c, NULL, 0, f->letter) == f);
            }
        }
    }
    assert_true(count > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_are_read_in_every_spelling),
        cmocka_unit_test(the_first_word_of_a_command_ends_the_flags),
        cmocka_unit_test(an_optional_value_needs_an_equals_sign),
        cmocka_unit_test(the_last_of_two_wins),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(many_short_switches_in_one_word_are_fine),
        cmocka_unit_test(every_command_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
