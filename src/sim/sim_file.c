/* sim_file.c - see sim_file.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_file.h"

#include "sim/scenario.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 16 };

enum err sim_file_read(const char *path, struct arena *arena, struct str *ret, struct error *e)
{
    const bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "re");
    if (file == NULL) {
        return fail_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, errno, "cannot open '%s'",
                          path);
    }
    struct buf text;
    buf_init(&text, SCENARIO_FILE_BYTES_MAX);
    char *chunk = xmalloc(CHUNK_BYTES);
    size_t len;
    while ((len = fread(chunk, 1, CHUNK_BYTES, file)) > 0) {
        buf_add(&text, chunk, len);
    }
    enum err r = ERR_OK;
    if (ferror(file)) {
        r = fail_errno(e, ERR_IO, errno, "cannot read '%s'", path);
    } else if (text.full) {
        r = fail(e, ERR_LIMIT, "'%s' is larger than %d bytes", path, SCENARIO_FILE_BYTES_MAX);
    } else {
        *ret = (struct str){arena_strn(arena, buf_text(&text), text.len), text.len};
    }
    free(chunk);
    buf_done(&text);
    if (!standard) {
        (void)fclose(file);
    }
    return r;
}

enum err sim_file_write(const char *path, const struct buf *text, struct error *e)
{
    const bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdout : fopen(path, "we");
    if (file == NULL) {
        return fail_errno(e, ERR_IO, errno, "cannot write '%s'", path);
    }
    const bool written = fwrite(buf_text(text), 1, text->len, file) == text->len;
    const bool closed = (standard ? fflush(file) : fclose(file)) == 0;
    if (!written || !closed) {
        return standard ? fail_errno(e, ERR_IO, errno, "cannot write to standard output")
                        : fail_errno(e, ERR_IO, errno, "cannot write '%s'", path);
    }
    return ERR_OK;
}

enum err sim_file_writable(const char *path, struct error *e)
{
    char folder[PATH_MAX] = ".";
    struct stat file;
    if (path == NULL || strcmp(path, "-") == 0) {
        return ERR_OK;
    }
    const char *slash = strrchr(path, '/');
    if (slash != NULL && (size_t)(slash - path) < sizeof folder - 1) {
        (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    }
    const bool there = stat(path, &file) == 0;
    if (there && S_ISDIR(file.st_mode)) {
        return fail_errno(e, ERR_IO, EISDIR, "cannot write '%s'", path);
    }
    if (access(there ? path : folder, W_OK) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot write '%s'", path);
    }
    return ERR_OK;
}
