/* command.c - look-up in the command table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "base/must.h"

#include <string.h>

const struct command *command_next(struct command_cursor *cursor)
{
    const struct command *table = command_tables[cursor->table];
    if (table == NULL) {
        return NULL;
    }
    const struct command *row = &table[cursor->row];
    if (row->name == NULL) {
        cursor->table++;
        cursor->row = 0;
        return command_next(cursor);
    }
    cursor->row++;
    return row;
}

/* Counts the words of argv that match the words of `name`; 0: a word differs. */
static int words_match(const char *name, int argc, char *const *argv)
{
    int words = 0;
    const char *p = name;
    while (*p != '\0') {
        size_t len = strcspn(p, " ");
        if (words >= argc || strlen(argv[words]) != len || memcmp(argv[words], p, len) != 0) {
            return 0;
        }
        words++;
        p += len;
        p += *p == ' ';
    }
    must(words <= COMMAND_WORDS_MAX);
    return words;
}

const struct command *command_find(int argc, char *const *argv, int *ret_words)
{
    const struct command *best = NULL;
    int best_words = 0;
    struct command_cursor cursor = {0};
    for (const struct command *c = command_next(&cursor); c != NULL; c = command_next(&cursor)) {
        int words = words_match(c->name, argc, argv);
        if (words > best_words) {
            best = c;
            best_words = words;
        }
    }
    *ret_words = best_words;
    if (best == NULL && argc > 0 && command_is_group(argv[0])) {
        *ret_words = 1;
    }
    return best;
}

bool command_is_group(const char *word)
{
    size_t len = strlen(word);
    struct command_cursor cursor = {0};
    for (const struct command *c = command_next(&cursor); c != NULL; c = command_next(&cursor)) {
        if (strncmp(c->name, word, len) == 0 && c->name[len] == ' ') {
            return true;
        }
    }
    return false;
}

static const struct flag *group_flag(const struct flag *group, const char *name, size_t len,
                                     char letter)
{
    for (const struct flag *f = group; f->name != NULL; f++) {
        if (name != NULL && strlen(f->name) == len && memcmp(f->name, name, len) == 0) {
            return f;
        }
        if (name == NULL && f->letter == letter) {
            return f;
        }
    }
    return NULL;
}

const struct flag *command_flag(const struct command *command, const char *name, size_t len,
                                char letter)
{
    must(name != NULL || letter != 0);
    const struct flag *found = command->role ? NULL : group_flag(flags_common, name, len, letter);
    for (size_t i = 0; found == NULL && i < COMMAND_GROUPS_MAX && command->groups[i] != NULL; i++) {
        found = group_flag(command->groups[i], name, len, letter);
    }
    return found;
}
