/* files.c - see files.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/files.h"

#include "sim/scenario.h"

#include <errno.h>

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
        return fail_errno(e, ERR_IO, errno, "cannot write '%s'", path);
    }
    return ERR_OK;
}
