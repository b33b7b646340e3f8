/* cmd_files.c - `weir task files` and `weir task get`: what a task wrote into its directory.
 *
 * The names come from a task and are not trusted: a name with a slash, "." or ".." is refused, files are
 * written under a temporary name and moved into place, and a link that stands in the way is replaced,
 * never followed. SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "base/base64.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/ids.h"
#include "cli/item.h"
#include "cli/meter.h"
#include "cli/show.h"
#include "cli/table.h"
#include "cli/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LISTING_BYTES_MAX = 64 << 20, WAITING_MAX = 1000000, PIECE_TRIES_MAX = 3 };

/* Which directory is meant: a task and one of its instances. */
struct files_of {
    uint64_t task;
    uint64_t index;
};

static enum err of_read(const struct cli *cli, struct files_of *ret, struct error *e)
{
    struct attempt_name name;
    enum err r = ids_name_parse(cli->args.words[0], &name, e);
    if (r == ERR_OK && name.attempt >= 0) {
        r = fail(e, ERR_USAGE, "all attempts of an instance share one directory: name '%llu.%lld'",
                 (unsigned long long)name.task, (long long)name.instance);
    }
    if (r == ERR_OK) {
        *ret = (struct files_of){name.task, name.instance < 0 ? 0 : (uint64_t)name.instance};
    }
    return r;
}

static enum err list_get(struct cli *cli, struct arena *arena, const struct files_of *of,
                         const char *path, const char *after, struct api_reply *ret,
                         struct error *e)
{
    const char *url = arena_fmt(arena, "/tasks/%llu/files?index=%llu&path=%s&after=%s",
                                (unsigned long long)of->task, (unsigned long long)of->index,
                                api_escape(arena, path), api_escape(arena, after));
    return api_get_patient(cli, arena, url, ret, e);
}

/* ---- files ---- */

static void entry_row(struct text_table *table, const struct doc *entry)
{
    char size[AMOUNT_TEXT_MAX] = "";
    char when[TEXT_TIME_MAX] = "";
    int64_t modified_ms;
    const char *kind = item_text(entry, "kind");
    const bool directory = strcmp(kind, "directory") == 0;
    if (strcmp(kind, "file") == 0) {
        amount_bytes_text(item_number(entry, "size", 0), size);
    }
    if (item_time(entry, "modified_at", &modified_ms)) {
        text_time(modified_ms, when);
    }
    table_cell(table, str_of(directory ? "dir" : kind), COLOUR_NONE);
    table_cell(table, str_of(size), COLOUR_NONE);
    table_cell(table, str_of(when), COLOUR_DIM);
    table_cell(table, str_of(item_text(entry, "name")), directory ? COLOUR_BLUE : COLOUR_NONE);
}

/* Adds the rows of one answer. *ret_last: the last name, behind which the next answer begins; NULL: that
 * was all. */
static void rows_add(struct text_table *table, const struct doc *answer, const char **ret_last)
{
    const struct doc *list = item_at(answer, "entries");
    const char *last = NULL;
    const struct doc *d = list == NULL ? NULL : list->first;
    if (d == NULL) {
        const struct doc *self = item_at(answer, "self");
        if (self != NULL && strcmp(item_text(self, "kind"), "file") == 0) {
            entry_row(table, self);
        }
    }
    for (; d != NULL; d = d->next) {
        entry_row(table, d);
        last = item_text(d, "name");
    }
    *ret_last = item_true(answer, "end") ? NULL : last;
}

static enum err files_show(struct cli *cli, const struct files_of *of, const char *path,
                           struct error *e)
{
    auto_free(table_freep) struct text_table *table = table_new(cli->width, cli->colour);
    table_column(table, "KIND", false);
    table_column(table, "SIZE", true);
    table_column(table, "MODIFIED", false);
    table_column(table, "NAME", false);
    const char *after = "";
    enum err r = ERR_OK;
    while (r == ERR_OK && after != NULL) {
        struct api_reply reply;
        r = list_get(cli, &cli->arena, of, path, after, &reply, e);
        if (r == ERR_OK && show_json(cli, &reply)) {
            return ERR_OK;
        }
        if (r == ERR_OK) {
            rows_add(table, reply.doc, &after);
        }
    }
    if (r == ERR_OK) {
        struct buf text;
        buf_init(&text, LISTING_BYTES_MAX);
        (void)table_print(table, true, 0, &text);
        context_out((struct str){buf_text(&text), text.len});
        buf_done(&text);
    }
    return r;
}

int cmd_files_list(struct cli *cli)
{
    struct error e;
    struct files_of of;
    const char *path = cli->args.word_count > 1 ? cli->args.words[1] : "";
    enum err r = of_read(cli, &of, &e);
    r = r != ERR_OK ? r : files_show(cli, &of, path, &e);
    return r == ERR_OK ? EXIT_OK : context_fail(cli, &e);
}

/* ---- get ---- */

struct get_item {
    char *remote; /* the path below the task's directory */
    char *local;  /* the path below the output directory */
};

struct get_call {
    struct cli *cli;
    struct files_of of;
    int out; /* the output directory */
    VEC(struct get_item) waiting;
    struct meter meter;
    uint64_t done;
    size_t files;
    size_t skipped;
};

/* Refuses what a name of one directory entry cannot be. */
static bool name_sane(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0 && strlen(name) <= NAME_MAX;
}

static char *joined(const char *dir, const char *name)
{
    const size_t len = strlen(dir) + strlen(name) + 2;
    char *path = xmalloc(len);
    (void)snprintf(path, len, "%s%s%s", dir, dir[0] == '\0' ? "" : "/", name);
    return path;
}

/* Opens the directory that holds the last part of `local`, part by part, without following a link. */
static int parent_open(int out, const char *local, const char **ret_name)
{
    int at = dup(out);
    const char *slash;
    while (at >= 0 && (slash = strchr(local, '/')) != NULL) {
        char part[NAME_MAX + 1];
        const size_t len = (size_t)(slash - local);
        int next = -1;
        if (len <= NAME_MAX) {
            memcpy(part, local, len);
            part[len] = '\0';
            next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        const int number = errno;
        (void)close(at);
        errno = number;
        at = next;
        local = slash + 1;
    }
    *ret_name = local;
    return at;
}

/* Fetches one piece and appends it to the file. *ret_version: the state of the file on the node. */
static enum err piece_get(struct get_call *get, const char *remote, int fd, uint64_t *offset,
                          char *version, size_t version_size, bool *ret_end, struct error *e)
{
    struct arena arena;
    struct api_reply reply;
    struct str data = {"", 0};
    arena_init(&arena);
    const char *url = arena_fmt(&arena, "/tasks/%llu/file?index=%llu&path=%s&offset=%llu",
                                (unsigned long long)get->of.task, (unsigned long long)get->of.index,
                                api_escape(&arena, remote), (unsigned long long)*offset);
    enum err r = api_get_patient(get->cli, &arena, url, &reply, e);
    if (r == ERR_OK && !base64_decode(&arena, str_of(item_text(reply.doc, "data")), &data)) {
        r = fail(e, ERR_CORRUPT, "the server's answer about '%s' is damaged", remote);
    }
    const char *now = r == ERR_OK ? item_text(reply.doc, "version") : "";
    if (r == ERR_OK && version[0] != '\0' && strcmp(version, now) != 0) {
        r = fail(e, ERR_CONFLICT, "'%s' changed while it was fetched", remote);
    }
    if (r == ERR_OK) {
        (void)str_copy(version, version_size, now);
        *ret_end = item_true(reply.doc, "end") || data.len == 0;
        for (size_t put = 0; r == ERR_OK && put < data.len;) {
            const ssize_t n = write(fd, data.p + put, data.len - put);
            if (n <= 0) {
                r = fail_errno(e, ERR_IO, errno, "cannot write '%s'", remote);
            } else {
                put += (size_t)n;
            }
        }
        *offset += data.len;
        get->done += data.len;
        get->meter.total = get->meter.total < get->done ? get->done : get->meter.total;
        meter_move(&get->meter, get->done);
    }
    arena_done(&arena);
    return r;
}

static enum err pieces_get(struct get_call *get, const char *remote, int fd, struct error *e)
{
    enum err r = ERR_CONFLICT;
    for (int i = 0; i < PIECE_TRIES_MAX && r == ERR_CONFLICT; i++) {
        char version[128] = "";
        uint64_t offset = 0;
        bool end = false;
        r = ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0
                ? ERR_OK
                : fail_errno(e, ERR_IO, errno, "cannot write '%s'", remote);
        while (r == ERR_OK && !end) {
            r = piece_get(get, remote, fd, &offset, version, sizeof version, &end, e);
        }
    }
    return r;
}

static enum err file_get(struct get_call *get, const struct get_item *item, struct error *e)
{
    const char *name;
    char part[64];
    const int parent = parent_open(get->out, item->local, &name);
    if (parent < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot write '%s'", item->local);
    }
    (void)snprintf(part, sizeof part, ".weir-%ld-%zu.part", (long)getpid(), get->files);
    const int fd = openat(parent, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    enum err r = fd < 0 ? fail_errno(e, ERR_IO, errno, "cannot write '%s'", item->local)
                        : pieces_get(get, item->remote, fd, e);
    if (fd >= 0 && close(fd) != 0 && r == ERR_OK) {
        r = fail_errno(e, ERR_IO, errno, "cannot write '%s'", item->local);
    }
    if (r == ERR_OK && renameat(parent, part, parent, name) != 0) {
        r = fail_errno(e, ERR_IO, errno, "cannot write '%s'", item->local);
    }
    if (r != ERR_OK && fd >= 0) {
        (void)unlinkat(parent, part, 0);
    }
    (void)close(parent);
    get->files += r == ERR_OK;
    return r;
}

static enum err entries_wait(struct get_call *get, const struct get_item *item,
                             const struct doc *answer, const char **ret_after, struct error *e)
{
    const struct doc *list = item_at(answer, "entries");
    const char *last = NULL;
    for (const struct doc *d = list == NULL ? NULL : list->first; d != NULL; d = d->next) {
        const char *name = item_text(d, "name");
        const char *kind = item_text(d, "kind");
        last = name;
        if (!name_sane(name) || (strcmp(kind, "file") != 0 && strcmp(kind, "directory") != 0)) {
            context_say("weir: '%s' in '%s' is left out: it is a %s", name, item->remote,
                        name_sane(kind) ? kind : "name that no file can have here");
            get->skipped++;
            continue;
        }
        if (get->waiting.count >= WAITING_MAX) {
            return fail(e, ERR_LIMIT, "more than %d files", WAITING_MAX);
        }
        get->meter.total += (uint64_t)item_number(d, "size", 0);
        const struct get_item next = {joined(item->remote, name), joined(item->local, name)};
        vec_push(&get->waiting, next);
    }
    *ret_after = item_true(answer, "end") ? NULL : last;
    return ERR_OK;
}

static enum err directory_get(struct get_call *get, const struct get_item *item, struct error *e)
{
    const char *name;
    const int parent = parent_open(get->out, item->local, &name);
    enum err r = ERR_OK;
    if (parent < 0 || (name[0] != '\0' && mkdirat(parent, name, 0777) != 0 && errno != EEXIST)) {
        r = fail_errno(e, ERR_IO, errno, "cannot make the directory '%s'", item->local);
    }
    if (parent >= 0) {
        (void)close(parent);
    }
    const char *after = "";
    while (r == ERR_OK && after != NULL) {
        struct api_reply reply;
        r = list_get(get->cli, &get->cli->arena, &get->of, item->remote, after, &reply, e);
        r = r != ERR_OK ? r : entries_wait(get, item, reply.doc, &after, e);
    }
    return r;
}

static enum err item_get(struct get_call *get, const struct get_item *item, struct error *e)
{
    struct api_reply reply;
    struct arena arena;
    arena_init(&arena);
    enum err r = list_get(get->cli, &arena, &get->of, item->remote, "", &reply, e);
    if (r == ERR_OK) {
        const char *kind = item_text(reply.doc, "self.kind");
        if (strcmp(kind, "directory") == 0) {
            r = directory_get(get, item, e);
        } else {
            r = file_get(get, item, e);
        }
    }
    arena_done(&arena);
    return r;
}

/* The last part of a path as it was typed: "out/" is "out"; "" and "." stand for the whole directory. */
static char *last_part(const char *path)
{
    size_t len = strlen(path);
    while (len > 0 && path[len - 1] == '/') {
        len--;
    }
    size_t begin = len;
    while (begin > 0 && path[begin - 1] != '/') {
        begin--;
    }
    char *part = xmalloc(len - begin + 1);
    memcpy(part, path + begin, len - begin);
    part[len - begin] = '\0';
    if (strcmp(part, ".") == 0) {
        part[0] = '\0';
    }
    return part;
}

static enum err get_all(struct get_call *get, struct error *e)
{
    const struct args *args = &get->cli->args;
    enum err r = ERR_OK;
    for (size_t i = 1; i < args->word_count; i++) {
        const struct get_item item = {xstrdup(args->words[i]), last_part(args->words[i])};
        vec_push(&get->waiting, item);
    }
    meter_begin(&get->meter, "fetched", 0, true);
    while (r == ERR_OK && get->waiting.count > 0) {
        const struct get_item item = get->waiting.at[--get->waiting.count];
        r = item_get(get, &item, e);
        free(item.remote);
        free(item.local);
    }
    meter_clear(&get->meter);
    return r;
}

int cmd_files_get(struct cli *cli)
{
    struct error e;
    struct get_call get = {.cli = cli};
    const char *out = args_text(&cli->args, "output");
    out = out == NULL ? "." : out;
    enum err r = of_read(cli, &get.of, &e);
    if (r == ERR_OK && mkdir(out, 0777) != 0 && errno != EEXIST) {
        r = fail_errno(&e, ERR_IO, errno, "cannot make '%s'", out);
    }
    get.out = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r == ERR_OK && get.out < 0) {
        r = fail_errno(&e, ERR_IO, errno, "cannot open '%s'", out);
    }
    r = r != ERR_OK ? r : get_all(&get, &e);
    for (size_t i = 0; i < get.waiting.count; i++) {
        free(get.waiting.at[i].remote);
        free(get.waiting.at[i].local);
    }
    vec_done(&get.waiting);
    if (get.out >= 0) {
        (void)close(get.out);
    }
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    context_say("%zu file%s in %s%s", get.files, get.files == 1 ? "" : "s", out,
                get.skipped > 0 ? "; links and devices were left out" : "");
    return EXIT_OK;
}
