/* cmd_doctor.c - `weir doctor`: looks at everything that usually is the matter, and says of each
 * trouble what to do. SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "base/time_text.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/item.h"
#include "cli/text.h"
#include "spec/server_programs.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    CLOCK_MS_MAX = 5000, /* a larger difference makes times in lists hard to read */
    ANSWER_MS_MAX = 1000,
    DISK_FREE_PERCENT_MIN = 5,
    TEXT_MAX = 4096,
    ADVICE_INDENT = 18,        /* advice stands below the finding */
    CERTIFICATE_DAYS_MIN = 14, /* the server renews a certificate of its own earlier */
};

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

struct doctor {
    struct cli *cli;
    struct buf *text;
    struct json_out json;
    size_t troubles;
};

/* One finding. `advice` NULL: all is well. */
static void finding(struct doctor *doctor, const char *what, const char *found, const char *advice)
{
    doctor->troubles += advice != NULL ? 1 : 0;
    buf_addf(doctor->text, "%-8s %-8s ", advice == NULL ? "ok" : "TROUBLE", what);
    text_escape(doctor->text, str_of(found));
    if (advice != NULL) {
        buf_addf(doctor->text, "\n%*sdo: %s", ADVICE_INDENT, "", advice);
    }
    buf_add_char(doctor->text, '\n');
    json_out_put(&doctor->json, "{check:%s,ok:%i,found:%s", what, advice == NULL, found);
    json_out_kv_text(&doctor->json, "advice", advice);
    json_out_end(&doctor->json);
}

/* The answer of GET /status, or NULL when there is no use in looking further. */
static const struct doc *server_look(struct doctor *doctor)
{
    struct cli *cli = doctor->cli;
    struct error e;
    struct api_reply reply;
    const int64_t began_ms = text_now_ms();
    const enum err r = api_get(cli, &cli->arena, "/status", &reply, &e);
    const int64_t took_ms = text_now_ms() - began_ms;
    if (r == ERR_DENIED) {
        finding(doctor, "login", e.text, "`weir login URL` saves a token for this server");
        return NULL;
    }
    if (r != ERR_OK) {
        finding(doctor, "server", e.text,
                arena_fmt(&cli->arena,
                          "check that the server runs there and that the address is right (`weir "
                          "whoami`); `weir up%s%s` starts %s on this machine",
                          cli->login.dir != NULL ? " --dir " : "",
                          cli->login.dir != NULL ? cli->login.dir : "",
                          cli->login.dir != NULL ? "it" : "one"));
        return NULL;
    }
    finding(doctor, "server",
            arena_fmt(&cli->arena, "%s answers in %lld ms", cli->login.url, (long long)took_ms),
            took_ms > ANSWER_MS_MAX ? "look at the load of the server's machine and at its disk"
                                    : NULL);
    const char *problem = item_text(reply.doc, "problem");
    if (item_true(reply.doc, "writable")) {
        finding(doctor, "store", "changes are stored", NULL);
    } else {
        finding(doctor, "store", problem, "look at the disk of the server: is it full?");
    }
    return reply.doc;
}

static void versions_look(struct doctor *doctor, const struct doc *status)
{
    const char *theirs = item_text(status, "version");
    const bool same = strcmp(theirs, WEIR_VERSION) == 0;
    finding(doctor, "version",
            arena_fmt(&doctor->cli->arena, "server %.40s, this program %s", theirs, WEIR_VERSION),
            same ? NULL : "install the server's version here, or upgrade the server");
}

static void clock_look(struct doctor *doctor, const struct doc *status)
{
    int64_t theirs_ms;
    if (!item_time(status, "time", &theirs_ms)) {
        return;
    }
    const int64_t off_ms = theirs_ms - text_now_ms();
    const int64_t size_ms = off_ms < 0 ? -off_ms : off_ms;
    finding(doctor, "clock",
            arena_fmt(&doctor->cli->arena, "the server's clock is %lld ms %s this machine's",
                      (long long)size_ms, off_ms < 0 ? "behind" : "ahead of"),
            size_ms > CLOCK_MS_MAX ? "set both clocks by NTP (`timedatectl set-ntp true`)" : NULL);
}

static void certificate_look(struct doctor *doctor, const struct doc *status)
{
    int64_t until_ms;
    if (!item_time(status, "certificate_until", &until_ms)) {
        return; /* the server speaks no TLS */
    }
    char until[TIME_TEXT_MAX];
    time_text(until_ms, until);
    const bool soon = until_ms < text_now_ms() + CERTIFICATE_DAYS_MIN * DAY_MS;
    finding(doctor, "tls",
            arena_fmt(&doctor->cli->arena, "the server's certificate is valid until %s", until),
            soon ? "on the server: `weir tls init --renew`, or put a new certificate into its "
                   "file; then send SIGHUP to the server"
                 : NULL);
}

static void nodes_look(struct doctor *doctor, const struct doc *status)
{
    const int64_t lost = item_number(status, "nodes.lost", 0);
    const int64_t up = item_number(status, "nodes.up", 0);
    const int64_t silent = item_number(status, "nodes.silent", 0);
    const char *advice = NULL;
    if (lost > 0 || silent > 0) {
        advice =
            "`weir node list` names them; start `weir agent` there, or `weir node remove NODE`";
    } else if (up == 0) {
        advice = "no task can run: start `weir agent` on a machine";
    }
    const char *quiet =
        silent > 0 ? arena_fmt(&doctor->cli->arena, "%lld silent, ", (long long)silent) : "";
    finding(doctor, "nodes",
            arena_fmt(&doctor->cli->arena, "%lld up, %s%lld lost", (long long)up, quiet,
                      (long long)lost),
            advice);
}

/* Nodes that belong to one of several pools by their labels. */
static void selectors_look(struct doctor *doctor, const struct doc *status)
{
    const int64_t count = item_number(status, "nodes_contested", 0);
    if (count > 0) {
        finding(doctor, "pools",
                arena_fmt(&doctor->cli->arena, "%lld node%s the selectors of several pools",
                          (long long)count, count == 1 ? " matches" : "s match"),
                "`weir pool show POOL` names them under `conflict`; make the selectors differ "
                "(`weir pool edit POOL --selector K=V`) or name the pool when you start the agent");
    }
}

/* The programs of providers of type exec: they run on the server's machine, so they are looked at where that is this one. */
static void programs_look(struct doctor *doctor)
{
    struct cli *cli = doctor->cli;
    struct api_reply reply;
    struct error e;
    if (!login_is_local(cli->login.url) ||
        api_get(cli, &cli->arena, "/pools?limit=1000", &reply, &e) != ERR_OK) {
        return;
    }
    const struct doc *pools = item_at(reply.doc, "items");
    for (const struct doc *d = pools != NULL ? pools->first : NULL; d != NULL; d = d->next) {
        const char *command = item_text(d, "provider.command");
        if (strcmp(item_text(d, "provider.type"), "exec") == 0 &&
            server_programs_try(command, &e) != ERR_OK) {
            finding(doctor, "program",
                    arena_fmt(&cli->arena, "pool %s brings no node up: %s", item_text(d, "name"),
                              e.text),
                    arena_fmt(&cli->arena,
                              "put the program there, or name another: `weir pool edit %s "
                              "--command FILE`",
                              item_text(d, "name")));
        }
    }
}

/* ---- this machine ---- */

/* Is the controller in the root of version 2, or has it a hierarchy of version 1? */
static bool controller_is_there(struct arena *arena, const char *name, bool *ret_v2)
{
    const char *text;
    if (login_file_read(arena, "/sys/fs/cgroup/cgroup.controllers", &text, NULL) == ERR_OK) {
        struct str rest = str_of(text);
        while (rest.p != NULL) {
            if (str_is(str_trim(str_cut(rest, ' ', &rest)), name)) {
                *ret_v2 = true;
                return true;
            }
        }
    }
    if (login_file_read(arena, "/proc/cgroups", &text, NULL) != ERR_OK) {
        return false;
    }
    struct str lines = str_of(text);
    while (lines.p != NULL) {
        struct str fields = str_cut(lines, '\n', &lines);
        if (str_is(str_cut(fields, '\t', &fields), name)) {
            return fields.p != NULL && !str_is(str_cut(fields, '\t', &fields), "0");
        }
    }
    return false;
}

static void cgroups_look(struct doctor *doctor)
{
    bool v2 = false;
    struct arena *arena = &doctor->cli->arena;
    const bool limits = controller_is_there(arena, "memory", &v2);
    const bool both = controller_is_there(arena, "cpu", &v2) && limits;
    finding(doctor, "cgroups",
            !both ? "no cgroups for memory and cpu"
            : v2  ? "this machine has cgroups version 2"
                  : "this machine has cgroups version 1 for memory and cpu",
            both ? NULL
                 : "tasks on this machine are not held to their memory and cores; boot with "
                   "systemd.unified_cgroup_hierarchy=1");
}

static void disk_look(struct doctor *doctor)
{
    struct cli *cli = doctor->cli;
    struct statvfs disk;
    const char *dir = cli->login.dir != NULL ? cli->login.dir : login_default_dir(&cli->arena);
    if (access(arena_fmt(&cli->arena, "%s/weir.db", dir), F_OK) != 0 || statvfs(dir, &disk) != 0 ||
        disk.f_blocks == 0) {
        return; /* no server of this machine keeps its data there */
    }
    const unsigned long long percent =
        (unsigned long long)disk.f_bavail * 100 / (unsigned long long)disk.f_blocks;
    finding(doctor, "disk", arena_fmt(&cli->arena, "%llu %% free in '%.200s'", percent, dir),
            percent < DISK_FREE_PERCENT_MIN ? "make room there: a full disk stops the server"
                                            : NULL);
}

static void user_look(struct doctor *doctor)
{
    struct cli *cli = doctor->cli;
    struct api_reply reply;
    struct error e;
    if (api_get(cli, &cli->arena, "/whoami", &reply, &e) == ERR_OK) {
        const char *scope = item_text(reply.doc, "scope");
        finding(doctor, "login",
                arena_fmt(&cli->arena, "you are %.60s, with the rights '%.20s'",
                          item_text(reply.doc, "name"), scope),
                NULL);
    } else {
        finding(doctor, "login", e.text, "`weir login URL` saves a token for this server");
    }
}

size_t cmd_doctor_look(struct cli *cli, struct buf *text, struct buf *json)
{
    struct doctor doctor = {.cli = cli, .text = text};
    json_out_init(&doctor.json, json);
    json_out_array(&doctor.json);
    const struct doc *status = server_look(&doctor);
    if (status != NULL) {
        user_look(&doctor);
        versions_look(&doctor, status);
        clock_look(&doctor, status);
        certificate_look(&doctor, status);
        nodes_look(&doctor, status);
        selectors_look(&doctor, status);
        programs_look(&doctor);
    }
    cgroups_look(&doctor);
    disk_look(&doctor);
    json_out_end(&doctor.json);
    buf_add_char(json, '\n');
    return doctor.troubles;
}

int cmd_doctor(struct cli *cli)
{
    struct buf text;
    struct buf json;
    buf_init(&text, TEXT_MAX);
    buf_init(&json, TEXT_MAX * 2);
    const size_t troubles = cmd_doctor_look(cli, &text, &json);
    const struct buf *out = args_has(&cli->args, "json") ? &json : &text;
    if (out == &text) {
        context_out_wrapped(cli, (struct str){.p = text.data, .len = text.len}, ADVICE_INDENT);
    } else {
        context_out((struct str){.p = json.data, .len = json.len});
    }
    buf_done(&text);
    buf_done(&json);
    return troubles == 0 ? EXIT_OK : EXIT_FAILED;
}
