/* args.c - see args.h. Accepts `--name value`, `--name=value`, `-n value`, `-nvalue`, and `-abc`
 * for switches. `--` ends the flags. For a command such as `run`, which takes a program to run,
 * the first word that is no flag ends the flags too, as with env(1).
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/args.h"

#include "base/amount.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/suggest.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct args_reader {
    struct args *args;
    int argc;
    char *const *argv;
    int at;
    struct error *e;
};

static enum err unknown_flag(const struct command *command, const char *typed, struct error *e)
{
    size_t len = strcspn(typed, "=");
    auto_free(freep) char *name = xmemdup(typed, len + 1);
    name[len] = '\0';
    struct suggest suggest;
    suggest_init(&suggest, str_of(name));
    for (const struct flag *f = flags_common; f->name != NULL; f++) {
        suggest_offer(&suggest, f->name);
    }
    for (size_t i = 0; i < COMMAND_GROUPS_MAX && command->groups[i] != NULL; i++) {
        for (const struct flag *f = command->groups[i]; f->name != NULL; f++) {
            suggest_offer(&suggest, f->name);
        }
    }
    if (suggest.best != NULL) {
        return fail(e, ERR_USAGE, "unknown flag --%.60s; did you mean --%s?", name, suggest.best);
    }
    return fail(e, ERR_USAGE, "unknown flag --%.60s; `weir %s --help` lists them", name,
                command->name);
}

static bool among(const char *choices, const char *value)
{
    struct str rest = str_of(choices);
    while (rest.p != NULL) {
        struct str one = str_cut(rest, ',', &rest);
        if (str_is(one, value)) {
            return true;
        }
    }
    return false;
}

/* "it can be pack, spread or tight; did you mean 'tight'?" */
static enum err choice_fail(const struct flag *flag, const char *value, struct error *e)
{
    struct buf all;
    char word[SUGGEST_WORD_MAX + 1];
    char best[SUGGEST_WORD_MAX + 1] = "";
    size_t nearest = SIZE_MAX;
    buf_init(&all, ERROR_TEXT_MAX);
    struct str rest = str_of(flag->choices);
    for (size_t i = 0; rest.p != NULL; i++) {
        const struct str one = str_cut(rest, ',', &rest);
        struct suggest suggest;
        buf_addf(&all, "%s%.*s", i == 0 ? "" : rest.p == NULL ? " or " : ", ", (int)one.len, one.p);
        (void)snprintf(word, sizeof word, "%.*s", (int)one.len, one.p);
        suggest_init(&suggest, str_of(value));
        suggest_offer(&suggest, word);
        if (suggest.best != NULL && suggest.distance < nearest) {
            nearest = suggest.distance;
            memcpy(best, word, sizeof best);
        }
    }
    const bool near = best[0] != '\0';
    (void)fail(e, ERR_USAGE, "--%s is '%.60s'; it can be %s%s%s%s", flag->name, value,
               buf_text(&all), near ? "; did you mean '" : "", best, near ? "'?" : "");
    buf_done(&all);
    return ERR_USAGE;
}

static enum err value_check(const struct flag *flag, const char *value, struct error *e)
{
    uint64_t number;
    int64_t ms;
    if (flag->choices != NULL && !among(flag->choices, value)) {
        return choice_fail(flag, value, e);
    }
    if (flag->type == FLAG_NUMBER && !str_to_u64(str_of(value), &number)) {
        const bool large = value[0] != '\0' && value[strspn(value, "0123456789")] == '\0';
        return fail(e, ERR_USAGE, "--%s is '%.60s'; %s", flag->name, value,
                    large ? "no number is that large here"
                          : "a whole number in digits, 0 or more, would do");
    }
    if (flag->type == FLAG_DURATION && amount_duration(str_of(value), &ms, e) != ERR_OK) {
        (void)fail_in(e, "--%s", flag->name);
        e->code = ERR_USAGE;
        return ERR_USAGE;
    }
    return ERR_OK;
}

static enum err flag_add(struct args *args, const struct flag *flag, const char *value,
                         struct error *e)
{
    if (args->flags.count >= ARGS_FLAGS_MAX) {
        return fail(e, ERR_USAGE, "more than %d flags", ARGS_FLAGS_MAX);
    }
    enum err r = value == NULL ? ERR_OK : value_check(flag, value, e);
    if (r != ERR_OK) {
        return r;
    }
    struct arg_flag one = {.flag = flag, .value = value};
    vec_push(&args->flags, one);
    return ERR_OK;
}

static bool takes_value(const struct flag *flag)
{
    return flag->type != FLAG_BOOL && flag->type != FLAG_OPTIONAL;
}

static enum err next_value(struct args_reader *reader, const struct flag *flag, const char **ret)
{
    if (reader->at >= reader->argc) {
        return fail(reader->e, ERR_USAGE, "--%s needs a value: --%s %s", flag->name, flag->name,
                    flag->value);
    }
    *ret = reader->argv[reader->at++];
    return ERR_OK;
}

static enum err long_flag(struct args_reader *reader, const char *text)
{
    size_t len = strcspn(text, "=");
    const struct flag *flag = command_flag(reader->args->command, text, len, 0);
    if (flag == NULL) {
        return unknown_flag(reader->args->command, text, reader->e);
    }
    const char *value = text[len] == '=' ? text + len + 1 : NULL;
    if (value != NULL && flag->type == FLAG_BOOL) {
        return fail(reader->e, ERR_USAGE, "--%s takes no value", flag->name);
    }
    if (value == NULL && takes_value(flag)) {
        enum err r = next_value(reader, flag, &value);
        if (r != ERR_OK) {
            return r;
        }
    }
    return flag_add(reader->args, flag, value, reader->e);
}

static enum err short_flags(struct args_reader *reader, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        const struct flag *flag = command_flag(reader->args->command, NULL, 0, *p);
        if (flag == NULL) {
            return fail(reader->e, ERR_USAGE, "unknown flag -%c; `weir %s --help` lists them", *p,
                        reader->args->command->name);
        }
        const char *value = NULL;
        if (takes_value(flag)) {
            value = p + 1;
            enum err r = *value == '\0' ? next_value(reader, flag, &value) : ERR_OK;
            return r != ERR_OK ? r : flag_add(reader->args, flag, value, reader->e);
        }
        enum err r = flag_add(reader->args, flag, NULL, reader->e);
        if (r != ERR_OK) {
            return r;
        }
    }
    return ERR_OK;
}

/* A global flag that was not given takes its value from WEIR_NAME. WEIR_SERVER is read with the login,
 * because a token belongs to it. */
static enum err environment_take(struct args *args, struct error *e)
{
    enum { NAME_MAX_BYTES = 64 };
    enum err r = ERR_OK;
    for (const struct flag *flag = flags_common; r == ERR_OK && flag->name != NULL; flag++) {
        char name[NAME_MAX_BYTES] = "WEIR_";
        size_t at = strlen(name);
        for (const char *p = flag->name; *p != '\0' && at + 1 < sizeof name; p++) {
            name[at++] = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
        }
        name[at] = '\0';
        const char *value = getenv(name);
        const bool wanted = takes_value(flag) && strcmp(flag->name, "server") != 0;
        if (wanted && value != NULL && value[0] != '\0' && !args_has(args, flag->name)) {
            r = flag_add(args, flag, value, e);
            r = r == ERR_OK ? r : fail_in(e, "%s", name);
        }
    }
    return r;
}

static void rest_take(struct args_reader *reader)
{
    reader->args->rest = reader->argv + reader->at;
    reader->args->rest_count = (size_t)(reader->argc - reader->at);
    reader->at = reader->argc;
}

static enum err count_check(const struct args *args, struct error *e)
{
    const struct command *command = args->command;
    if (args_has(args, "help")) {
        return ERR_OK;
    }
    if ((int)args->word_count < command->args_min) {
        return fail(e, ERR_USAGE, "`weir %s` needs %s; `weir %s --help` shows examples",
                    command->name, command->args, command->name);
    }
    if ((int)args->word_count > command->args_max) {
        return fail(e, ERR_USAGE, "'%.60s' is one argument too many: weir %s %s",
                    args->words[command->args_max], command->name, command->args);
    }
    return ERR_OK;
}

enum err args_parse(const struct command *command, int argc, char *const *argv,
                    struct args *ret_args, struct error *e)
{
    struct args *args = ret_args;
    *args = (struct args){.command = command};
    args->words = xcalloc((size_t)argc + 1, sizeof *args->words);
    struct args_reader reader = {.args = args, .argc = argc, .argv = argv, .e = e};
    bool flags_over = false;
    while (reader.at < argc) {
        const char *word = argv[reader.at++];
        enum err r = ERR_OK;
        if (!flags_over && strcmp(word, "--") == 0) {
            flags_over = true;
            if (command->takes_rest) {
                rest_take(&reader);
            }
        } else if (!flags_over && word[0] == '-' && word[1] == '-') {
            r = long_flag(&reader, word + 2);
        } else if (!flags_over && word[0] == '-' && word[1] != '\0') {
            r = short_flags(&reader, word + 1);
        } else if (command->takes_rest && (int)args->word_count >= command->args_max) {
            reader.at--;
            rest_take(&reader);
        } else {
            args->words[args->word_count++] = word;
        }
        if (r != ERR_OK) {
            return r;
        }
    }
    enum err r = command->role ? ERR_OK : environment_take(args, e);
    return r == ERR_OK ? count_check(args, e) : r;
}

void args_done(struct args *args)
{
    vec_done(&args->flags);
    free(args->words);
    *args = (struct args){0};
}

static const struct arg_flag *last_of(const struct args *args, const char *name)
{
    must(command_flag(args->command, name, strlen(name), 0) != NULL);
    for (size_t i = args->flags.count; i > 0; i--) {
        if (strcmp(args->flags.at[i - 1].flag->name, name) == 0) {
            return &args->flags.at[i - 1];
        }
    }
    return NULL;
}

bool args_has(const struct args *args, const char *name)
{
    return last_of(args, name) != NULL;
}

const char *args_text(const struct args *args, const char *name)
{
    const struct arg_flag *found = last_of(args, name);
    return found == NULL ? NULL : found->value;
}

uint64_t args_number(const struct args *args, const char *name, uint64_t none)
{
    const struct arg_flag *found = last_of(args, name);
    uint64_t number = none;
    if (found != NULL) {
        must(found->flag->type == FLAG_NUMBER);
        must(str_to_u64(str_of(found->value), &number));
    }
    return number;
}

int64_t args_duration(const struct args *args, const char *name, int64_t none)
{
    const struct arg_flag *found = last_of(args, name);
    int64_t ms = none;
    if (found != NULL) {
        must(found->flag->type == FLAG_DURATION);
        struct error e;
        must(amount_duration(str_of(found->value), &ms, &e) == ERR_OK);
    }
    return ms;
}

const char *args_each(const struct args *args, const char *name, size_t *cursor)
{
    while (*cursor < args->flags.count) {
        const struct arg_flag *flag = &args->flags.at[(*cursor)++];
        if (strcmp(flag->flag->name, name) == 0) {
            return flag->value;
        }
    }
    return NULL;
}
