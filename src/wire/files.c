/* files.c - see files.h. SPDX-License-Identifier: Apache-2.0 */
#include "wire/files.h"

#include "base/str.h"
#include "base/utf8.h"

#include <string.h>

must_use enum err files_path_check(const char *path, struct error *e)
{
    const size_t len = strlen(path);
    if (len > FILES_PATH_MAX) {
        return fail(e, ERR_LIMIT, "the path is longer than %d bytes", FILES_PATH_MAX);
    }
    if (path[0] == '/') {
        return fail(e, ERR_INVALID,
                    "'%.100s' is an absolute path; name a path below the task's directory", path);
    }
    struct str rest = {path, len};
    while (rest.p != NULL) {
        struct str part = str_cut(rest, '/', &rest);
        if (str_is(part, "..")) {
            return fail(e, ERR_INVALID, "'%.100s' leads out of the task's directory", path);
        }
    }
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)path[i] < ' ' || path[i] == 0x7f) {
            return fail(e, ERR_INVALID, "the path has a control character at byte %zu", i);
        }
    }
    return utf8_valid(path, len) ? ERR_OK : fail(e, ERR_INVALID, "the path is not UTF-8");
}

const char *files_kind(const char *word)
{
    static const char *const words[] = {"file", "directory", "link"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i], word) == 0) {
            return words[i];
        }
    }
    return "other";
}
