/* cmd_support.c - `weir support`: one file with what a person needs who helps, and without secrets.
 *
 * Holds: S1 of tasks only the fields of `task_fields` are taken: commands, environments, names and descriptions
 * may hold secrets. S2 every text goes through hide(), which takes out tokens whatever they stand in. No file that
 * holds a token is read, except to know what to take out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/tar.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/item.h"
#include "cli/text.h"
#include "io/http_client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
    BUNDLE_MAX = 64 << 20,
    PART_MAX = 8 << 20,
    LOG_TAIL_MAX = 256 << 10,
    FILES_MAX = 1000,
    SECRET_LEN_MIN = 8, /* a shorter word is no token, and would be found everywhere */
    TOKEN_DIGITS_MIN = 16,
};

struct support {
    struct cli *cli;
    struct buf tar;
    struct buf about;
    int64_t now_ms;
};

/* ---- hiding ---- */

static bool hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* The length of a token "weir_admin_0123…" at the beginning of the text; 0: there is none. */
static size_t token_length(struct str text)
{
    static const char begin[] = "weir_";
    size_t at = sizeof begin - 1;
    if (text.len < at || memcmp(text.p, begin, at) != 0) {
        return 0;
    }
    while (at < text.len && text.p[at] >= 'a' && text.p[at] <= 'z') {
        at++;
    }
    if (at == text.len || text.p[at] != '_') {
        return 0;
    }
    const size_t first = ++at;
    while (at < text.len && hex(text.p[at])) {
        at++;
    }
    return at - first >= TOKEN_DIGITS_MIN ? at : 0;
}

static size_t secret_length(struct str text, const char *secret)
{
    const size_t len = secret != NULL ? strlen(secret) : 0;
    const bool here = len >= SECRET_LEN_MIN && text.len >= len && memcmp(text.p, secret, len) == 0;
    return here ? len : 0;
}

/* Copies the text without tokens: those of Weir by their form, and the one in use whatever its form. */
static void hide(const struct cli *cli, struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len;) {
        const struct str rest = {text.p + i, text.len - i};
        size_t len = token_length(rest);
        len = len > 0 ? len : secret_length(rest, cli->login.token);
        if (len > 0) {
            buf_add_str(out, "(hidden)");
        } else {
            buf_add_char(out, text.p[i]);
        }
        i += len > 0 ? len : 1;
    }
}

static void part_add(struct support *support, const char *name, struct str text)
{
    struct buf clean;
    buf_init(&clean, PART_MAX);
    hide(support->cli, &clean, text);
    const struct tar_entry entry = {
        .name = arena_fmt(&support->cli->arena, "weir-support/%s", name),
        .secret = true,
        .size = clean.len,
        .modified_s = (uint64_t)support->now_ms / 1000,
    };
    struct error e;
    if (tar_file_add(&support->tar, &entry, (struct str){buf_text(&clean), clean.len}, &e) !=
        ERR_OK) {
        buf_addf(&support->about, "left out: %s\n", e.text);
    } else if (clean.full) {
        buf_addf(&support->about, "%s: cut at %d bytes\n", name, PART_MAX);
    }
    buf_done(&clean);
}

/* ---- from the server ---- */

/* Fields of tasks that cannot hold what a user typed. */
static const char *const task_fields[] = {
    "id",        "state",        "kind",          "pool",        "priority",    "position",
    "resources", "instances",    "gang",          "counts",      "cause",       "exit_code",
    "reason",    "evicted",      "queued_at",     "ran_ms",      "cpu_ms",      "started_at",
    "ended_at",  "submitted_at", "time_limit_ms", "preemptible", "max_retries", NULL};

static void item_keep(struct json_out *j, const struct doc *item, const char *const *fields)
{
    json_out_object(j);
    for (const struct doc *d = item->first; d != NULL; d = d->next) {
        size_t i = 0;
        while (fields[i] != NULL && !str_is(d->key, fields[i])) {
            i++;
        }
        if (fields[i] != NULL) {
            item_json_field(j, d, false);
        }
    }
    json_out_end(j);
}

/* `fields` NULL: whole objects. */
static void answer_add(struct support *support, const char *name, const char *path,
                       const char *const *fields)
{
    struct cli *cli = support->cli;
    struct api_reply reply;
    struct error e;
    struct arena arena;
    arena_init(&arena);
    if (api_get(cli, &arena, path, &reply, &e) != ERR_OK) {
        buf_addf(&support->about, "%s: %s\n", name, e.text);
    } else if (fields == NULL) {
        part_add(support, name, reply.body);
    } else {
        struct buf out;
        struct json_out j;
        buf_init(&out, PART_MAX);
        json_out_init(&j, &out);
        json_out_array(&j);
        const struct doc *items = item_at(reply.doc, "items");
        for (const struct doc *d = items != NULL ? items->first : NULL; d != NULL; d = d->next) {
            item_keep(&j, d, fields);
        }
        json_out_end(&j);
        part_add(support, name, (struct str){.p = buf_text(&out), .len = out.len});
        buf_done(&out);
    }
    arena_done(&arena);
}

static void metrics_add(struct support *support)
{
    struct cli *cli = support->cli;
    struct http_reply reply;
    struct error e;
    const struct http_call call = {.method = "GET", .path = "/metrics"};
    if (cli->client == NULL) {
        return; /* the reason stands with the other answers */
    }
    if (http_client_call(cli->client, &call, &cli->arena, &reply, &e) == ERR_OK &&
        reply.status == 200) {
        part_add(support, "metrics.txt", reply.body);
    }
}

static void server_add(struct support *support)
{
    static const struct {
        const char *name;
        const char *path;
        const char *const *fields;
    } answers[] = {
        {"status.json", "/status", NULL},
        {"pools.json", "/pools?limit=1000", NULL},
        {"nodes.json", "/nodes?limit=1000", NULL},
        {"departments.json", "/departments?limit=1000", NULL},
        {"projects.json", "/projects?limit=1000", NULL},
        {"quotas.json", "/quotas?limit=1000", NULL},
        {"usage.json", "/usage?by=day", NULL},
        {"tasks.json", "/tasks?limit=500", task_fields},
        {"queue.json", "/queue?limit=500", task_fields},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        answer_add(support, answers[i].name, answers[i].path, answers[i].fields);
    }
    metrics_add(support);
}

/* ---- from this machine ---- */

static void log_add(struct support *support, const char *dir, const char *name, off_t size)
{
    char *tail = xmalloc(LOG_TAIL_MAX);
    const char *path = arena_fmt(&support->cli->arena, "%s/%s", dir, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const off_t from = size > LOG_TAIL_MAX ? size - LOG_TAIL_MAX : 0;
    ssize_t len = fd >= 0 ? pread(fd, tail, LOG_TAIL_MAX, from) : -1;
    if (len > 0) {
        part_add(support, arena_fmt(&support->cli->arena, "log-%s", name),
                 (struct str){tail, (size_t)len});
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    free(tail);
}

/* The names, modes and sizes of the files in the data directory, and the ends of its logs. */
static void dir_add(struct support *support, const char *dir)
{
    struct buf list;
    DIR *stream = opendir(dir);
    if (stream == NULL) {
        buf_addf(&support->about, "%s: %s\n", dir, strerror(errno));
        return;
    }
    buf_init(&list, PART_MAX);
    const struct dirent *entry;
    for (size_t i = 0; i < FILES_MAX && (entry = readdir(stream)) != NULL; i++) {
        struct stat status;
        const size_t len = strlen(entry->d_name);
        if (fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        buf_addf(&list, "%06o %12lld %s\n", status.st_mode, (long long)status.st_size,
                 entry->d_name);
        /* audit.log names people and is no log of the program, so it stays out. */
        const bool log = len > 4 && strcmp(entry->d_name + len - 4, ".log") == 0 &&
                         strcmp(entry->d_name, "audit.log") != 0;
        if (log && S_ISREG(status.st_mode)) {
            log_add(support, dir, entry->d_name, status.st_size);
        }
    }
    (void)closedir(stream);
    part_add(support, "files.txt", (struct str){.p = buf_text(&list), .len = list.len});
    buf_done(&list);
}

static void machine_add(struct support *support)
{
    struct cli *cli = support->cli;
    struct utsname system;
    char time[TEXT_TIME_MAX];
    text_time(support->now_ms, time);
    buf_addf(&support->about, "weir %s, made %s\n", WEIR_VERSION, time);
    if (uname(&system) == 0) {
        buf_addf(&support->about, "%s %s %s\n", system.sysname, system.release, system.machine);
    }
    buf_addf(&support->about, "%ld cores, %ld MiB memory\n", sysconf(_SC_NPROCESSORS_ONLN),
             sysconf(_SC_PHYS_PAGES) / 1024 * (sysconf(_SC_PAGESIZE) / 1024));
    struct buf text;
    struct buf json;
    buf_init(&text, PART_MAX);
    buf_init(&json, PART_MAX);
    (void)cmd_doctor_look(cli, &text, &json);
    part_add(support, "doctor.txt", (struct str){.p = buf_text(&text), .len = text.len});
    buf_done(&text);
    buf_done(&json);
}

/* ---- the file ---- */

static enum err bundle_write(const char *path, const struct buf *tar, struct error *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return fail_errno(e, errno == EEXIST ? ERR_CONFLICT : ERR_IO, errno, "cannot write '%s'",
                          path);
    }
    size_t done = 0;
    while (done < tar->len) {
        ssize_t n = write(fd, tar->data + done, tar->len - done);
        if (n <= 0) {
            break;
        }
        done += (size_t)n;
    }
    const int why = errno;
    if (close(fd) != 0 || done < tar->len) {
        (void)unlink(path);
        return fail_errno(e, ERR_IO, why, "cannot write '%s'", path);
    }
    return ERR_OK;
}

static const char *bundle_path(struct support *support)
{
    const char *named = args_text(&support->cli->args, "output");
    char time[TEXT_TIME_MAX];
    text_time(support->now_ms, time);
    time[sizeof "2026-11-15T12:00:00" - 1] = '\0';
    for (char *colon = strchr(time, ':'); colon != NULL; colon = strchr(colon, ':')) {
        *colon = '-'; /* tar takes what stands before a colon for the name of a machine */
    }
    return named != NULL ? named : arena_fmt(&support->cli->arena, "weir-support-%s.tar", time);
}

static void bundle_fill(struct support *support)
{
    struct cli *cli = support->cli;
    const char *dir = args_text(&cli->args, "dir");
    machine_add(support);
    server_add(support);
    dir = dir != NULL ? dir : cli->login.dir;
    if (dir != NULL) {
        dir_add(support, dir);
    }
    part_add(support, "about.txt",
             (struct str){.p = buf_text(&support->about), .len = support->about.len});
    tar_end_add(&support->tar);
}

int cmd_support(struct cli *cli)
{
    struct error e;
    struct support support = {.cli = cli, .now_ms = text_now_ms()};
    buf_init(&support.tar, BUNDLE_MAX);
    buf_init(&support.about, PART_MAX);
    bundle_fill(&support);
    const char *path = bundle_path(&support);
    enum err r = support.tar.full
                     ? fail(&e, ERR_LIMIT, "the bundle is larger than %d bytes", BUNDLE_MAX)
                     : bundle_write(path, &support.tar, &e);
    buf_done(&support.tar);
    buf_done(&support.about);
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    context_out_text(arena_fmt(&cli->arena, "%s\n", path));
    context_say("no tokens, commands, environments or output of tasks are in it; names of pools, "
                "projects, nodes "
                "and users are. Look before you send it: tar tvf %s",
                path);
    return EXIT_OK;
}
