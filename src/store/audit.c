/* audit.c - see audit.h. SPDX-License-Identifier: Apache-2.0 */
#include "store/audit.h"

#include "base/buf.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/must.h"
#include "store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AUDIT_PREV ",\"prev\":\""
#define AUDIT_HASH ",\"hash\":\""

enum {
    HASH_BYTES = 32,
    HASH_LEN = AUDIT_HASH_TEXT - 1,
    /* length of ,"hash":"…"} at the end of a line */
    HASH_PART = sizeof AUDIT_HASH - 1 + HASH_LEN + 2,
    PREV_PART = sizeof AUDIT_PREV - 1 + HASH_LEN + 1, /* length of ,"prev":"…" before the hash */
    READ_BYTES = 256 * 1024,
};

struct audit {
    struct file file;
    char path[PATH_MAX];
    uint64_t count;
    off_t
        torn; /* so many bytes at the end of the file are of a line that the disk did not take whole */
    char last[AUDIT_HASH_TEXT];
};

static void path_of(const char *dir, char out[PATH_MAX])
{
    (void)snprintf(out, PATH_MAX, "%s/audit.log", dir);
}

static void hash_of(const char *text, size_t len, char out[AUDIT_HASH_TEXT])
{
    unsigned char hash[HASH_BYTES];
    must(crypto_generichash(hash, sizeof hash, (const unsigned char *)text, len, NULL, 0) == 0);
    (void)sodium_bin2hex(out, AUDIT_HASH_TEXT, hash, sizeof hash);
}

/* Sets the hash that the first line names as that of the line before. */
static void hash_none(char out[AUDIT_HASH_TEXT])
{
    memset(out, '0', HASH_LEN);
    out[HASH_LEN] = '\0';
}

/* Finds in a line its own hash, and the hash of the line before. False: the line has another form. */
static bool line_hashes(struct str line, struct str *ret_hash, struct str *ret_prev)
{
    if (line.len < HASH_PART + PREV_PART) {
        return false;
    }
    const char *hash = line.p + line.len - HASH_PART;
    const char *prev = hash - PREV_PART;
    *ret_hash = (struct str){hash + sizeof AUDIT_HASH - 1, HASH_LEN};
    *ret_prev = (struct str){prev + sizeof AUDIT_PREV - 1, HASH_LEN};
    return memcmp(hash, AUDIT_HASH, sizeof AUDIT_HASH - 1) == 0 &&
           memcmp(prev, AUDIT_PREV, sizeof AUDIT_PREV - 1) == 0;
}

static uint64_t line_number(struct str line)
{
    uint64_t number = 0;
    for (size_t i = sizeof "{\"n\":" - 1; i < line.len && line.p[i] >= '0' && line.p[i] <= '9';
         i++) {
        number = number * 10 + (uint64_t)(line.p[i] - '0');
    }
    return number;
}

/* ---- writing ---- */

/* Finds the last whole line, whose hash the next line needs, and cuts off a part of a line behind
 * it. */
static enum err end_find(struct audit *audit, struct error *e)
{
    struct stat info;
    if (fstat(audit->file.fd, &info) != 0) {
        return fail_errno(e, ERR_IO, errno, "look at %s", audit->path);
    }
    const uint64_t size = (uint64_t)info.st_size;
    const uint64_t from = size > AUDIT_LINE_MAX * 2 ? size - AUDIT_LINE_MAX * 2 : 0;
    char *tail = xmalloc(AUDIT_LINE_MAX * 2);
    size_t len = 0;
    struct str hash;
    struct str prev;
    enum err r = file_read_at(audit->file, tail, AUDIT_LINE_MAX * 2, from, &len, e);
    size_t end = len;
    while (end > 0 && tail[end - 1] != '\n') {
        end--;
    }
    if (r == ERR_OK && end < len && ftruncate(audit->file.fd, (off_t)(from + end)) != 0) {
        r = fail_errno(e, ERR_IO, errno, "cut %s", audit->path);
    }
    size_t begin = end > 0 ? end - 1 : 0;
    while (begin > 0 && tail[begin - 1] != '\n') {
        begin--;
    }
    const struct str line = {tail + begin, end > begin ? end - 1 - begin : 0};
    if (r == ERR_OK && line_hashes(line, &hash, &prev)) {
        memcpy(audit->last, hash.p, HASH_LEN);
        audit->count = line_number(line);
    }
    free(tail);
    return r;
}

enum err audit_open(const char *dir, struct audit **ret, struct error *e)
{
    struct audit *audit = xcalloc(1, sizeof *audit);
    path_of(dir, audit->path);
    hash_none(audit->last);
    audit->file = (struct file){open(audit->path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600),
                                audit->path};
    const enum err r = audit->file.fd < 0 ? fail_errno(e, ERR_IO, errno, "open %s", audit->path)
                                          : end_find(audit, e);
    if (r != ERR_OK) {
        audit_free(audit);
        return r;
    }
    *ret = audit;
    return ERR_OK;
}

void audit_free(struct audit *audit)
{
    if (audit != NULL && audit->file.fd >= 0) {
        (void)close(audit->file.fd);
    }
    free(audit);
}

/* Removes the part of a line that the disk did not take whole, because the next line would be joined to that part. */
static enum err torn_cut(struct audit *audit, struct error *e)
{
    struct stat info;
    if (audit->torn == 0) {
        return ERR_OK;
    }
    if (fstat(audit->file.fd, &info) != 0 ||
        (info.st_size >= audit->torn &&
         ftruncate(audit->file.fd, info.st_size - audit->torn) != 0)) {
        return fail_errno(e, ERR_IO, errno, "cut %s", audit->path);
    }
    audit->torn = 0;
    return ERR_OK;
}

static enum err line_write(struct audit *audit, const struct buf *line, struct error *e)
{
    if (torn_cut(audit, e) != ERR_OK) {
        return ERR_IO;
    }
    const ssize_t written = write(audit->file.fd, line->data, line->len);
    if (written == (ssize_t)line->len) {
        return ERR_OK;
    }
    audit->torn = written > 0 ? written : 0;
    return fail_errno(e, ERR_IO, written < 0 ? errno : ENOSPC, "write %s", audit->path);
}

enum err audit_add(struct audit *audit, const struct audit_entry *entry, struct error *e)
{
    struct buf line;
    struct json_out j;
    char hash[AUDIT_HASH_TEXT];
    buf_init(&line, AUDIT_LINE_MAX);
    json_out_init(&j, &line);
    json_out_put(
        &j,
        "{n:%lu,time:%td,actor:%s,token:%s,peer:%s,method:%s,path:%s,status:%u,seq:%lu,prev:%s}",
        audit->count + 1, entry->time_ms, entry->actor, entry->token, entry->peer, entry->method,
        entry->path, entry->status, entry->seq, audit->last);
    hash[0] = '\0';
    if (!line.full) {
        line.len--; /* the closing brace comes behind the hash */
        hash_of(line.data, line.len, hash);
        buf_addf(&line, AUDIT_HASH "%s\"}\n", hash);
    }
    const enum err r = line.full
                           ? fail(e, ERR_LIMIT, "an act has more than %d bytes", AUDIT_LINE_MAX)
                           : line_write(audit, &line, e);
    if (r == ERR_OK) {
        memcpy(audit->last, hash, sizeof hash);
        audit->count++;
    }
    buf_done(&line);
    return r;
}

/* ---- reading ---- */

/* Opens the log for reading. *ret_fd is -1 where there is no log yet. */
static enum err log_open(const char *dir, char path[PATH_MAX], int *ret_fd, struct error *e)
{
    path_of(dir, path);
    *ret_fd = open(path, O_RDONLY | O_CLOEXEC);
    return *ret_fd < 0 && errno != ENOENT ? fail_errno(e, ERR_IO, errno, "open %s", path) : ERR_OK;
}

/* Gives at most `limit` lines of `text` to `fn`, the last line first. Returns the position in
 * `text` at which the last given line begins. */
static size_t lines_give(struct str text, size_t limit, audit_line_fn fn, void *ctx)
{
    size_t end = text.len;
    for (size_t i = 0; i < limit && end > 0; i++) {
        size_t begin = end - 1;
        while (begin > 0 && text.p[begin - 1] != '\n') {
            begin--;
        }
        fn(ctx, (struct str){text.p + begin, end - 1 - begin});
        end = begin;
    }
    return end;
}

enum err audit_read(const char *dir, uint64_t end, size_t limit, audit_line_fn fn, void *ctx,
                    uint64_t *ret_next, struct error *e)
{
    char path[PATH_MAX];
    struct stat info;
    auto_free(file_closep) int fd = -1;
    enum err r = log_open(dir, path, &fd, e);
    *ret_next = 0;
    if (r != ERR_OK || fd < 0) {
        return r;
    }
    if (fstat(fd, &info) != 0) {
        return fail_errno(e, ERR_IO, errno, "look at %s", path);
    }
    end = end == 0 || end > (uint64_t)info.st_size ? (uint64_t)info.st_size : end;
    const uint64_t from = end > READ_BYTES ? end - READ_BYTES : 0;
    char *text = xmalloc(READ_BYTES);
    size_t len = 0;
    r = file_read_at((struct file){fd, path}, text, (size_t)(end - from), from, &len, e);
    /* `text` may begin within a line, and may end with a line that is being written: both parts are
     * left out. */
    size_t begin = 0;
    while (from > 0 && begin < len && text[begin] != '\n') {
        begin++;
    }
    begin += from > 0 && begin < len ? 1 : 0;
    while (len > begin && text[len - 1] != '\n') {
        len--;
    }
    if (r == ERR_OK && len > begin) {
        const struct str whole = {text + begin, len - begin};
        *ret_next = from + begin + lines_give(whole, limit, fn, ctx);
    }
    free(text);
    return r;
}

/* ---- checking ---- */

/* Returns what is wrong with a line; NULL: nothing. `last` is the hash of the line before. */
static const char *line_check(const char *last, struct str line)
{
    struct str hash;
    struct str prev;
    char computed[AUDIT_HASH_TEXT];
    if (!line_hashes(line, &hash, &prev)) {
        return "it is no line of this log";
    }
    if (memcmp(prev.p, last, HASH_LEN) != 0) {
        return "it does not follow the line before: a line was taken away, added or moved";
    }
    hash_of(line.p, line.len - HASH_PART, computed);
    return memcmp(hash.p, computed, HASH_LEN) == 0 ? NULL : "it was changed";
}

enum err audit_verify(const char *dir, const char *known, struct audit_finding *ret,
                      struct error *e)
{
    char path[PATH_MAX];
    char last[AUDIT_HASH_TEXT];
    int fd;
    *ret = (struct audit_finding){0};
    enum err r = log_open(dir, path, &fd, e);
    if (r != ERR_OK || fd < 0) {
        return r;
    }
    FILE *file = fdopen(fd, "r");
    must(file != NULL);
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    hash_none(last);
    while (ret->why == NULL && (len = getline(&line, &room, file)) > 0 && line[len - 1] == '\n') {
        const struct str text = {line, (size_t)len - 1};
        ret->why = line_check(last, text);
        if (ret->why == NULL) {
            ret->lines++;
            memcpy(last, line + len - 1 - HASH_LEN - 2, HASH_LEN);
            memcpy(ret->last, last, sizeof last);
            ret->known_found = ret->known_found || (known != NULL && strcmp(known, last) == 0);
        }
    }
    if (ferror(file) != 0) {
        r = fail(e, ERR_IO, "cannot read %s", path);
    }
    free(line);
    (void)fclose(file);
    return r;
}
