/* task_read.c - see task_read.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/task_read.h"

#include "spec/task_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 256 << 20 };

static enum err file_read(const char *name, struct buf *out, struct error *e)
{
    bool is_stdin = strcmp(name, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return fail_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, errno, "cannot read %s",
                          name);
    }
    char piece[65536];
    ssize_t n;
    while ((n = read(fd, piece, sizeof piece)) > 0) {
        buf_add(out, piece, (size_t)n);
    }
    int number = errno;
    if (!is_stdin) {
        (void)close(fd);
    }
    if (n < 0) {
        return fail_errno(e, ERR_IO, number, "cannot read %s", name);
    }
    return out->full ? fail(e, ERR_LIMIT, "%s is larger than %d bytes", name, FILE_MAX) : ERR_OK;
}

enum err task_read(struct cli *cli, const char *name, const struct doc **ret, uint32_t *ret_count,
                   size_t *problems, struct error *e)
{
    struct arena *arena = &cli->arena;
    struct buf text;
    buf_init(&text, FILE_MAX);
    enum err r = file_read(name, &text, e);
    const char *shown = strcmp(name, "-") == 0 ? "standard input" : name;
    struct str all = {.p = arena_strn(arena, buf_text(&text), text.len), .len = text.len};
    buf_done(&text);
    if (r != ERR_OK) {
        return r;
    }
    /* A file may leave the program to run to the command line. Then only the server can check
     * the whole task. */
    struct task_file file = {.partial = cli->args.rest_count > 0};
    struct problems *found = arena_new(arena, struct problems, 1);
    *ret = NULL;
    if (task_file_read(all, shown, arena, &file, found, e) != ERR_OK) {
        context_report(arena, problem_report(found, shown, all, arena));
        *problems += found->total;
        return ERR_OK;
    }
    *ret_count = file.count;
    *ret = file.doc;
    return ERR_OK;
}
