/* reports.c - GET /reports, /reports/{name}: reports of the simulator, which lie in `reports` of the data directory.
 * Files are read on a reader thread. A report is sent as plain text: no browser shows it as a page of this server.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call_work.h"
#include "api/handlers.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    REPORTS_MAX = 200,     /* of one list: the newest */
    REPORTS_LOOKED = 5000, /* files that are looked at */
    REPORT_NAME_MAX = 100,
    REPORT_BYTES_MAX = 16 * 1024 * 1024,
    REPORT_PATH_MAX = 4096,
};

struct report_file {
    char name[REPORT_NAME_MAX + 1];
    int64_t bytes;
    int64_t modified_ms;
};

struct reports {
    struct call_work base;
    char dir[REPORT_PATH_MAX];
    char name[REPORT_NAME_MAX + 1]; /* "": the list */
    VEC(struct report_file) files;
    struct buf text;
};

static void reports_free(struct call_work *base)
{
    struct reports *r = (struct reports *)base;
    vec_done(&r->files);
    buf_done(&r->text);
    free(r);
}

/* Letters, digits, '.', '-' and '_', with .html behind and no '.' in front: nothing that leads elsewhere. */
static bool name_fits(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t len = strlen(name);
    return len > 5 && len <= REPORT_NAME_MAX && name[0] != '.' && strspn(name, letters) == len &&
           strcmp(name + len - 5, ".html") == 0;
}

static int file_compare(const void *a, const void *b)
{
    const struct report_file *x = a;
    const struct report_file *y = b;
    return x->modified_ms != y->modified_ms ? (x->modified_ms < y->modified_ms ? 1 : -1)
                                            : strcmp(x->name, y->name);
}

static void list_run(struct reports *r)
{
    DIR *dir = opendir(r->dir);
    const struct dirent *entry;
    for (int i = 0; dir != NULL && i < REPORTS_LOOKED && (entry = readdir(dir)) != NULL; i++) {
        struct stat info;
        if (!name_fits(entry->d_name) ||
            fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode)) {
            continue;
        }
        struct report_file file = {.bytes = info.st_size,
                                   .modified_ms = (int64_t)info.st_mtim.tv_sec * 1000 +
                                                  info.st_mtim.tv_nsec / 1000000};
        (void)str_copy(file.name, sizeof file.name, entry->d_name);
        vec_push(&r->files, file);
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    if (r->files.count > 0) {
        qsort(r->files.at, r->files.count, sizeof *r->files.at, file_compare);
    }
}

static enum err file_read(struct reports *r, int fd)
{
    char piece[65536];
    ssize_t got;
    while ((got = read(fd, piece, sizeof piece)) > 0) {
        if (r->text.len + (size_t)got > REPORT_BYTES_MAX) {
            return fail(&r->base.error, ERR_LIMIT, "the report %s has more than %d bytes", r->name,
                        REPORT_BYTES_MAX);
        }
        buf_add(&r->text, piece, (size_t)got);
    }
    return got == 0
               ? ERR_OK
               : fail(&r->base.error, ERR_IO, "read the report %s: %s", r->name, strerror(errno));
}

static void reports_run(struct work *work, struct store_reader *reader)
{
    struct reports *r = (struct reports *)work;
    (void)reader;
    if (r->name[0] == '\0') {
        list_run(r);
        return;
    }
    char path[REPORT_PATH_MAX + REPORT_NAME_MAX + 2];
    struct stat info;
    (void)snprintf(path, sizeof path, "%s/%s", r->dir, r->name);
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        r->base.err = fail(&r->base.error, ERR_NOT_FOUND, "no report %s", r->name);
    } else {
        r->base.err = file_read(r, fd);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void list_answer(struct reports *r, struct call *call)
{
    struct json_out j;
    call_json(call, &j);
    json_out_put(&j, "{items:[");
    for (size_t i = 0; i < r->files.count && i < REPORTS_MAX; i++) {
        const struct report_file *file = &r->files.at[i];
        json_out_object(&j);
        json_out_kv_text(&j, "name", file->name);
        json_out_kv_i64(&j, "bytes", file->bytes);
        json_out_kv_time(&j, "modified_at", file->modified_ms);
        json_out_end(&j);
    }
    json_out_put(&j, "],more:%i}", r->files.count > REPORTS_MAX);
    call_answer_json(call, 200);
}

static void reports_answer(struct call_work *base)
{
    struct reports *r = (struct reports *)base;
    struct call *call = base->call;
    if (r->name[0] == '\0') {
        list_answer(r, call);
    } else {
        buf_clear(&call->out);
        buf_add(&call->out, buf_text(&r->text), r->text.len);
        call_answer(call, 200, "text/plain; charset=utf-8");
    }
}

static const struct call_work_kind reports_kind = {
    .run = reports_run,
    .answer = reports_answer,
    .free = reports_free,
    .reads = true,
    .busy = "too many requests wait for files",
};

static void ask(struct call *call, const char *name)
{
    struct reports *r = xcalloc(1, sizeof *r);
    r->base.kind = &reports_kind;
    buf_init(&r->text, REPORT_BYTES_MAX);
    (void)snprintf(r->dir, sizeof r->dir, "%s/reports",
                   call->api->o.dir == NULL ? "." : call->api->o.dir);
    (void)str_copy(r->name, sizeof r->name, name);
    call_work_send(call, &r->base);
}

void reports_list(struct call *call)
{
    ask(call, "");
}

void reports_show(struct call *call)
{
    if (!name_fits(call->params[0])) {
        call_failf(call, ERR_NOT_FOUND, "", "no report %.100s: its name ends with .html",
                   call->params[0]);
        return;
    }
    ask(call, call->params[0]);
}
