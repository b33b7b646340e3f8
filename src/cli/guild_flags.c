/* guild_flags.c - see guild_flags.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/guild_flags.h"

#include "base/amount.h"
#include "compat/guild/guild_home.h"
#include "core/model/limits.h"

#include <sched.h>
#include <string.h>

enum { WORKERS_MAX = 10000, POLL_MS_DEFAULT = 1000 };

/* The value of a flag, wherever it was given; NULL: not given. `name=value` wins, because it stands behind the flags. */
static const char *value_of(struct cli *cli, const char *name)
{
    const char *value = args_text(&cli->args, name);
    const size_t len = strlen(name);
    for (size_t i = 0; i < cli->args.word_count; i++) {
        const char *word = cli->args.words[i];
        if (strncmp(word, name, len) == 0 && word[len] == '=') {
            value = word + len + 1;
        }
    }
    return value;
}

static enum err words_check(struct cli *cli, struct error *e)
{
    for (size_t i = 0; i < cli->args.word_count; i++) {
        const char *word = cli->args.words[i];
        const size_t len = strcspn(word, "=");
        if (word[len] == '\0') {
            return fail(e, ERR_USAGE,
                        "'%.60s' is no flag; flag=value would do, for instance resources='foo=7'",
                        word);
        }
        if (command_flag(cli->args.command, word, len, 0) == NULL) {
            return fail(e, ERR_USAGE,
                        "unsupported flag '%.*s'; `weir help guild %s` lists the flags",
                        (int)(len > 60 ? 60 : len), word, cli->args.command->name + sizeof "guild");
        }
    }
    return ERR_OK;
}

static bool is_word(const char *text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strcmp(text, *words) == 0) {
            return true;
        }
    }
    return false;
}

static enum err switch_read(struct cli *cli, const char *name, bool *ret, struct error *e)
{
    static const char *const yes[] = {"yes", "true", "on", "1", NULL};
    static const char *const no[] = {"no", "false", "off", "0", "", NULL};
    *ret = args_has(&cli->args, name);
    const char *value = value_of(cli, name);
    if (value == NULL) {
        return ERR_OK;
    }
    *ret = is_word(value, yes);
    return *ret || is_word(value, no)
               ? ERR_OK
               : fail(e, ERR_USAGE, "%s is '%.60s'; yes or no would do", name, value);
}

static enum err number_read(struct cli *cli, const char *name, uint64_t max, uint64_t *ret,
                            bool *ret_given, struct error *e)
{
    const char *value = value_of(cli, name);
    *ret_given = value != NULL;
    if (value == NULL) {
        return ERR_OK;
    }
    if (!str_to_u64(str_of(value), ret) || *ret == 0 || *ret > max) {
        return fail(e, ERR_USAGE, "%s is '%.60s'; 1 to %llu would do", name, value,
                    (unsigned long long)max);
    }
    return ERR_OK;
}

static enum err poll_read(struct cli *cli, int64_t *ret, struct error *e)
{
    const char *value = value_of(cli, "poll-interval");
    *ret = POLL_MS_DEFAULT;
    if (value != NULL && (amount_duration(str_of(value), ret, e) != ERR_OK || *ret < 10)) {
        return fail(e, ERR_USAGE,
                    "poll-interval is '%.60s'; seconds would do, for instance 10 or 0.5s", value);
    }
    return ERR_OK;
}

static uint32_t cores(void)
{
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : (uint32_t)count;
}

static enum err resources_read(struct cli *cli, struct guild_flags *flags, struct error *e)
{
    bool ignored = false;
    const char *text = value_of(cli, "resources");
    if (text != NULL &&
        guild_needs_add(&flags->resources, str_of(text), &cli->arena, &ignored, e) != ERR_OK) {
        (void)fail_in(e, "resources");
        return ERR_USAGE;
    }
    flags->resources_ignored = ignored ? text : NULL;
    return ERR_OK;
}

/* `devices` offers a resource by which runs say how many they need. */
static enum err devices_read(struct cli *cli, struct guild_flags *flags, struct error *e)
{
    bool ignored;
    const char *text = value_of(cli, "devices");
    if (text == NULL) {
        return ERR_OK;
    }
    if (guild_needs_find(&flags->resources, guild_devices_resource) != NULL) {
        return fail(e, ERR_USAGE, "devices and resources='%s=…' are both given; one would do",
                    guild_devices_resource);
    }
    enum err r = guild_devices_read(text, &cli->arena, &flags->devices, e);
    const char *offer =
        arena_fmt(&cli->arena, "%s=%zu", guild_devices_resource, flags->devices.count);
    r = r == ERR_OK ? guild_needs_add(&flags->resources, str_of(offer), &cli->arena, &ignored, e)
                    : r;
    return r == ERR_OK ? ERR_OK : ERR_USAGE;
}

static enum err order_read(struct cli *cli, bool *ret_fifo, struct error *e)
{
    const char *order = value_of(cli, "order");
    *ret_fifo = order != NULL && strcmp(order, "fifo") == 0;
    return order == NULL || *ret_fifo || strcmp(order, "fit") == 0
               ? ERR_OK
               : fail(e, ERR_USAGE, "order is '%.60s'; fit or fifo would do", order);
}

/* Reads whether the command ends after the runs that are staged now. This is so for `weir guild
 * run-once`, and for Guild's flag run-once=yes. */
static enum err once_read(struct cli *cli, bool *ret, struct error *e)
{
    const bool named = strstr(cli->args.command->name, "run-once") != NULL;
    enum err r = switch_read(cli, "run-once", ret, e);
    if (r == ERR_OK && named && !*ret && value_of(cli, "run-once") != NULL) {
        return fail(e, ERR_USAGE,
                    "run-once is '%.60s' and the command is run-once; `weir guild watch` would do",
                    value_of(cli, "run-once"));
    }
    *ret = *ret || named;
    return r;
}

enum err guild_flags_read(struct cli *cli, struct guild_flags *ret, struct error *e)
{
    struct guild_flags flags = {0};
    bool yes;
    uint64_t workers = cores();
    enum err r = words_check(cli, e);
    r = r == ERR_OK ? once_read(cli, &flags.once, e) : r;
    r = r == ERR_OK ? switch_read(cli, "yes", &yes, e) : r;
    r = r == ERR_OK ? resources_read(cli, &flags, e) : r;
    r = r == ERR_OK ? devices_read(cli, &flags, e) : r;
    r = r == ERR_OK ? switch_read(cli, "restage", &flags.restage, e) : r;
    r = r == ERR_OK ? number_read(cli, "workers", WORKERS_MAX, &workers, &flags.workers_given, e)
                    : r;
    r = r == ERR_OK ? order_read(cli, &flags.fifo, e) : r;
    r = r == ERR_OK ? switch_read(cli, "wait-for-running", &flags.wait_for_running, e) : r;
    r = r == ERR_OK ? switch_read(cli, "here", &flags.here, e) : r;
    r = r == ERR_OK ? poll_read(cli, &flags.poll_ms, e) : r;
    if (r == ERR_OK) {
        r = guild_home_find(value_of(cli, "home"), &cli->arena, &flags.home, e);
    }
    if (r != ERR_OK) {
        return r;
    }
    flags.workers = (uint32_t)workers;
    flags.gpus = value_of(cli, "gpus");
    flags.guild = value_of(cli, "guild");
    flags.pool = value_of(cli, "pool");
    *ret = flags;
    return ERR_OK;
}
