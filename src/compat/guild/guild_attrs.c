/* guild_attrs.c - see guild_attrs.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/guild/guild_attrs.h"

#include "base/buf.h"
#include "base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_DIGITS_MAX = 10, ENV_BYTES_MAX = 16 * 1024 * 1024 };

/* ---- reading ---- */

enum err guild_attrs_file(struct arena *arena, const char *run_dir, const char *name,
                          struct str *ret, struct error *e)
{
    const char *path = arena_fmt(arena, "%s/.guild/%s", run_dir, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return errno == ENOENT ? fail(e, ERR_NOT_FOUND, "there is no '%.150s'", path)
                               : fail_errno(e, ERR_IO, errno, "cannot read '%.150s'", path);
    }
    struct stat st;
    enum err r = ERR_OK;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        r = fail(e, ERR_INVALID, "'%.150s' is no plain file", path);
    } else if (st.st_size > GUILD_FILE_BYTES_MAX) {
        r = fail(e, ERR_LIMIT, "'%.150s' has %lld bytes; %d would do", path, (long long)st.st_size,
                 GUILD_FILE_BYTES_MAX);
    } else {
        const size_t size = (size_t)st.st_size;
        char *text = arena_alloc(arena, size + 1);
        const ssize_t got = read(fd, text, size);
        r = got < 0 ? fail_errno(e, ERR_IO, errno, "cannot read '%.150s'", path) : ERR_OK;
        *ret = (struct str){text, got < 0 ? 0 : (size_t)got};
    }
    (void)close(fd);
    return r;
}

enum err guild_attrs_read(struct arena *arena, const char *run_dir, const char *name,
                          const struct doc **ret, struct error *e)
{
    struct str text;
    struct doc *doc;
    *ret = NULL;
    const char *path = arena_fmt(arena, "attrs/%s", name);
    enum err r = guild_attrs_file(arena, run_dir, path, &text, e);
    if (r == ERR_NOT_FOUND) {
        return ERR_OK;
    }
    r = r == ERR_OK ? doc_yaml_parse(arena, text, &doc, e) : r;
    if (r != ERR_OK) {
        return fail_in(e, "attribute '%s'", name);
    }
    *ret = doc;
    return ERR_OK;
}

bool guild_attrs_number(struct arena *arena, const char *run_dir, const char *name, int64_t *ret)
{
    struct str text;
    const char *path = arena_fmt(arena, "attrs/%s", name);
    return guild_attrs_file(arena, run_dir, path, &text, NULL) == ERR_OK &&
           str_to_i64(str_trim(text), ret);
}

int64_t guild_attrs_lock_pid(struct arena *arena, const char *run_dir)
{
    struct str text;
    int64_t pid = 0;
    if (guild_attrs_file(arena, run_dir, "LOCK", &text, NULL) != ERR_OK) {
        return 0;
    }
    text.len = text.len > LOCK_DIGITS_MAX ? LOCK_DIGITS_MAX : text.len;
    return str_to_i64(str_trim(text), &pid) && pid > 0 ? pid : 0;
}

bool guild_attrs_null(const struct doc *doc)
{
    return doc == NULL || doc->kind == DOC_NULL ||
           (doc->kind == DOC_STRING && !doc->quoted &&
            (doc->text.len == 0 || str_is(doc->text, "null") || str_is(doc->text, "~")));
}

/* ---- writing ---- */

static const char *draft_path(struct arena *arena, const char *run_dir, pid_t pid)
{
    return arena_fmt(arena, "%s/.guild/.weir-%d", run_dir, (int)pid);
}

void guild_attrs_draft_remove(struct arena *arena, const char *run_dir, pid_t pid)
{
    (void)unlink(draft_path(arena, run_dir, pid));
}

enum err guild_attrs_put(struct arena *arena, const char *run_dir, const char *name,
                         struct str text, struct error *e)
{
    const char *path = arena_fmt(arena, "%s/.guild/%s", run_dir, name);
    const char *draft = draft_path(arena, run_dir, getpid());
    const int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot write '%.150s'", path);
    }
    size_t done = 0;
    while (done < text.len) {
        const ssize_t n = write(fd, text.p + done, text.len - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        done += (size_t)n;
    }
    const int failed = done == text.len ? 0 : errno == 0 ? EIO : errno;
    (void)close(fd);
    if (failed != 0 || rename(draft, path) != 0) {
        const int number = failed != 0 ? failed : errno;
        (void)unlink(draft);
        return fail_errno(e, ERR_IO, number, "cannot write '%.150s'", path);
    }
    return ERR_OK;
}

enum err guild_attrs_put_number(struct arena *arena, const char *run_dir, const char *name,
                                int64_t number, struct error *e)
{
    const char *text = arena_fmt(arena, "%lld\n", (long long)number);
    return guild_attrs_put(arena, run_dir, arena_fmt(arena, "attrs/%s", name), str_of(text), e);
}

/* Guild's rule for names whose values are not kept. */
static bool is_secret(struct str name, struct arena *arena)
{
    static const char *const parts[] = {"password", "token", "secret"};
    char *lower = arena_strn(arena, name.p, name.len);
    for (char *p = lower; *p != '\0'; p++) {
        *p = (char)tolower((unsigned char)*p);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strstr(lower, parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* A double-quoted YAML scalar in ASCII: PyYAML refuses some characters that JSON allows raw. */
static void scalar_add(struct buf *out, struct str text)
{
    buf_add_char(out, '"');
    for (size_t i = 0; i < text.len;) {
        const size_t step = utf8_step(text.p + i, text.len - i);
        const unsigned char c = (unsigned char)text.p[i];
        const uint32_t point = step == 0 ? 0xFFFD : step == 1 ? c : utf8_point(text.p + i, step);
        if (point == '"' || point == '\\') {
            buf_addf(out, "\\%c", (char)point);
        } else if (point >= ' ' && point < 127) {
            buf_add_char(out, (char)point);
        } else if (point <= 0xFFFF) {
            buf_addf(out, "\\u%04X", (unsigned)point);
        } else {
            buf_addf(out, "\\U%08X", (unsigned)point);
        }
        i += step == 0 ? 1 : step;
    }
    buf_add_char(out, '"');
}

enum err guild_attrs_put_env(struct arena *arena, const char *run_dir, const char *const *env,
                             struct error *e)
{
    struct buf out;
    buf_init(&out, ENV_BYTES_MAX);
    for (; *env != NULL; env++) {
        struct str value;
        const struct str name = str_cut(str_of(*env), '=', &value);
        if (value.p != NULL && !is_secret(name, arena)) {
            scalar_add(&out, name);
            buf_add_str(&out, ": ");
            scalar_add(&out, value);
            buf_add_char(&out, '\n');
        }
    }
    if (out.len == 0) {
        buf_add_str(&out, "{}\n");
    }
    enum err r =
        guild_attrs_put(arena, run_dir, "attrs/env", (struct str){buf_text(&out), out.len}, e);
    buf_done(&out);
    return r;
}

enum err guild_attrs_remove(struct arena *arena, const char *run_dir, const char *name,
                            struct error *e)
{
    const char *path = arena_fmt(arena, "%s/.guild/%s", run_dir, name);
    if (unlink(path) != 0 && errno != ENOENT) {
        return fail_errno(e, ERR_IO, errno, "cannot remove '%.150s'", path);
    }
    return ERR_OK;
}

int64_t guild_attrs_now_us(void)
{
    static int64_t last_us; /* each process has its own */
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const int64_t us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    last_us = us > last_us ? us : last_us + 1;
    return last_us;
}
