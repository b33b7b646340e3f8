/* ec2_keys.c - see ec2_keys.h. SPDX-License-Identifier: Apache-2.0 */
#include "provider/ec2/ec2_keys.h"

#include "base/mem.h"
#include "base/must.h"
#include "provider/ec2/ec2_role.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_LEN_MAX = 2048, FILE_BYTES_MAX = 16 * 1024 };
enum { PART_ACCESS, PART_SECRET, PART_SESSION, PART_COUNT };

static const char *const variables[PART_COUNT] = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                                                  "AWS_SESSION_TOKEN"};
static const char *const names[PART_COUNT] = {"aws_access_key_id", "aws_secret_access_key",
                                              "aws_session_token"};

struct ec2_keys {
    char *path; /* "": the environment */
    char parts[PART_COUNT][KEY_LEN_MAX];
    struct ec2_role *role; /* NULL: the path is none of a metadata service */
};

/* Moves a variable out of the environment. Children, and /proc/PID/environ, must not show it. */
static void variable_take(const char *name, char *ret)
{
    char *value = getenv(name);
    if (value != NULL) {
        (void)str_copy(ret, KEY_LEN_MAX, value);
        sodium_memzero(value, strlen(value));
        (void)unsetenv(name);
    }
}

struct ec2_keys *ec2_keys_new(const char *path)
{
    struct ec2_keys *keys = xcalloc(1, sizeof *keys);
    keys->path = xstrdup(path);
    for (unsigned i = 0; i < PART_COUNT; i++) {
        variable_take(variables[i], keys->parts[i]);
    }
    return keys;
}

void ec2_keys_free(struct ec2_keys *keys)
{
    if (keys != NULL) {
        free(keys->path);
        ec2_role_free(keys->role);
        sodium_memzero(keys, sizeof *keys);
        free(keys);
    }
}

void ec2_keys_connect(struct ec2_keys *keys, struct loop *loop, struct http_multi *http)
{
    if (strncmp(keys->path, "http://", 7) == 0) {
        keys->role = ec2_role_new(loop, http, keys->path);
    }
}

static enum err file_text(const char *path, struct arena *arena, struct str *ret, struct error *e)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "the EC2 credentials in '%s'", path);
    }
    char *text = arena_alloc(arena, FILE_BYTES_MAX + 1);
    const bool plain = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    const bool open_to_others = plain && (info.st_mode & 077) != 0;
    const ssize_t len = plain && !open_to_others ? read(fd, text, FILE_BYTES_MAX + 1) : -1;
    (void)close(fd);
    if (open_to_others) {
        return fail(e, ERR_DENIED,
                    "other users may open the EC2 credentials in '%s': chmod 600 would do", path);
    }
    if (len < 0 || len > FILE_BYTES_MAX) {
        return fail(e, ERR_IO, "the EC2 credentials in '%s' cannot be read", path);
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

enum err ec2_keys_get(struct ec2_keys *keys, struct arena *arena, struct sigv4_keys *ret,
                      struct error *e)
{
    const char *parts[PART_COUNT] = {keys->parts[0], keys->parts[1], keys->parts[2]};
    const bool file = keys->path[0] != '\0';
    struct str text = {0};
    if (keys->role != NULL) {
        return ec2_role_get(keys->role, arena, ret, e);
    }
    if (file) {
        if (file_text(keys->path, arena, &text, e) != ERR_OK) {
            return e->code;
        }
        parts[PART_ACCESS] = parts[PART_SECRET] = parts[PART_SESSION] = "";
        file_parse(text, arena, parts);
    }
    if (parts[PART_ACCESS][0] == '\0' || parts[PART_SECRET][0] == '\0') {
        return file ? fail(e, ERR_INVALID,
                           "'%s' has no aws_access_key_id and aws_secret_access_key", keys->path)
                    : fail(e, ERR_NOT_FOUND,
                           "this server has no EC2 credentials: set AWS_ACCESS_KEY_ID and "
                           "AWS_SECRET_ACCESS_KEY in its environment, or name a file in the "
                           "server file: 'ec2: {credentials: FILE}', or with the role of an EC2 "
                           "machine 'ec2: {credentials: http://169.254.169.254}'");
    }
    if (strpbrk(parts[PART_ACCESS], "\r\n ") != NULL ||
        strpbrk(parts[PART_SESSION], "\r\n") != NULL) {
        return fail(e, ERR_INVALID, "the EC2 credentials have a blank or a line break inside");
    }
    *ret = (struct sigv4_keys){parts[PART_ACCESS], parts[PART_SECRET], parts[PART_SESSION]};
    return ERR_OK;
}
