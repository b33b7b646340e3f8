/* ids.c - see ids.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/ids.h"

#include "cli/item.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 24 };

enum err ids_name_parse(const char *text, struct attempt_name *ret, struct error *e)
{
    struct str instance;
    struct str attempt = {0};
    struct str task = str_cut(str_of(text), '.', &instance);
    struct attempt_name name = {.instance = -1, .attempt = -1};
    bool well = str_to_u64(task, &name.task) && name.task > 0;
    if (instance.p != NULL) {
        struct str number = str_cut(instance, ':', &attempt);
        well = well && str_to_i64(number, &name.instance) && name.instance >= 0;
    }
    if (attempt.p != NULL) {
        well = well && str_to_i64(attempt, &name.attempt) && name.attempt > 0;
    }
    if (!well) {
        return fail(e, ERR_USAGE, "'%.60s' is no task id; 12, 12.0 or 12.0:1 would do", text);
    }
    *ret = name;
    return ERR_OK;
}

enum err ids_name_check(const struct attempt_name *name, const struct doc *task, struct error *e)
{
    const unsigned long long id = name->task;
    const long long count = (long long)item_number(task, "instances", 0);
    if (name->instance >= count) {
        return count == 1 ? fail(e, ERR_NOT_FOUND, "task %llu has no instance %lld; it has %llu.0",
                                 id, (long long)name->instance, id)
                          : fail(e, ERR_NOT_FOUND,
                                 "task %llu has no instance %lld; it has %llu.0 to %llu.%lld", id,
                                 (long long)name->instance, id, id, count - 1);
    }
    const struct doc *attempts = item_at(task, "attempts");
    long long last = 0;
    for (const struct doc *d = attempts != NULL ? attempts->first : NULL; d != NULL; d = d->next) {
        const long long number = (long long)item_number(d, "attempt", 0);
        if (item_number(d, "index", -1) == name->instance && number > last) {
            last = number;
        }
    }
    if (last > 0 && name->attempt > last) {
        return fail(e, ERR_NOT_FOUND, "instance %llu.%lld has no attempt %lld; its last is %lld",
                    id, (long long)name->instance, (long long)name->attempt, last);
    }
    return ERR_OK;
}

static enum err id_add(struct ids *ids, const char *text, struct error *e)
{
    uint64_t id;
    struct attempt_name name;
    if (ids_name_parse(text, &name, NULL) == ERR_OK && name.instance >= 0) {
        return fail(e, ERR_USAGE,
                    "'%.60s' is one instance; this command takes whole tasks: %llu would do", text,
                    (unsigned long long)name.task);
    }
    if (!str_to_u64(str_of(text), &id) || id == 0) {
        return fail(e, ERR_USAGE, "'%.60s' is no task id; a number like 12 would do", text);
    }
    if (ids->at.count == IDS_MAX) {
        return fail(e, ERR_USAGE, "more than %d ids", IDS_MAX);
    }
    vec_push(&ids->at, id);
    return ERR_OK;
}

static enum err stdin_read(struct ids *ids, struct error *e)
{
    char word[WORD_MAX];
    size_t len = 0;
    int c;
    do {
        c = getchar();
        bool gap = c == EOF || isspace(c) != 0;
        if (!gap && len + 1 == sizeof word) {
            return fail(e, ERR_USAGE, "standard input: '%.*s…' is no task id", (int)len, word);
        }
        if (!gap) {
            word[len++] = (char)c;
            continue;
        }
        word[len] = '\0';
        enum err r = len == 0 ? ERR_OK : id_add(ids, word, e);
        if (r != ERR_OK) {
            return fail_in(e, "standard input");
        }
        len = 0;
    } while (c != EOF);
    return ERR_OK;
}

enum err ids_read(const struct cli *cli, struct ids *ret, struct error *e)
{
    *ret = (struct ids){0};
    for (size_t i = 0; i < cli->args.word_count; i++) {
        const char *word = cli->args.words[i];
        enum err r = strcmp(word, "-") == 0 ? stdin_read(ret, e) : id_add(ret, word, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    return ERR_OK;
}

void ids_done(struct ids *ids)
{
    vec_done(&ids->at);
}
