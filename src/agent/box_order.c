/* box_order.c - see box_order.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/box_order.h"

#include "agent/agent_internal.h"
#include "agent/box_image.h"
#include "agent/box_view.h"
#include "agent/keeper.h"
#include "base/amount.h"
#include "base/log.h"
#include "core/model/label.h"

#include <string.h>
#include <unistd.h>

#define CACHE_BYTES_DEFAULT ((uint64_t)50 << 30)

enum { BOX_NETWORK_MAX = 64 };

/* Is the task more than a plain process? */
static bool wanted(const struct agent_start *start)
{
    for (size_t i = 0; i < start->mount_count; i++) {
        if (box_view_word(start->mounts[i])) {
            return true;
        }
    }
    return (start->upload != NULL && start->upload[0] != '\0') ||
           (start->image != NULL && start->image[0] != '\0');
}

static const char *or_none(const char *text)
{
    return text == NULL ? "" : text;
}

void box_order_site(const struct agent_options *options, const char *url)
{
    struct arena arena;
    struct error e;
    int64_t cache = 0;
    arena_init(&arena);
    if (options->image_cache != NULL &&
        amount_bytes(str_of(options->image_cache), &cache, &e) != ERR_OK) {
        log_warn("--image-cache is not understood", kv_error(&e));
    }
    const struct box_site site = {.url = url,
                                  .ca = or_none(options->ca),
                                  .runtime = box_image_runtime(options->runtime, &arena),
                                  .image_dirs = or_none(options->image_dirs),
                                  .binds = or_none(options->allow_binds),
                                  .plain_registries = or_none(options->plain_registries),
                                  .job_keep_s = (uint64_t)options->keep_files_ms / 1000,
                                  .cache_max = cache > 0 ? (uint64_t)cache : CACHE_BYTES_DEFAULT};
    if (box_files_site_put(options->dir, &site, &e) != ERR_OK) {
        log_warn("the settings for containers cannot be written", kv_error(&e));
    }
    arena_done(&arena);
}

must_use bool box_order_ready(struct agent *agent, const struct agent_start *start)
{
    const struct box_order order = {.upload = start->upload == NULL ? "" : start->upload,
                                    .image = start->image == NULL ? "" : start->image,
                                    .mounts = start->mounts,
                                    .mount_count = start->mount_count};
    struct error e;
    const bool network = start->network != NULL && start->network[0] != '\0';
    if (agent->supervisor == NULL || keeper_closing(agent)) {
        return true;
    }
    const bool out = start->outbound != NULL && start->outbound[0] != '\0';
    if (network &&
        agent->supervisor_version < (out ? FRAME_VERSION_OUTBOUND : FRAME_VERSION_NETWORKS)) {
        log_error("an older supervisor would start a task in the wrong network");
        reporter_tell(agent->reporter, AGENT_LOST, &start->key, "");
        return false;
    }
    if (!wanted(start)) {
        return true;
    }
    /* writes the file again, which an administrator may have removed */
    box_order_site(&agent->options, agent->site_url);
    /* A supervisor before FRAME_VERSION_LIMITS would start the program without its container. */
    enum err r = agent->supervisor_version < FRAME_VERSION_LIMITS
                     ? fail(&e, ERR_CONFLICT, "an older supervisor still serves the node")
                     : box_files_order_put(agent->options.dir, &start->key, &order, &e);
    if (r != ERR_OK) {
        log_error("a task that is more than a plain process cannot be started", kv_error(&e));
        reporter_tell(agent->reporter, AGENT_LOST, &start->key, "");
    }
    return r == ERR_OK;
}

must_use bool box_order_wrap(const char *dir, const struct attempt_key *key,
                             const struct box_confine *confine, struct spawn_job *job)
{
    struct spawn_order *order = &job->order;
    struct arena *arena = &job->arena;
    struct error e;
    const struct runas_account *account = order->account;
    /* `weir box` needs the node's network for images and uploads, and enters that of the task by itself. */
    char *network = arena_alloc(arena, BOX_NETWORK_MAX);
    network[0] = '\0';
    if (order->net_fd >= 0) {
        (void)snprintf(network, BOX_NETWORK_MAX, "/proc/%d/fd/%d", (int)getpid(), order->net_fd);
    }
    struct box_start start = {.argv = (const char *const *)order->argv + 1,
                              .env = (const char *const *)order->env,
                              .job_dir = order->job_dir,
                              .network = network,
                              .workdir = order->workdir,
                              .ordered = box_files_ordered(dir, key),
                              .confine = confine->with,
                              .hidden = confine->hidden,
                              .data_bytes = order->limits.data_bytes,
                              .switch_user = account->switch_user,
                              .uid = account->uid,
                              .gid = account->gid,
                              .groups = account->groups,
                              .group_count = account->group_count};
    while (start.argv[start.argv_count] != NULL) {
        start.argv_count++;
    }
    while (start.env[start.env_count] != NULL) {
        start.env_count++;
    }
    if (box_files_start_put(dir, key, &start, &e) != ERR_OK) {
        log_error("a task cannot be prepared", kv_error(&e));
        return false;
    }
    char name[BOX_NAME_MAX];
    box_files_name(key, name);
    static const char *const program[] = {"/proc/self/exe", NULL};
    char **argv = arena_new(arena, char *, 6);
    argv[1] = arena_str(arena, "weir");
    argv[2] = arena_str(arena, "box");
    argv[3] = arena_str(arena, dir);
    argv[4] = arena_str(arena, name);
    /* The task finds its processes by these names; nothing else of the task's environment is given. */
    char **env = arena_new(arena, char *, start.env_count + 2);
    size_t count = 0;
    env[count++] = arena_str(arena, "PATH=/usr/sbin:/usr/bin:/sbin:/bin");
    for (size_t i = 0; i < start.env_count; i++) {
        if (strncmp(start.env[i], "WEIR_", 5) == 0 &&
            strncmp(start.env[i], "WEIR_CONFIG", 11) != 0) {
            env[count++] = arena_str(arena, start.env[i]);
        }
    }
    struct runas_account *own = arena_new(arena, struct runas_account, 1);
    *own = *account;
    own->switch_user = false; /* `weir box` becomes the task's user itself */
    order->candidates = (const char **)(uintptr_t)program;
    order->argv = argv;
    order->env = env;
    order->account = own;
    order->net_fd = -1;
    order->limits.data_bytes = 0; /* the limit is that of the task's program */
    order->workdir = "";
    return true;
}
