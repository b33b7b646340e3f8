/* cmd_help.c - `weir help`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "cli/cmd.h"
#include "cli/context.h"
#include "cli/help.h"
#include "base/suggest.h"

static int help_unknown(const char *word)
{
    struct suggest suggest;
    suggest_init(&suggest, str_of(word));
    for (size_t i = 0; help_topic_name(i) != NULL; i++) {
        suggest_offer(&suggest, help_topic_name(i));
    }
    struct command_cursor cursor = {0};
    for (const struct command *c = command_next(&cursor); c != NULL; c = command_next(&cursor)) {
        suggest_offer(&suggest, c->hidden ? "" : c->name);
    }
    if (suggest.best != NULL) {
        context_say("weir: no help on '%s'; did you mean `weir help %s`?", word, suggest.best);
    } else {
        context_say("weir: no help on '%s'; `weir help` lists commands and topics", word);
    }
    return EXIT_USAGE;
}

static int help_names(void)
{
    struct command_cursor cursor = {0};
    for (const struct command *c = command_next(&cursor); c != NULL; c = command_next(&cursor)) {
        if (!c->hidden) {
            (void)printf("%s\n", c->name);
        }
    }
    return EXIT_OK;
}

int cmd_help(struct cli *cli)
{
    const struct args *args = &cli->args;
    bool man = args_has(args, "man");
    if (args_has(args, "commands")) {
        return help_names();
    }
    if (args->word_count == 0) {
        man ? help_man(NULL, stdout) : help_all(stdout);
        return EXIT_OK;
    }
    char *words[COMMAND_WORDS_MAX] = {0};
    for (size_t i = 0; i < args->word_count; i++) {
        words[i] = arena_str(&cli->arena, args->words[i]);
    }
    int used = 0;
    const struct command *command = command_find((int)args->word_count, words, &used);
    const char *topic = help_topic(words[0]);
    if (command != NULL && (size_t)used == args->word_count) {
        man ? help_man(command, stdout) : help_command(command, stdout);
        return EXIT_OK;
    }
    if (args->word_count == 1 && topic != NULL) {
        (void)printf("%s\n", topic);
        return EXIT_OK;
    }
    if (args->word_count == 1 && command_is_group(words[0])) {
        help_group(words[0], stdout);
        return EXIT_OK;
    }
    return help_unknown(
        args->word_count == 1 ? words[0] : arena_fmt(&cli->arena, "%s %s", words[0], words[1]));
}
