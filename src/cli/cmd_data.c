/* cmd_data.c - `weir config …`, `state export` and `db …`: commands on files and data
 * directories. `db` and `config` need no server.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/meter.h"
#include "cli/text.h"
#include "cli/updir.h"
#include "core/core.h"
#include "spec/server_file.h"
#include "spec/server_programs.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CONFIG_MAX = 4 << 20 };

/* ---- config ---- */

enum err cmd_data_config_text(const char *path, struct buf *out, struct error *e)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return fail_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, errno, "cannot read %s",
                          path);
    }
    char piece[8192];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, file)) > 0) {
        buf_add(out, piece, n);
    }
    bool bad = ferror(file) != 0;
    (void)fclose(file);
    if (bad) {
        return fail(e, ERR_IO, "cannot read %s", path);
    }
    return out->full ? fail(e, ERR_LIMIT, "%s is larger than %d bytes", path, CONFIG_MAX) : ERR_OK;
}

static void problem_json(struct json_out *j, const struct problem *problem)
{
    json_out_object(j);
    json_out_kv_u64(j, "line", problem->line); /* 0: the text is too large or empty */
    json_out_kv_u64(j, "column", problem->column);
    json_out_kv_text(j, "path", problem->path);
    json_out_kv_text(j, "message", problem->text);
    json_out_end(j);
}

/* Writes the result as JSON. `total` also counts problems beyond the first PROBLEMS_MAX. */
static void config_json(const char *path, const struct server_file *file,
                        const struct problems *problems)
{
    struct buf text;
    struct json_out j;
    buf_init(&text, CONFIG_MAX);
    json_out_init(&j, &text);
    json_out_object(&j);
    json_out_kv_text(&j, "file", path);
    json_out_kv_bool(&j, "ok", file != NULL);
    json_out_kv_u64(&j, "total", problems->total);
    json_out_key(&j, "problems");
    json_out_array(&j);
    for (uint32_t i = 0; i < problems->count; i++) {
        problem_json(&j, &problems->at[i]);
    }
    json_out_end(&j);
    if (file != NULL) {
        json_out_kv_u64(&j, "pools", file->pool_count);
        json_out_kv_text(&j, "listen_address", file->listen_address);
        json_out_kv_u64(&j, "listen_port", file->listen_port);
        json_out_kv_text(&j, "data", file->data_dir);
    }
    json_out_end(&j);
    buf_add_str(&text, "\n");
    context_out_text(buf_text(&text));
    buf_done(&text);
}

int cmd_data_config_check(struct cli *cli)
{
    struct error e;
    const char *path = cli->args.words[0];
    struct buf text;
    buf_init(&text, CONFIG_MAX);
    if (cmd_data_config_text(path, &text, &e) != ERR_OK) {
        buf_done(&text);
        return context_fail(cli, &e);
    }
    struct str all = {.p = buf_text(&text), .len = text.len};
    struct server_file file;
    struct problems *problems = arena_new(&cli->arena, struct problems, 1);
    const bool right = server_file_read(all, path, &cli->arena, &file, problems, &e) == ERR_OK;
    int code = right ? EXIT_OK : EXIT_USAGE;
    if (right) {
        server_programs_look(all, &cli->arena, problems);
    }
    if (!right && problems->count == 0) {
        code = context_fail(cli, &e);
    } else if (args_has(&cli->args, "json")) {
        config_json(path, right ? &file : NULL, problems);
    } else if (!right) {
        (void)problem_count_error(problems, path, &e);
        context_report(&cli->arena, problem_report(problems, path, all, &cli->arena));
        code = context_fail(cli, &e);
    } else {
        if (problems->count > 0) { /* warnings */
            context_report(&cli->arena, problem_report(problems, path, all, &cli->arena));
        }
        context_out_text(arena_fmt(&cli->arena,
                                   "%s is valid: %u pool%s, listens on %s:%u, data in %s\n", path,
                                   file.pool_count, file.pool_count == 1 ? "" : "s",
                                   file.listen_address, file.listen_port, file.data_dir));
    }
    buf_done(&text);
    return code;
}

int cmd_data_config_load(struct cli *cli, const char *path, struct buf *text)
{
    struct error e;
    struct server_file file;
    struct problems *problems = arena_new(&cli->arena, struct problems, 1);
    if (cmd_data_config_text(path, text, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    const struct str all = {.p = buf_text(text), .len = text->len};
    if (server_file_read(all, path, &cli->arena, &file, problems, &e) == ERR_OK) {
        return EXIT_OK;
    }
    if (problems->count > 0) {
        (void)problem_count_error(problems, path, &e);
        context_report(&cli->arena, problem_report(problems, path, all, &cli->arena));
    }
    return context_fail(cli, &e);
}

int cmd_data_config_init(struct cli *cli)
{
    struct error e;
    const char *form = cli->args.words[0];
    bool gpu = strstr(form, "gpu") != NULL;
    bool cpu = strstr(form, "cpu") != NULL;
    if (strcmp(form, "cpu") != 0 && strcmp(form, "gpu") != 0 && strcmp(form, "cpu+gpu") != 0) {
        (void)fail(&e, ERR_USAGE, "'%.40s' is no form; cpu, gpu or cpu+gpu would do", form);
        return context_fail(cli, &e);
    }
    context_out_text("# A Weir server. Check it with `weir config check FILE`, start it with\n"
                     "# `weir server --config FILE`.\n"
                     "listen: 127.0.0.1:8080\n"
                     "data: /var/lib/weir\n");
    context_out_text(arena_fmt(&cli->arena, "defaults: {gpu_pool: %s, cpu_pool: %s}\n",
                               gpu ? "gpu" : "cpu", cpu ? "cpu" : "gpu"));
    context_out_text("pools:\n");
    context_out_text(gpu ? "  - name: gpu\n    description: machines with GPUs\n" : "");
    context_out_text(cpu ? "  - name: cpu\n    description: machines without GPUs\n" : "");
    return EXIT_OK;
}

/* ---- state ---- */

int cmd_data_state_export(struct cli *cli)
{
    struct error e;
    struct api_reply reply;
    const char *path = args_text(&cli->args, "output");
    enum err r = api_get(cli, &cli->arena, "/state", &reply, &e);
    if (r == ERR_OK && path != NULL) {
        r = login_file_write(&cli->arena, path, reply.body.p, 0644, &e);
    } else if (r == ERR_OK) {
        context_out(reply.body);
        context_out_text(reply.body.len > 0 && reply.body.p[reply.body.len - 1] == '\n' ? ""
                                                                                        : "\n");
    }
    return r == ERR_OK ? EXIT_OK : context_fail(cli, &e);
}

/* ---- db ---- */

const char *cmd_data_dir(struct cli *cli)
{
    const char *named = args_text(&cli->args, "dir");
    return named == NULL ? login_default_dir(&cli->arena) : named;
}

/* With --json prints {"from":…,"to":…} and returns true. */
static bool done_json(struct cli *cli, const char *first_key, const char *first,
                      const char *second_key, const char *second)
{
    struct buf out;
    struct json_out j;
    if (!args_has(&cli->args, "json")) {
        return false;
    }
    buf_init(&out, CONFIG_MAX);
    json_out_init(&j, &out);
    json_out_object(&j);
    json_out_kv_text(&j, first_key, first);
    json_out_kv_text(&j, second_key, second);
    json_out_end(&j);
    context_out_text(buf_text(&out));
    context_out_text("\n");
    buf_done(&out);
    return true;
}

/* Shows how far the copy of a data directory has come. Other files of `from`, such as those of
 * tasks, are not copied. */
static struct meter_watch *copy_watch(struct cli *cli, const char *from, const char *to)
{
    static const char *const parts[] = {"weir.db", "log", "snapshot"};
    uint64_t total = 0;
    if (!cli->err_tty) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        total += meter_dir_bytes(arena_fmt(&cli->arena, "%s/%s", from, parts[i]));
    }
    return meter_watch_new(to, total);
}

int cmd_data_db_backup(struct cli *cli)
{
    struct error e;
    const char *dir = cmd_data_dir(cli);
    const char *to = cli->args.words[0];
    struct meter_watch *watch = copy_watch(cli, dir, arena_fmt(&cli->arena, "%s.partial", to));
    const enum err r = store_backup(dir, to, &e);
    meter_watch_free(watch);
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (!done_json(cli, "from", dir, "to", to)) {
        context_say("copied %s to %s; `weir db check --dir %s` checks it", dir, to, to);
    }
    return EXIT_OK;
}

static enum err snapshot_decode(struct str snapshot, struct error *e)
{
    struct core *core;
    enum err r = core_decode(snapshot, &core, e);
    if (r == ERR_OK) {
        core_free(core);
    }
    return r;
}

static void restored_json(const char *from, const char *dir, const struct store_restored *what)
{
    struct buf out;
    struct json_out j;
    buf_init(&out, CONFIG_MAX);
    json_out_init(&j, &out);
    json_out_object(&j);
    json_out_kv_text(&j, "from", from);
    json_out_kv_text(&j, "to", dir);
    json_out_kv_bool(&j, "damaged", what->damaged);
    if (what->damaged) {
        json_out_kv_u64(&j, "fact", what->seq);
        json_out_kv_u64(&j, "acknowledged", what->acknowledged); /* 0: not known */
        json_out_kv_bool(&j, "unreadable", what->unreadable);
        json_out_kv_u64(&j, "history_left_out", what->history_left);
        json_out_kv_u64(&j, "output_left_out", what->output_left);
        json_out_kv_u64(&j, "tokens_left_out", what->tokens_left);
    }
    json_out_end(&j);
    context_out_text(buf_text(&out));
    context_out_text("\n");
    buf_done(&out);
}

static void restored_say(const char *from, const char *dir, const struct store_restored *what)
{
    if (!what->damaged) {
        context_say("restored %s into %s", from, dir);
        return;
    }
    context_say("%s is damaged; %s now has what can be proven: the state after fact %llu", from,
                dir, (unsigned long long)what->seq);
    if (what->acknowledged > what->seq) {
        context_say("facts %llu to %llu were acknowledged and are lost",
                    (unsigned long long)what->seq + 1, (unsigned long long)what->acknowledged);
    }
    context_say(
        "left out as damaged: %llu rows of ended tasks, %llu pieces of output, %llu tokens%s",
        (unsigned long long)what->history_left, (unsigned long long)what->output_left,
        (unsigned long long)what->tokens_left,
        what->unreadable ? ", and what unreadable parts of the database had" : "");
}

int cmd_data_db_restore(struct cli *cli)
{
    struct error e;
    struct store_restored what;
    const char *dir = cmd_data_dir(cli);
    const char *from = cli->args.words[0];
    struct meter_watch *watch = copy_watch(cli, from, dir);
    const enum err r = store_backup_restore(from, dir, snapshot_decode, &what, &e);
    meter_watch_free(watch);
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (args_has(&cli->args, "json")) {
        restored_json(from, dir, &what);
    } else {
        restored_say(from, dir, &what);
    }
    return EXIT_OK;
}

int cmd_data_db_adopt(struct cli *cli)
{
    struct error e;
    const char *dir = cmd_data_dir(cli);
    uint64_t seq = 0;
    bool yes = true;
    if (!args_has(&cli->args, "yes")) {
        context_say("%s goes on with what is left: what its missing part held is lost", dir);
        if (context_confirm(cli, 1, &yes, &e) != ERR_OK) {
            return context_fail(cli, &e);
        }
    }
    if (!yes) {
        return EXIT_FAILED;
    }
    if (store_identity_adopt(dir, &seq, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    const char *fact = arena_fmt(&cli->arena, "%llu", (unsigned long long)seq);
    if (!done_json(cli, "dir", dir, "snapshot", fact)) {
        context_say("adopted %s%s%s", dir, seq > 0 ? "; its state is that after fact " : "",
                    seq > 0 ? fact : "");
    }
    return EXIT_OK;
}

struct findings {
    size_t count;
    struct json_out *j; /* NULL: print lines of text */
};

static void finding(void *ctx, const char *text)
{
    struct findings *findings = ctx;
    findings->count++;
    if (findings->j != NULL) {
        json_out_text(findings->j, text);
        return;
    }
    context_out_text(text);
    context_out_text("\n");
}

int cmd_data_db_check(struct cli *cli)
{
    static const struct store_check_fns fns = {.finding = finding, .decode = snapshot_decode};
    struct error e;
    struct buf out;
    struct json_out j;
    const char *dir = cmd_data_dir(cli);
    bool json = args_has(&cli->args, "json");
    struct findings findings = {.j = json ? &j : NULL};
    buf_init(&out, CONFIG_MAX);
    json_out_init(&j, &out);
    json_out_object(&j);
    json_out_kv_text(&j, "dir", dir);
    json_out_key(&j, "findings");
    json_out_array(&j);
    enum err r = store_check(dir, &fns, &findings, &e);
    json_out_end(&j);
    json_out_end(&j);
    if (r == ERR_OK && json) {
        context_out_text(buf_text(&out));
        context_out_text("\n");
    } else if (r == ERR_OK) {
        context_say("%s: %zu problem%s found", dir, findings.count, findings.count == 1 ? "" : "s");
    }
    buf_done(&out);
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    return findings.count == 0 ? EXIT_OK : EXIT_FAILED;
}
