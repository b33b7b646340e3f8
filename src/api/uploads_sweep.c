/* uploads_sweep.c - removes archives that nobody uses any more. The worker looks for old files, the loop
 * leaves out what unfinished tasks name, and the worker removes the rest.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/uploads_internal.h"

#include "api/api_internal.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "core/core.h"
#include "wire/upload.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SWEPT_MAX = 10000 };
#define UPLOAD_KEEP_MS ((int64_t)7 * 24 * 60 * 60 * 1000)

struct swept {
    char path[UPLOADS_PATH_MAX];
    char digest[UPLOAD_DIGEST_LEN + 1];
};

struct sweep_work {
    struct work work;
    struct uploads *uploads;
    int64_t before_s;
    bool removing;
    VEC(struct swept) old;
};

static void sweep_dir(struct sweep_work *sweep, const char *user)
{
    char path[UPLOADS_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", sweep->uploads->dir, user);
    DIR *files = opendir(path);
    const struct dirent *file;
    while (files != NULL && sweep->old.count < SWEPT_MAX && (file = readdir(files)) != NULL) {
        struct stat info;
        struct swept swept = {0};
        if (file->d_name[0] == '.' || fstatat(dirfd(files), file->d_name, &info, 0) != 0 ||
            info.st_mtim.tv_sec >= sweep->before_s || strlen(file->d_name) < UPLOAD_DIGEST_LEN) {
            continue;
        }
        memcpy(swept.digest, file->d_name, UPLOAD_DIGEST_LEN);
        (void)snprintf(swept.path, sizeof swept.path, "%.1500s/%.100s", path, file->d_name);
        vec_push(&sweep->old, swept);
    }
    if (files != NULL) {
        (void)closedir(files);
    }
}

static void sweep_run(struct work *base, struct store_reader *reader)
{
    struct sweep_work *sweep = (struct sweep_work *)base;
    (void)reader;
    if (sweep->removing) {
        for (size_t i = 0; i < sweep->old.count; i++) {
            (void)unlink(sweep->old.at[i].path);
        }
        return;
    }
    DIR *users = opendir(sweep->uploads->dir);
    const struct dirent *user;
    while (users != NULL && (user = readdir(users)) != NULL) {
        if (user->d_name[0] != '.') {
            sweep_dir(sweep, user->d_name);
        }
    }
    if (users != NULL) {
        (void)closedir(users);
    }
}

static void sweep_end(struct sweep_work *sweep)
{
    sweep->uploads->sweeping = false;
    vec_done(&sweep->old);
    free(sweep);
}

/* Leaves out what an unfinished task names. A task that is younger than the archives are old cannot
 * name them: its submission has touched its archive. */
static void sweep_keep_used(struct sweep_work *sweep, const struct core *core)
{
    struct map *used = map_new();
    struct arena arena;
    arena_init(&arena);
    task_id id = {0};
    const struct task *task;
    while ((task = query_task_next(core, id)) != NULL) {
        id = task->id;
        if (task->submitted_ms / 1000 < sweep->before_s) {
            struct task_spec spec;
            query_task_spec(core, id, &arena, &spec);
            if (spec.upload[0] != '\0') {
                (void)map_put(used, spec.upload, strlen(spec.upload), used);
            }
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < sweep->old.count; i++) {
        if (map_get(used, sweep->old.at[i].digest, UPLOAD_DIGEST_LEN) == NULL) {
            sweep->old.at[kept++] = sweep->old.at[i];
        }
    }
    sweep->old.count = kept;
    map_free(used);
    arena_done(&arena);
}

static void sweep_back(struct work *base)
{
    struct sweep_work *sweep = (struct sweep_work *)base;
    const struct api_host *host = sweep->uploads->api->o.host;
    const struct core *core = host->core(host->ctx);
    if (sweep->removing || sweep->old.count == 0 || core == NULL) {
        sweep_end(sweep);
        return;
    }
    sweep_keep_used(sweep, core);
    sweep->removing = true;
    if (!host->compute(host->ctx, &sweep->work)) {
        sweep_end(sweep);
    }
}

void uploads_sweep(struct uploads *uploads)
{
    const struct api_host *host = uploads->api->o.host;
    if (uploads->sweeping || host->core(host->ctx) == NULL) {
        return;
    }
    struct sweep_work *sweep = xcalloc(1, sizeof *sweep);
    sweep->work = (struct work){.run = sweep_run, .done = sweep_back};
    sweep->uploads = uploads;
    sweep->before_s = (host->now_ms(host->ctx) - UPLOAD_KEEP_MS) / 1000;
    uploads->sweeping = host->compute(host->ctx, &sweep->work);
    if (!uploads->sweeping) {
        free(sweep);
    }
}
