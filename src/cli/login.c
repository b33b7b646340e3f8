/* login.c - see login.h. The saved login is a file of lines `key: value`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/login.h"

#include "base/str.h"
#include "cli/login_names.h"
#include "cli/updir.h"
#include "io/http_client.h"
#include "io/tls_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum err login_file_read(struct arena *arena, const char *path, const char **ret, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        enum err code = errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND
                        : errno == EACCES                   ? ERR_DENIED
                                                            : ERR_IO;
        return fail_errno(e, code, errno, "cannot read %s", path);
    }
    char *text = arena_alloc(arena, LOGIN_FILE_MAX + 1);
    size_t len = 0;
    ssize_t n = 1;
    while (len < LOGIN_FILE_MAX && n > 0) {
        n = read(fd, text + len, LOGIN_FILE_MAX - len);
        len += n > 0 ? (size_t)n : 0;
    }
    int number = errno;
    (void)close(fd);
    if (n < 0) {
        return fail_errno(e, ERR_IO, number, "cannot read %s", path);
    }
    struct str trimmed = str_trim((struct str){.p = text, .len = len});
    while (trimmed.len > 0 &&
           (trimmed.p[trimmed.len - 1] == '\n' || trimmed.p[trimmed.len - 1] == '\r')) {
        trimmed.len--;
    }
    *ret = arena_strn(arena, trimmed.p, trimmed.len);
    return ERR_OK;
}

enum err login_url_check(const char *url, struct error *e)
{
    static const char *const kinds[] = {"http://", "https://", "unix:/"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strncmp(url, kinds[i], strlen(kinds[i])) == 0) {
            return ERR_OK;
        }
    }
    return fail(e, ERR_USAGE, "'%.100s' is no address; http://127.0.0.1:8080 would do", url);
}

enum err login_dirs_make(struct arena *arena, const char *path, unsigned mode, struct error *e)
{
    char *copy = arena_str(arena, path);
    for (char *p = copy + 1; *p != '\0'; p++) {
        if (*p != '/') {
            continue;
        }
        *p = '\0';
        if (mkdir(copy, 0755) != 0 && errno != EEXIST) {
            return fail_errno(e, ERR_IO, errno, "cannot make the directory %s", copy);
        }
        *p = '/';
    }
    if (mkdir(copy, (mode_t)mode) != 0 && errno != EEXIST) {
        return fail_errno(e, ERR_IO, errno, "cannot make the directory %s", copy);
    }
    return ERR_OK;
}

enum err login_file_write(struct arena *arena, const char *path, const char *text, unsigned mode,
                          struct error *e)
{
    char *temporary = arena_fmt(arena, "%s.%d", path, (int)getpid());
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, (mode_t)mode);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot write %s", path);
    }
    size_t len = strlen(text);
    bool well = write(fd, text, len) == (ssize_t)len && fchmod(fd, (mode_t)mode) == 0;
    well = close(fd) == 0 && well && rename(temporary, path) == 0;
    if (!well) {
        int number = errno;
        (void)unlink(temporary);
        return fail_errno(e, ERR_IO, number, "cannot write %s", path);
    }
    return ERR_OK;
}

static const char *home(void)
{
    const char *named = getenv("HOME");
    if (named != NULL && named[0] != '\0') {
        return named;
    }
    const struct passwd *user = getpwuid(getuid());
    return user == NULL || user->pw_dir == NULL ? "/" : user->pw_dir;
}

const char *login_config_dir(struct arena *arena)
{
    const char *named = getenv("WEIR_CONFIG_HOME");
    return named != NULL && named[0] != '\0' ? arena_str(arena, named)
                                             : arena_fmt(arena, "%s/.config/weir", home());
}

const char *login_path(struct arena *arena)
{
    return login_names_path(arena, login_names_current(arena));
}

const char *login_default_dir(struct arena *arena)
{
    return geteuid() == 0 ? "/var/lib/weir" : arena_fmt(arena, "%s/.local/share/weir", home());
}

bool login_is_local(const char *url)
{
    const char *host = strstr(url, "://");
    host = host == NULL ? url : host + 3;
    return strncmp(host, "127.", 4) == 0 || strncmp(url, "unix:", 5) == 0 ||
           strncmp(host, "localhost", 9) == 0 || strncmp(host, "[::1]", 5) == 0;
}

enum err login_save(struct arena *arena, const char *name, const struct login_entry *entry,
                    struct error *e)
{
    char *path = arena_str(arena, login_names_path(arena, name));
    char *slash = strrchr(path, '/');
    *slash = '\0';
    enum err r = login_dirs_make(arena, path, 0700, e);
    if (r != ERR_OK) {
        return r;
    }
    *slash = '/';
    const char *text =
        arena_fmt(arena, "server: %s\n%s%s%s%s%s%s%s%s%s", entry->url,
                  entry->token != NULL ? "token: " : "", entry->token != NULL ? entry->token : "",
                  entry->token != NULL ? "\n" : "", entry->token_file != NULL ? "token_file: " : "",
                  entry->token_file != NULL ? entry->token_file : "",
                  entry->token_file != NULL ? "\n" : "", entry->dir != NULL ? "dir: " : "",
                  entry->dir != NULL ? entry->dir : "", entry->dir != NULL ? "\n" : "");
    return login_file_write(arena, path, text, 0600, e);
}

/* Which authority must the server have? A token may carry its fingerprint; a `weir up` on this machine
 * has it in a file. */
static void trust_find(struct arena *arena, struct login *login)
{
    if (login->token != NULL) {
        http_trust_split(login->token, arena, &login->token, &login->fingerprint);
    }
    if (login->fingerprint != NULL) {
        const char *dir = arena_fmt(arena, "%s/ca", login_config_dir(arena));
        (void)!login_dirs_make(arena, dir, 0700,
                               NULL); /* a failure shows when the file is written */
        login->ca = arena_fmt(arena, "%s/%s.pem", dir, login->fingerprint);
    } else if (login->dir != NULL && tls_dir_has(arena, login->dir, TLS_DIR_TRUST)) {
        login->ca = tls_dir_path(arena, login->dir, TLS_DIR_TRUST);
    }
}

/* Reads the login saved under this name, if there is one. */
static enum err saved_read(struct arena *arena, const char *name, struct login *ret,
                           struct error *e)
{
    const char *text;
    const char *path = login_names_path(arena, name);
    enum err r = login_file_read(arena, path, &text, e);
    if (r != ERR_OK) {
        return r == ERR_NOT_FOUND ? ERR_OK : r;
    }
    ret->from = path;
    ret->context = name;
    struct str rest = str_of(text);
    const char *token_file = NULL;
    while (rest.p != NULL) {
        struct str value;
        struct str line = str_cut(rest, '\n', &rest);
        struct str key = str_trim(str_cut(line, ':', &value));
        const char *word =
            value.p == NULL ? "" : arena_strn(arena, str_trim(value).p, str_trim(value).len);
        if (str_is(key, "server")) {
            ret->url = word;
        } else if (str_is(key, "token")) {
            ret->token = word;
        } else if (str_is(key, "token_file")) {
            token_file = word;
        } else if (str_is(key, "dir")) {
            ret->dir = word;
        }
    }
    if (token_file != NULL && login_file_read(arena, token_file, &ret->token, NULL) != ERR_OK) {
        ret->token = NULL;
    }
    return ERR_OK;
}

void login_read(struct arena *arena, const char *name, struct login *ret)
{
    *ret = (struct login){0};
    if (saved_read(arena, name, ret, NULL) != ERR_OK) {
        *ret = (struct login){0};
    }
}

/* Finds a `weir up` in the usual directory, if this user may read its administrator token. */
static void usual_read(struct arena *arena, struct login *ret)
{
    const char *dir = login_default_dir(arena);
    struct updir_info info;
    const char *token;
    if (updir_read(arena, dir, &info) && info.url != NULL &&
        login_file_read(arena, arena_fmt(arena, "%s/admin.token", dir), &token, NULL) == ERR_OK) {
        *ret = (struct login){.url = info.url, .token = token, .dir = dir, .from = dir};
    }
}

/* True when two URLs name the same server. A slash at the end makes no difference. */
static bool same_server(const char *a, const char *b)
{
    size_t a_len = strlen(a);
    size_t b_len = strlen(b);
    a_len -= a_len > 0 && a[a_len - 1] == '/';
    b_len -= b_len > 0 && b[b_len - 1] == '/';
    return a_len == b_len && memcmp(a, b, a_len) == 0;
}

enum err login_find(struct arena *arena, const char *server_flag, struct login *ret,
                    struct error *e)
{
    struct login login = {0};
    const char *context = login_names_current(arena);
    enum err r = login_names_check(context, e);
    r = r == ERR_OK ? saved_read(arena, context, &login, e) : fail_in(e, "WEIR_CONTEXT");
    if (r != ERR_OK) {
        return r;
    }
    const char *saved = login.url;
    if (saved == NULL) {
        usual_read(arena, &login);
    }
    const char *env = getenv("WEIR_SERVER");
    const char *wanted = server_flag != NULL             ? server_flag
                         : env != NULL && env[0] != '\0' ? env
                                                         : NULL;
    const char *named = getenv("WEIR_CONTEXT");
    if (wanted == NULL && saved == NULL && named != NULL && named[0] != '\0') {
        return fail(e, ERR_NOT_FOUND,
                    "no login is saved as '%s' (WEIR_CONTEXT); `weir context list` shows the names",
                    named);
    }
    if (wanted != NULL && (login.url == NULL || !same_server(wanted, login.url))) {
        struct login usual = {0};
        usual_read(arena, &usual);
        bool known = usual.url != NULL && same_server(usual.url, wanted);
        login = known ? usual : (struct login){.url = wanted};
    }
    if (wanted != NULL) {
        login.from = server_flag != NULL ? "--server" : "WEIR_SERVER";
    }
    const char *token = getenv("WEIR_TOKEN");
    if (token != NULL && token[0] != '\0') {
        login.token = token;
    }
    login.saved = wanted == NULL;
    trust_find(arena, &login);
    *ret = login;
    return ERR_OK;
}

static void trust_give(struct http_client *client, const struct login *login)
{
    http_client_trust(client,
                      &(struct http_trust){.ca = login->ca, .fingerprint = login->fingerprint});
}

static void look_again(struct http_client *client)
{
    struct arena arena;
    struct login login;
    arena_init(&arena);
    if (login_find(&arena, NULL, &login, NULL) == ERR_OK && login.url != NULL) {
        http_client_aim(client, login.url, login.token);
        trust_give(client, &login);
    }
    arena_done(&arena);
}

struct http_client *login_client(const struct login *login)
{
    struct http_client *client = http_client_new(login->url, login->token);
    trust_give(client, login);
    if (login->saved) {
        http_client_on_lost(client, look_again);
    }
    return client;
}
