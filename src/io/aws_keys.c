/* aws_keys.c - see aws_keys.h. SPDX-License-Identifier: Apache-2.0 */
#include "io/aws_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 16 * 1024 };
enum { PART_ACCESS, PART_SECRET, PART_SESSION, PART_COUNT };

static const char *const names[PART_COUNT] = {"aws_access_key_id", "aws_secret_access_key",
                                              "aws_session_token"};

static enum err file_text(const char *path, struct arena *arena, struct str *ret, struct error *e)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "the credentials in '%s'", path);
    }
    char *text = arena_alloc(arena, FILE_BYTES_MAX + 1);
    const bool plain = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    const bool open_to_others = plain && (info.st_mode & 077) != 0;
    const ssize_t len = plain && !open_to_others ? read(fd, text, FILE_BYTES_MAX + 1) : -1;
    (void)close(fd);
    if (open_to_others) {
        return fail(e, ERR_DENIED,
                    "other users may open the credentials in '%s': chmod 600 would do", path);
    }
    if (len < 0 || len > FILE_BYTES_MAX) {
        return fail(e, ERR_IO, "the credentials in '%s' cannot be read", path);
    }
    *ret = (struct str){text, (size_t)len};
    return ERR_OK;
}

/* Reads "name = value" lines of the section [default]. Other sections and names are passed over. */
static void file_parse(struct str text, struct arena *arena, const char **parts)
{
    bool ours = true; /* lines before the first section count */
    for (struct str rest = text; rest.p != NULL;) {
        struct str value;
        const struct str line = str_trim(str_cut(rest, '\n', &rest));
        if (line.len > 0 && line.p[0] == '[') {
            ours = str_is(line, "[default]");
        }
        const struct str name = str_trim(str_cut(line, '=', &value));
        for (unsigned i = 0; ours && value.p != NULL && i < PART_COUNT; i++) {
            if (str_is(name, names[i])) {
                value = str_trim(value);
                parts[i] = arena_strn(arena, value.p, value.len);
                break;
            }
        }
    }
}

enum err aws_keys_check(const struct sigv4_keys *keys, struct error *e)
{
    return strpbrk(keys->access_key, "\r\n ") == NULL &&
                   strpbrk(keys->session_token, "\r\n") == NULL
               ? ERR_OK
               : fail(e, ERR_INVALID, "the credentials have a blank or a line break inside");
}

enum err aws_keys_read(const char *path, struct arena *arena, struct sigv4_keys *ret,
                       struct error *e)
{
    const char *parts[PART_COUNT] = {"", "", ""};
    struct str text = {NULL, 0};
    enum err r = file_text(path, arena, &text, e);
    if (r != ERR_OK) {
        return r;
    }
    file_parse(text, arena, parts);
    if (parts[PART_ACCESS][0] == '\0' || parts[PART_SECRET][0] == '\0') {
        return fail(e, ERR_INVALID, "'%s' has no aws_access_key_id and aws_secret_access_key",
                    path);
    }
    *ret = (struct sigv4_keys){parts[PART_ACCESS], parts[PART_SECRET], parts[PART_SESSION]};
    return aws_keys_check(ret, e);
}
