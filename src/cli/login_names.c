/* login_names.c - see login_names.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/login_names.h"

#include "base/name.h"
#include "cli/login.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char first_name[] = "default";

enum err login_names_check(const char *name, struct error *e)
{
    /* A file that is being written has a dot in its name. */
    return strchr(name, '.') != NULL
               ? fail(e, ERR_USAGE, "context '%.60s': letters, digits, - and _ would do", name)
               : name_check(str_of(name), "context", e);
}

const char *login_names_current(struct arena *arena)
{
    const char *named = getenv("WEIR_CONTEXT");
    const char *chosen;
    if (named != NULL && named[0] != '\0') {
        return named;
    }
    const char *path = arena_fmt(arena, "%s/context", login_config_dir(arena));
    const bool well = login_file_read(arena, path, &chosen, NULL) == ERR_OK && chosen[0] != '\0' &&
                      login_names_check(chosen, NULL) == ERR_OK;
    return well ? chosen : first_name;
}

const char *login_names_path(struct arena *arena, const char *name)
{
    const char *dir = login_config_dir(arena);
    return strcmp(name, first_name) == 0 ? arena_fmt(arena, "%s/login", dir)
                                         : arena_fmt(arena, "%s/contexts/%s", dir, name);
}

enum err login_names_use(struct arena *arena, const char *name, struct error *e)
{
    enum err r = login_names_check(name, e);
    if (r != ERR_OK) {
        return r;
    }
    if (access(login_names_path(arena, name), F_OK) != 0) {
        return fail(e, ERR_NOT_FOUND, "no login is saved as '%.60s'; `weir context list` shows all",
                    name);
    }
    const char *dir = login_config_dir(arena);
    return login_file_write(arena, arena_fmt(arena, "%s/context", dir), name, 0600, e);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t login_names_all(struct arena *arena, const char ***ret)
{
    const char **names = arena_new(arena, const char *, LOGIN_NAMES_MAX + 1);
    size_t count = 0;
    if (access(login_names_path(arena, first_name), F_OK) == 0) {
        names[count++] = first_name;
    }
    DIR *dir = opendir(arena_fmt(arena, "%s/contexts", login_config_dir(arena)));
    const struct dirent *entry;
    while (dir != NULL && count < LOGIN_NAMES_MAX && (entry = readdir(dir)) != NULL) {
        if (login_names_check(entry->d_name, NULL) ==
            ERR_OK) { /* not `.`, nor a file half written */
            names[count++] = arena_str(arena, entry->d_name);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    qsort(names, count, sizeof names[0], by_name);
    *ret = names;
    return count;
}
