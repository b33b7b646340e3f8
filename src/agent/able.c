/* able.c - see able.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/able.h"

#include "agent/box_image.h"
#include "agent/confine.h"
#include "agent/cpu_bind.h"
#include "agent/tasklink.h"
#include "base/log.h"
#include "base/str.h"
#include "core/model/label.h"
#include "core/model/limits.h"
#include "core/model/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void label_add(const char *key, struct arena *arena, struct node_spec *node)
{
    if (node->label_count >= NODE_LABELS_MAX) {
        return;
    }
    struct label *labels = arena_new(arena, struct label, node->label_count + 1);
    for (uint32_t i = 0; i < node->label_count; i++) {
        labels[i] = node->labels[i];
    }
    labels[node->label_count++] = (struct label){key, LABEL_OWN_YES};
    node->labels = labels;
}

void able_labels(const struct agent_options *options, struct arena *arena, struct node_spec *node)
{
    struct error e;
    if (box_image_runtime(options->runtime, arena)[0] != '\0') {
        label_add(LABEL_CONTAINERS, arena, node);
    }
    if (tasknet_able(&e) == ERR_OK) {
        label_add(LABEL_NETWORKS, arena, node);
        if (tasklink_able(&e) == ERR_OK) {
            label_add(LABEL_OUTBOUND, arena, node);
        } else {
            log_info("networks have no way out on this node", kv_error(&e));
        }
    } else {
        log_info("tasks share the node's network", kv_error(&e));
    }
}

must_use enum err able_check(const struct agent_options *options, struct error *e)
{
    const char *by = options->isolate_by;
    if (by != NULL && strcmp(by, "project") != 0 && strcmp(by, "user") != 0) {
        return fail(e, ERR_USAGE, "--isolate-by must be project or user, not '%.64s'", by);
    }
    const enum err r = confine_check(options->confine, e);
    return r == ERR_OK ? cpu_bind_check(options->cpu_binding, e) : r;
}

const char *able_absolute(const char *path, struct arena *arena)
{
    char cwd[AGENT_PATH_MAX];
    return path[0] == '/' || getcwd(cwd, sizeof cwd) == NULL ? path
                                                             : arena_fmt(arena, "%s/%s", cwd, path);
}

const char *able_hide(const struct agent_options *options, const struct runas_account *account,
                      struct arena *arena)
{
    const char *logins = getenv("WEIR_CONFIG_HOME");
    const char *list =
        arena_fmt(arena, "%s:%s/.config/weir:/run/user/%u:%s:%s", options->dir, account->home,
                  (unsigned)account->uid, logins == NULL ? "" : logins,
                  options->hide == NULL ? "" : options->hide);
    const char *all = "";
    struct str rest = str_of(list);
    while (rest.p != NULL) {
        const struct str one = str_cut(rest, ':', &rest);
        if (one.len > 0) {
            all = arena_fmt(arena, "%s%s%s", all, all[0] == '\0' ? "" : ":",
                            able_absolute(arena_strn(arena, one.p, one.len), arena));
        }
    }
    return all;
}

/* Names of networks and projects have no slash, and each kind stands in front of its names. */
void able_network(const struct agent_options *options, const struct agent_start *start,
                  char ret[TASKNET_NAME_MAX])
{
    const char *named = start->network == NULL ? "" : start->network;
    const bool isolated = strcmp(named, NETWORK_ISOLATED) == 0;
    const bool by_user = options->isolate_by != NULL && strcmp(options->isolate_by, "user") == 0;
    const char *kind = !isolated ? "network" : by_user ? "user" : "project";
    const char *name = !isolated ? named : by_user ? start->user : start->project;
    ret[0] = '\0';
    if (named[0] != '\0') {
        (void)snprintf(ret, TASKNET_NAME_MAX, "%s/%s", kind, name);
    }
}
