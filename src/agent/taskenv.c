/* taskenv.c - builds a task's environment from nothing.
 *
 * Surprising: relative entries of PATH are not searched, so that no program is found by accident in
 * a task's working directory. SPDX-License-Identifier: Apache-2.0 */
#include "agent/amd.h"
#include "agent/taskenv.h"

#include "base/amount.h"
#include "base/must.h"
#include "core/model/limits.h"

#include <inttypes.h>
#include <string.h>

/* OWN_NAMES_MAX counts Weir's own names and the defaults. */
enum { OWN_NAMES_MAX = 32, PATH_DIRS_MAX = 64 };

struct env_list {
    struct arena *arena;
    char **at;
    size_t count;
    size_t room;
};

static size_t name_len(const char *entry)
{
    const char *equals = strchr(entry, '=');
    return equals == NULL ? 0 : (size_t)(equals - entry);
}

/* Adds "K=V", or replaces an earlier entry of the same name. Entries without a name are dropped. */
static void list_set(struct env_list *list, char *entry)
{
    size_t len = name_len(entry);
    if (len == 0) {
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (strncmp(list->at[i], entry, len + 1) == 0) {
            list->at[i] = entry;
            return;
        }
    }
    must(list->count < list->room);
    list->at[list->count++] = entry;
}

static void set_text(struct env_list *list, const char *name, const char *value)
{
    list_set(list, arena_fmt(list->arena, "%s=%s", name, value));
}

static void set_number(struct env_list *list, const char *name, uint64_t value)
{
    list_set(list, arena_fmt(list->arena, "%s=%" PRIu64, name, value));
}

/* Sets a variable to a list of numbers like "0,2": the devices of the attempt, or with `ranks` the
 * numbers 0, 1, 2 … for as many devices. */
static void set_list(struct env_list *list, const char *name, const struct start_order *order,
                     bool ranks)
{
    struct buf text;
    buf_init(&text, NODE_DEVICES_MAX * 12);
    for (size_t i = 0; i < order->device_count; i++) {
        buf_addf(&text, "%s%" PRIu32, i == 0 ? "" : ",", ranks ? (uint32_t)i : order->devices[i]);
    }
    set_text(list, name, buf_text(&text));
    buf_done(&text);
}

/* Tells the program which GPUs it has. Without GPUs the lists are empty, so that the program sees
 * none. On a node with AMD GPUs, ROCR_VISIBLE_DEVICES chooses the GPUs, and HIP numbers the chosen
 * ones from 0. So the two names that HIP reads hold those numbers. For HIP and ROCR an empty list
 * means all GPUs, and -1 means none. */
static void set_devices(struct env_list *list, const struct start_order *order)
{
    struct amd_gpus *amd = arena_new(list->arena, struct amd_gpus, 1);
    amd_list(list->arena, amd);
    set_list(list, "CUDA_VISIBLE_DEVICES", order, amd->count > 0);
    if (amd->count > 0 && order->device_count > 0) {
        set_list(list, "ROCR_VISIBLE_DEVICES", order, false);
        set_list(list, "HIP_VISIBLE_DEVICES", order, true);
    } else if (amd->count > 0) {
        set_text(list, "ROCR_VISIBLE_DEVICES", "-1");
        set_text(list, "HIP_VISIBLE_DEVICES", "-1");
    }
}

static void set_own(struct env_list *list, const struct taskenv_input *input)
{
    const struct start_order *order = input->order;
    set_number(list, "WEIR_TASK_ID", order->key.task.v);
    set_number(list, "WEIR_INSTANCE_ID", order->instance);
    set_number(list, "INSTANCE_ID", order->instance);
    set_number(list, "WEIR_ATTEMPT", order->key.attempt);
    set_number(list, "WEIR_INDEX", order->key.index);
    set_text(list, "WEIR_NODE", order->node);
    set_text(list, "WEIR_POOL", order->pool);
    char slots[AMOUNT_TEXT_MAX];
    amount_milli_text((int64_t)order->slots_milli, slots);
    set_text(list, "WEIR_SLOTS", slots);
    set_devices(list, order);
    set_text(list, "WEIR_SUPERVISOR", input->supervisor);
    set_text(list, "WEIR_JOB_DIR", input->job_dir);
    if (input->port != 0) {
        set_number(list, "WEIR_PORT", input->port);
    }
    list_set(list,
             arena_fmt(list->arena, "WEIR_CHECKPOINT_FILE=%s/" CHECKPOINT_FILE, input->job_dir));
    if (order->world_size > 1) {
        set_number(list, "WEIR_RANK", order->rank);
        set_number(list, "WEIR_WORLD_SIZE", order->world_size);
        set_text(list, "MASTER_ADDR", order->master_addr);
        set_number(list, "MASTER_PORT", order->master_port);
    }
}

char **taskenv_build(struct arena *arena, const struct taskenv_input *input)
{
    const struct start_order *order = input->order;
    struct env_list list = {.arena = arena, .room = order->env_count + OWN_NAMES_MAX};
    list.at = arena_new(arena, char *, list.room + 1);
    list_set(&list, arena_str(arena, "PATH=" TASKENV_PATH_DEFAULT));
    set_text(&list, "HOME", input->account->home);
    set_text(&list, "USER", input->account->name);
    set_text(&list, "LOGNAME", input->account->name);
    list_set(&list, arena_str(arena, "LANG=C.UTF-8"));
    for (size_t i = 0; i < order->env_count; i++) {
        list_set(&list, arena_str(arena, order->env[i]));
    }
    set_own(&list, input);
    return list.at;
}

const char *taskenv_get(char *const *env, const char *name)
{
    size_t len = strlen(name);
    for (; *env != NULL; env++) {
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=') {
            return *env + len + 1;
        }
    }
    return NULL;
}

const char **taskenv_candidates(struct arena *arena, const char *program, const char *path)
{
    const char **paths = arena_new(arena, const char *, PATH_DIRS_MAX + 1);
    if (strchr(program, '/') != NULL || program[0] == '\0') {
        paths[0] = arena_str(arena, program);
        return paths;
    }
    struct str rest = str_of(path);
    for (size_t count = 0; count < PATH_DIRS_MAX && rest.p != NULL;) {
        struct str dir = str_cut(rest, ':', &rest);
        if (dir.len > 0 && dir.p[0] == '/') {
            paths[count++] = arena_fmt(arena, "%.*s/%s", (int)dir.len, dir.p, program);
        }
    }
    return paths;
}
