/* cgroup_end.c - ends the processes of a dead supervisor's tasks by their cgroups.
 *
 * The places stand in the file `cgroups` of the node's directory, because the agent that cleans up
 * may run in another cgroup than the supervisor did. SPDX-License-Identifier: Apache-2.0 */
#include "agent/cgroup_internal.h"

#include "agent/dirs.h"
#include "base/arena.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Ends the processes of one cgroup of version 1. */
static void group_end(const char *path)
{
    (void)cgroup_file_write(path, "pids.max", "0");
    (void)cgroup_file_kill(path, "cgroup.procs");
}

/* Ends and removes the cgroups below one directory weir-HEX. False: call again. */
static bool base_end(const char *base)
{
    DIR *entries = opendir(base);
    if (entries == NULL) {
        return true;
    }
    const bool whole = cgroup_file_write(base, "cgroup.kill", "1");
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[CGROUP_PATH_MAX + 256];
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.') {
            continue;
        }
        (void)snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
        if (!whole) {
            group_end(path);
        }
        (void)rmdir(path);
    }
    (void)closedir(entries);
    return rmdir(base) == 0 || (errno != EBUSY && errno != ENOTEMPTY);
}

bool cgroup_end(const char *dir, const char *supervisor_hex)
{
    struct arena arena;
    struct str text;
    char name[SUPERVISOR_HEX_LEN + 8];
    bool gone = true;
    (void)snprintf(name, sizeof name, "/weir-%s", supervisor_hex);
    const size_t name_len = strlen(name);
    arena_init(&arena);
    if (dirs_read(dir, CGROUPS_FILE, &arena, &text, NULL) != ERR_OK) {
        text = (struct str){"", 0};
    }
    while (text.p != NULL && text.len > 0) {
        const struct str line = str_cut(text, '\n', &text);
        /* Only the cgroups of this supervisor: a later one may have written the file. */
        if (line.len > name_len && line.len < AGENT_PATH_MAX &&
            memcmp(line.p + line.len - name_len, name, name_len) == 0) {
            gone = base_end(arena_strn(&arena, line.p, line.len)) && gone;
        }
    }
    arena_done(&arena);
    return gone;
}
