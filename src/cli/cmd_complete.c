/* cmd_complete.c - completion for shells. The scripts hand all typed words to `weir __complete`.
 * That command looks into the command table and asks the server for names, with a short time
 * limit and without messages.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/item.h"
#include "core/model/names.h"
#include "io/http_client.h"

#include <stdio.h>
#include <string.h>

enum { LIVE_MS = 100, LIVE_MAX = 1000 };

static const char bash_script[] =
    "# bash completion of weir: source <(weir completion bash)\n"
    "_weir() {\n"
    "    local IFS=$'\\n' words=(\"${COMP_WORDS[@]:1:COMP_CWORD}\") line\n"
    "    COMPREPLY=()\n"
    "    while read -r line; do\n"
    "        case $line in\n"
    "        :files) COMPREPLY+=($(compgen -f -- \"${COMP_WORDS[COMP_CWORD]}\")) ;;\n"
    "        :dirs) COMPREPLY+=($(compgen -d -- \"${COMP_WORDS[COMP_CWORD]}\")) ;;\n"
    "        *) COMPREPLY+=(\"${line%%$'\\t'*}\") ;;\n"
    "        esac\n"
    "    done < <(weir __complete -- \"${words[@]}\" 2>/dev/null)\n"
    "}\n"
    "complete -o bashdefault -F _weir weir\n";

static const char zsh_script[] =
    "#compdef weir\n"
    "# zsh completion of weir: source <(weir completion zsh)\n"
    "_weir() {\n"
    "    local line\n"
    "    local -a found\n"
    "    for line in ${(f)\"$(weir __complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"}; do\n"
    "        case $line in\n"
    "        :files) _files ;;\n"
    "        :dirs) _files -/ ;;\n"
    "        *) found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (( ${#found} )) && _describe weir found\n"
    "}\n"
    "compdef _weir weir\n";

static const char fish_script[] = "# fish completion of weir: weir completion fish | source\n"
                                  "function __weir_complete\n"
                                  "    set -l words (commandline -opc) (commandline -ct)\n"
                                  "    for line in (weir __complete -- $words[2..-1] 2>/dev/null)\n"
                                  "        switch $line\n"
                                  "            case ':files'\n"
                                  "                __fish_complete_path (commandline -ct)\n"
                                  "            case ':dirs'\n"
                                  "                __fish_complete_directories (commandline -ct)\n"
                                  "            case '*'\n"
                                  "                echo $line\n"
                                  "        end\n"
                                  "    end\n"
                                  "end\n"
                                  "complete -c weir -f -a '(__weir_complete)'\n";

int cmd_complete_script(struct cli *cli)
{
    struct error e;
    const char *shell = cli->args.words[0];
    const char *script = strcmp(shell, "bash") == 0   ? bash_script
                         : strcmp(shell, "zsh") == 0  ? zsh_script
                         : strcmp(shell, "fish") == 0 ? fish_script
                                                      : NULL;
    if (script == NULL) {
        (void)fail(&e, ERR_USAGE, "'%.40s' is no shell known here; bash, zsh or fish would do",
                   shell);
        return context_fail(cli, &e);
    }
    context_out_text(script);
    return EXIT_OK;
}

/* ---- candidates ---- */

static void offer(const char *typed, const char *word, const char *help)
{
    if (strncmp(word, typed, strlen(typed)) == 0) {
        (void)printf("%s%s%s\n", word, help == NULL ? "" : "\t", help == NULL ? "" : help);
    }
}

/* Offers names that the server knows; offers nothing when the server cannot be reached. */
static void offer_live(struct cli *cli, const char *typed, const char *path, const char *id,
                       const char *help)
{
    struct http_reply reply;
    struct doc *doc;
    if (api_open(cli, NULL) != ERR_OK) {
        return;
    }
    struct http_call call = {
        .method = "GET",
        .path = arena_fmt(&cli->arena, "/api/v1%slimit=%d", path, LIVE_MAX),
        .timeout_ms = LIVE_MS,
    };
    if (http_client_call(cli->client, &call, &cli->arena, &reply, NULL) != ERR_OK ||
        reply.status != 200 || doc_json_parse(&cli->arena, reply.body, &doc, NULL) != ERR_OK) {
        return;
    }
    const struct doc *items = item_at(doc, "items");
    for (const struct doc *d = items == NULL ? NULL : items->first; d != NULL; d = d->next) {
        offer(typed, item_text(d, id), item_text(d, help));
    }
}

static void offer_choices(const char *typed, const char *choices)
{
    struct str rest = choices == NULL ? (struct str){0} : str_of(choices);
    while (rest.p != NULL) {
        char word[64];
        struct str one = str_cut(rest, ',', &rest);
        (void)str_copy(word, one.len < sizeof word ? one.len + 1 : sizeof word, one.p);
        offer(typed, word, NULL);
    }
}

static void offer_topics(const char *typed)
{
    for (size_t i = 0; help_topic_name(i) != NULL; i++) {
        offer(typed, help_topic_name(i), "topic");
    }
}

static void offer_kind(struct cli *cli, enum complete_kind kind, const char *choices,
                       const char *typed)
{
    switch (kind) {
    case COMPLETE_TASKS:
        offer_live(cli, typed, "/tasks?", "id", "name");
        break;
    case COMPLETE_POOLS:
        offer_live(cli, typed, "/pools?", "name", "title");
        break;
    case COMPLETE_FLAVORS:
        offer_live(cli, typed, "/flavors?", "name", "description");
        break;
    case COMPLETE_NETWORKS:
        offer_live(cli, typed, "/networks?", "name", "description");
        break;
    case COMPLETE_NODES:
        offer_live(cli, typed, "/nodes?", "name", "state");
        break;
    case COMPLETE_PROJECTS:
        offer_live(cli, typed, "/projects?", "name", "title");
        break;
    case COMPLETE_DEPARTMENTS:
        offer_live(cli, typed, "/departments?", "name", "title");
        break;
    case COMPLETE_TOKENS:
        offer_live(cli, typed, "/tokens?", "id", "name");
        break;
    case COMPLETE_FILES:
        (void)puts(":files");
        break;
    case COMPLETE_DIRS:
        (void)puts(":dirs");
        break;
    case COMPLETE_WORDS:
        offer_choices(typed, choices);
        break;
    case COMPLETE_STATES:
        for (unsigned i = 0; i < TASK_STATE_COUNT; i++) {
            offer(typed, names_task_state((enum task_state)i), NULL);
        }
        break;
    case COMPLETE_PLACES:
        offer_live(cli, typed, "/tasks?ended=false&", "id", "name");
        offer_live(cli, typed, "/nodes?", "name", "state");
        offer_live(cli, typed, "/pools?", "name", "title");
        break;
    case COMPLETE_TOPICS:
        offer_topics(typed);
        break;
    case COMPLETE_NONE:
        break;
    }
}

/* Offers the next word of every command that begins with the words so far. */
static void offer_commands(struct cli *cli, size_t count, char *const *words, const char *typed)
{
    struct map *offered = map_new();
    struct command_cursor cursor = {0};
    for (const struct command *c = command_next(&cursor); c != NULL; c = command_next(&cursor)) {
        const char *at = c->name;
        size_t len = count == 0 ? 0 : strlen(words[0]);
        if (c->hidden || (count == 1 && (strncmp(at, words[0], len) != 0 || at[len] != ' '))) {
            continue;
        }
        at += count == 0 ? 0 : len + 1;
        const char *word = arena_strn(&cli->arena, at, strcspn(at, " "));
        if (map_put(offered, word, strlen(word), &cursor) == NULL) {
            offer(typed, word, strchr(at, ' ') == NULL ? c->help : NULL);
        }
    }
    map_free(offered);
}

static const struct flag flags_none = {0};

static void offer_flags(struct cli *cli, const struct flag *group, const char *typed)
{
    for (const struct flag *f = group; f->name != NULL; f++) {
        if (f->help != NULL) {
            offer(typed, arena_fmt(&cli->arena, "--%s", f->name), f->help);
        }
    }
}

static const struct flag *flag_awaiting(const struct command *command, const char *word)
{
    const struct flag *flag = NULL;
    if (word[0] == '-' && word[1] == '-' && strchr(word, '=') == NULL) {
        flag = command_flag(command, word + 2, strlen(word + 2), 0);
    } else if (word[0] == '-' && word[1] != '\0' && word[2] == '\0') {
        flag = command_flag(command, NULL, 0, word[1]);
    }
    bool takes = flag != NULL && flag->type != FLAG_BOOL && flag->type != FLAG_OPTIONAL;
    return takes ? flag : NULL;
}

int cmd_complete(struct cli *cli)
{
    size_t count = cli->args.rest_count;
    char *const *words = cli->args.rest;
    const char *typed = count == 0 ? "" : words[count - 1];
    size_t before = count == 0 ? 0 : count - 1;
    int used = 0;
    const struct command *command = command_find((int)before, words, &used);
    if (command == NULL) {
        offer_commands(cli, before > 1 ? 1 : before, words, typed);
        return EXIT_OK;
    }
    for (size_t i = (size_t)used; i < before; i++) {
        if (strcmp(words[i], "--") == 0) {
            (void)puts(":files"); /* the command to run */
            return EXIT_OK;
        }
    }
    const struct flag *flag =
        before > (size_t)used ? flag_awaiting(command, words[before - 1]) : NULL;
    if (flag != NULL) {
        offer_kind(cli, flag->complete, flag->choices, typed);
        return EXIT_OK;
    }
    if (typed[0] == '-') {
        for (size_t i = 0; i < COMMAND_GROUPS_MAX && command->groups[i] != NULL; i++) {
            offer_flags(cli, command->groups[i], typed);
        }
        offer_flags(cli, command->role ? &flags_none : flags_common, typed);
        return EXIT_OK;
    }
    if (before == 1 && command_is_group(words[0])) {
        offer_commands(cli, 1, words,
                       typed); /* `weir shell` is a command, and so is `weir shell attach` */
    }
    offer_kind(cli, command->complete, command->choices, typed);
    if (command->complete == COMPLETE_TOPICS) {
        offer_commands(cli, 0, NULL, typed);
    }
    return EXIT_OK;
}
