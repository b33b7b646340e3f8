/* box_files.c - see box_files.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/box_files.h"

#include "agent/confine.h"
#include "agent/dirs.h"
#include "agent/limits.h"
#include "agent/texts.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "base/rmtree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOX_DIR "box"
#define SITE_NAME "box.site"

void box_files_name(const struct attempt_key *key, char out[BOX_NAME_MAX])
{
    (void)snprintf(out, BOX_NAME_MAX, "%" PRIu64 ".%" PRIu32 ":%" PRIu32, key->task.v, key->index,
                   key->attempt);
}

static void path_of(const char *dir, const char *name, char out[AGENT_PATH_MAX])
{
    (void)snprintf(out, AGENT_PATH_MAX, "%s/" BOX_DIR "/%s", dir, name);
}

static must_use enum err file_put(const char *dir, const struct attempt_key *key, const char *file,
                                  const struct buf *bytes, struct error *e)
{
    char path[AGENT_PATH_MAX];
    char name[BOX_NAME_MAX];
    path_of(dir, "", path);
    (void)mkdir(path, 0700);
    box_files_name(key, name);
    path_of(dir, name, path);
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        return fail_errno(e, ERR_IO, errno, "cannot make '%s'", path);
    }
    /* The file is read before this boot ends, so nothing waits for the disk. */
    const size_t len = strlen(path);
    (void)snprintf(path + len, sizeof path - len, "/%s", file);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const bool well = fd >= 0 && write(fd, buf_text(bytes), bytes->len) == (ssize_t)bytes->len;
    const int number = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    return well ? ERR_OK : fail_errno(e, ERR_IO, number, "cannot write '%s'", path);
}

static must_use enum err file_get(const char *path, struct arena *arena, struct bytes_reader *ret,
                                  struct error *e)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0 || info.st_size > BOX_FILE_MAX) {
        const int number = errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        return fail_errno(e, ERR_IO, number, "cannot read '%s'", path);
    }
    char *bytes = arena_alloc(arena, (size_t)info.st_size + 1);
    const ssize_t n = read(fd, bytes, (size_t)info.st_size);
    (void)close(fd);
    bytes_reader_init(ret, bytes, n > 0 ? (size_t)n : 0);
    return n == info.st_size ? ERR_OK : fail(e, ERR_IO, "cannot read '%s'", path);
}

static must_use enum err got(const struct bytes_reader *in, const char *what, struct error *e)
{
    return bytes_reader_ok(in) ? ERR_OK
                               : fail(e, ERR_CORRUPT, "the %s of the attempt is damaged", what);
}

/* ---- order ---- */

must_use enum err box_files_order_put(const char *dir, const struct attempt_key *key,
                                      const struct box_order *order, struct error *e)
{
    struct buf out;
    buf_init(&out, BOX_FILE_MAX);
    bytes_put_text(&out, order->upload);
    bytes_put_text(&out, order->image);
    texts_put(&out, order->mounts, order->mount_count);
    enum err r = file_put(dir, key, "order", &out, e);
    buf_done(&out);
    return r;
}

must_use enum err box_files_order_get(const char *dir, const char *name, struct arena *arena,
                                      struct box_order *ret, struct error *e)
{
    struct bytes_reader in;
    enum err r = file_get(arena_fmt(arena, "%s/" BOX_DIR "/%s/order", dir, name), arena, &in, e);
    if (r != ERR_OK) {
        return r;
    }
    ret->upload = bytes_get_text(&in, arena, TEXT_LEN_MAX);
    ret->image = bytes_get_text(&in, arena, TASK_PATH_MAX);
    ret->mounts = texts_get(&in, arena, TASK_MOUNTS_MAX, &ret->mount_count);
    return got(&in, "order", e);
}

bool box_files_ordered(const char *dir, const struct attempt_key *key)
{
    char path[AGENT_PATH_MAX];
    char name[BOX_NAME_MAX];
    box_files_name(key, name);
    path_of(dir, name, path);
    return access(path, F_OK) == 0;
}

/* ---- start ---- */

must_use enum err box_files_start_put(const char *dir, const struct attempt_key *key,
                                      const struct box_start *start, struct error *e)
{
    struct buf out;
    buf_init(&out, BOX_FILE_MAX);
    texts_put(&out, start->argv, start->argv_count);
    texts_put(&out, start->env, start->env_count);
    bytes_put_text(&out, start->job_dir);
    bytes_put_text(&out, start->workdir);
    bytes_put_u64(&out, start->switch_user ? 1 : 0);
    bytes_put_u64(&out, start->uid);
    bytes_put_u64(&out, start->gid);
    bytes_put_u64(&out, start->group_count);
    for (size_t i = 0; i < start->group_count; i++) {
        bytes_put_u64(&out, start->groups[i]);
    }
    bytes_put_text(&out, start->network);
    bytes_put_u64(&out, start->ordered ? 1 : 0);
    bytes_put_u64(&out, start->confine);
    bytes_put_text(&out, start->hidden);
    bytes_put_u64(&out, start->data_bytes);
    enum err r = out.full ? fail(e, ERR_LIMIT, "the task is too large")
                          : file_put(dir, key, "start", &out, e);
    buf_done(&out);
    return r;
}

must_use enum err box_files_start_get(const char *dir, const char *name, struct arena *arena,
                                      struct box_start *ret, struct error *e)
{
    struct bytes_reader in;
    enum err r = file_get(arena_fmt(arena, "%s/" BOX_DIR "/%s/start", dir, name), arena, &in, e);
    if (r != ERR_OK) {
        return r;
    }
    ret->argv = texts_get(&in, arena, TASK_ARGS_MAX, &ret->argv_count);
    ret->env = texts_get(&in, arena, TASK_ENV_MAX + 64, &ret->env_count);
    ret->job_dir = bytes_get_text(&in, arena, AGENT_PATH_MAX);
    ret->workdir = bytes_get_text(&in, arena, TASK_SPEC_BYTES_MAX);
    ret->switch_user = bytes_get_max(&in, 1) != 0;
    ret->uid = (uid_t)bytes_get_max(&in, UINT32_MAX);
    ret->gid = (gid_t)bytes_get_max(&in, UINT32_MAX);
    ret->group_count = (size_t)bytes_get_max(&in, RUNAS_GROUPS_MAX);
    gid_t *groups = arena_new(arena, gid_t, ret->group_count + 1);
    for (size_t i = 0; i < ret->group_count; i++) {
        groups[i] = (gid_t)bytes_get_max(&in, UINT32_MAX);
    }
    ret->groups = groups;
    ret->network = bytes_get_text(&in, arena, AGENT_PATH_MAX);
    ret->ordered = bytes_get_max(&in, 1) != 0;
    ret->confine = (unsigned)bytes_get_max(&in, CONFINE_ALL);
    ret->hidden = bytes_get_text(&in, arena, HIDDEN_TEXT_MAX);
    ret->data_bytes = bytes_get_u64(&in);
    if (ret->argv_count == 0 || (ret->switch_user && (ret->uid == 0 || ret->gid == 0))) {
        in.bad = true; /* no task runs as root */
    }
    return got(&in, "start", e);
}

/* ---- site ---- */

must_use enum err box_files_site_put(const char *dir, const struct box_site *site, struct error *e)
{
    struct buf out;
    buf_init(&out, BOX_FILE_MAX);
    bytes_put_text(&out, site->url);
    bytes_put_text(&out, site->ca);
    bytes_put_text(&out, site->runtime);
    bytes_put_text(&out, site->image_dirs);
    bytes_put_text(&out, site->binds);
    bytes_put_text(&out, site->plain_registries);
    bytes_put_u64(&out, site->cache_max);
    bytes_put_u64(&out, site->job_keep_s);
    enum err r = dirs_write(dir, SITE_NAME, (struct str){buf_text(&out), out.len}, e);
    buf_done(&out);
    return r;
}

must_use enum err box_files_site_get(const char *dir, struct arena *arena, struct box_site *ret,
                                     struct error *e)
{
    struct bytes_reader in;
    enum err r = file_get(arena_fmt(arena, "%s/" SITE_NAME, dir), arena, &in, e);
    if (r != ERR_OK) {
        return r;
    }
    ret->url = bytes_get_text(&in, arena, TASK_PATH_MAX);
    ret->ca = bytes_get_text(&in, arena, TASK_PATH_MAX);
    ret->runtime = bytes_get_text(&in, arena, TASK_PATH_MAX);
    ret->image_dirs = bytes_get_text(&in, arena, TASK_PATH_MAX);
    ret->binds = bytes_get_text(&in, arena, TASK_PATH_MAX);
    ret->plain_registries = bytes_get_text(&in, arena, TASK_PATH_MAX);
    ret->cache_max = bytes_get_u64(&in);
    ret->job_keep_s = bytes_get_u64(&in);
    return got(&in, "settings", e);
}

void box_files_remove(const char *dir, const struct attempt_key *key)
{
    char path[AGENT_PATH_MAX];
    char name[BOX_NAME_MAX];
    box_files_name(key, name);
    path_of(dir, name, path);
    if (access(path, F_OK) == 0) {
        rmtree(path);
    }
}
