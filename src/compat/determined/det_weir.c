/* det_weir.c - see det_weir.h. SPDX-License-Identifier: Apache-2.0 */
#include "compat/determined/det_weir.h"

#include "base/json_out.h"
#include "compat/determined/det_machines.h"
#include "compat/determined/det_resolve.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- lines ---- */

static void line_text(struct buf *out, const char *key, const char *text)
{
    struct json_out j;
    buf_addf(out, "%s: ", key);
    json_out_init(&j, out);
    json_out_text(&j, text);
    buf_add_char(out, '\n');
}

/* A text of a map under another name, where it is given. */
static void line_given(struct buf *out, const char *key, const struct doc *map, const char *from)
{
    const char *text = det_resolve_get_text(map, from);
    if (text[0] != '\0') {
        line_text(out, key, text);
    }
}

static void line_time(struct buf *out, const char *key, const struct doc *map, const char *from)
{
    const struct doc *time = doc_get(map, from);
    buf_addf(out, "%s: %ss\n", key, time->text.p);
}

static void remark(struct buf *out, const char *what, const char *why)
{
    buf_addf(out, "      # %s: %s\n", what, why);
}

/* What the map says and Weir does not have. */
static void remarks(struct buf *out, const struct doc *map)
{
    static const struct {
        const char *key;
        const char *why;
    } left_out[] = {
        {"agent_config_file_contents", "agents of Weir have no file of this form"},
        {"master_url", "the server tells its machines its own address"},
        {"master_cert_name", "tokens carry the fingerprint of the server's authority"},
        {"container_startup_script", "put it into the task, or into the image"},
        {"iam_instance_profile_arn",
         "put it into the image or a launch of your own (provider exec)"},
        {"log_group", "output of tasks is kept by the server"},
        {"log_stream", "output of tasks is kept by the server"},
        {"task_container_defaults", "say it in the tasks"},
        {"kubernetes_namespace", "Weir has no provider for Kubernetes yet"},
    };
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++) {
        const struct doc *value = doc_get(map, left_out[i].key);
        if (value != NULL && (value->kind != DOC_STRING || value->text.len > 0)) {
            remark(out, left_out[i].key, left_out[i].why);
        }
    }
}

/* ---- providers ---- */

/* The bounds, which all providers have. */
static void bounds_write(struct buf *out, const struct doc *provider)
{
    buf_addf(out, "      min: %" PRId64 "\n      max: %" PRId64 "\n",
             det_resolve_get_whole(provider, "min_instances"),
             det_resolve_get_whole(provider, "max_instances"));
    line_time(out, "      idle", provider, "max_idle_agent_period_s");
    line_time(out, "      max_starting", provider, "max_agent_starting_period_s");
    if (det_resolve_get_whole(provider, "launch_error_retries") > 0 ||
        strcmp(doc_get(provider, "launch_error_timeout_s")->text.p, "0") != 0) {
        remark(out, "launch_error_timeout, launch_error_retries",
               "a pool of Weir asks again later and later, and no task fails");
    }
}

static void tags_write(struct buf *out, const struct doc *provider)
{
    struct json_out j;
    const char *value = det_resolve_get_text(provider, "tag_value");
    const struct doc *custom = doc_get(provider, "custom_tags");
    buf_add_str(out, "      tags: ");
    json_out_init(&j, out);
    json_out_array(&j);
    char tag[520];
    (void)snprintf(tag, sizeof tag, "%.250s=%.250s", det_resolve_get_text(provider, "tag_key"),
                   value[0] == '\0' ? "determined-ai-determined" : value);
    json_out_text(&j, tag);
    for (const struct doc *d = custom == NULL ? NULL : custom->first; d != NULL; d = d->next) {
        (void)snprintf(tag, sizeof tag, "%.250s=%.250s", det_resolve_get_text(d, "key"),
                       det_resolve_get_text(d, "value"));
        json_out_text(&j, tag);
    }
    json_out_end(&j);
    buf_add_char(out, '\n');
}

static void list_of_one(struct buf *out, const char *key, const char *text)
{
    if (text[0] != '\0') {
        struct json_out j;
        buf_addf(out, "      %s: [", key);
        json_out_init(&j, out);
        json_out_text(&j, text);
        buf_add_str(out, "]\n");
    }
}

static void slots_write(struct buf *out, const struct doc *provider)
{
    const int known = det_machines_aws_slots(det_resolve_get_text(provider, "instance_type"));
    const int64_t gpus = known >= 0 ? known : det_resolve_get_whole(provider, "instance_slots");
    if (gpus > 0) {
        buf_addf(out, "      gpus: %" PRId64 "\n", gpus);
    } else {
        buf_addf(out, "      slots: %d\n",
                 det_resolve_get_switch(provider, "cpu_slots_allowed") ? 1 : 0);
    }
}

static void ec2_write(struct buf *out, const struct doc *provider)
{
    const struct doc *network = doc_get(provider, "network_interface");
    const char *price = det_resolve_get_text(provider, "spot_max_price");
    const char *region = det_resolve_get_text(provider, "region");
    const char *image = det_resolve_get_text(provider, "image_id");
    const bool spot = det_resolve_get_switch(provider, "spot");
    buf_add_str(out, "      type: ec2\n");
    line_text(out, "      region", region);
    remark(out, "image", "needs an image with weir installed; Determined's images have none");
    line_text(out, "      image", image);
    line_given(out, "      instance_type", provider, "instance_type");
    slots_write(out, provider);
    line_given(out, "      key_name", provider, "ssh_key_name");
    list_of_one(out, "subnets", det_resolve_get_text(network, "subnet_id"));
    list_of_one(out, "security_groups", det_resolve_get_text(network, "security_group_id"));
    if (spot) {
        buf_add_str(out, "      spot: on\n");
    }
    if (spot && strcmp(price, "OnDemand") != 0) {
        line_text(out, "      max_price", price);
    }
    tags_write(out, provider);
    line_given(out, "      user_data", provider, "startup_script");
    bounds_write(out, provider);
}

static void provider_write(struct buf *out, const struct doc *provider)
{
    const char *type = det_resolve_get_text(provider, "type");
    buf_add_str(out, "    provider:\n");
    if (strcmp(type, "aws") == 0) {
        ec2_write(out, provider);
    } else if (strcmp(type, "hpc") == 0) {
        buf_add_str(out, "      type: slurm\n");
        line_given(out, "      partition", provider, "partition");
        bounds_write(out, provider);
    } else { /* Google's cloud: a program of the site brings its machines up */
        remark(out, "gcp",
               "Weir has no provider for this cloud; a program of yours brings nodes up");
        buf_add_str(out, "      type: exec\n");
        buf_addf(out, "      # project %s, zone %s, machine %s with %" PRId64 " x %s\n",
                 det_resolve_get_text(provider, "project"), det_resolve_get_text(provider, "zone"),
                 det_resolve_get_text(doc_get(provider, "instance_type"), "machine_type"),
                 det_resolve_get_whole(doc_get(provider, "instance_type"), "gpu_num"),
                 det_resolve_get_text(doc_get(provider, "instance_type"), "gpu_type"));
        buf_addf(out, "      gpus: %" PRId64 "\n",
                 det_resolve_get_whole(doc_get(provider, "instance_type"), "gpu_num"));
        line_text(out, "      command", "");
        bounds_write(out, provider);
    }
    remarks(out, provider);
}

/* ---- pools ---- */

static void scheduler_write(struct buf *out, const struct doc *scheduler)
{
    const bool fair = strcmp(det_resolve_get_text(scheduler, "type"), "fair_share") == 0;
    const bool best = strcmp(det_resolve_get_text(scheduler, "fitting_policy"), "best") == 0;
    const int64_t priority = det_resolve_get_whole(scheduler, "default_priority");
    buf_addf(out, "    scheduler: {policy: %s, placement: %s, preemption: %s, uneven: %s}\n",
             fair ? "fair-share" : "priority", best ? "pack" : "spread",
             fair || det_resolve_get_switch(scheduler, "preemption") ? "on" : "off",
             det_resolve_get_switch(scheduler, "allow_heterogeneous_fits") ? "on" : "off");
    if (!fair && priority != 42) {
        buf_addf(out,
                 "      # default_priority %" PRId64
                 ": in Weir a task without a priority has 50, and a larger number is more urgent\n",
                 priority);
    }
}

static void pool_write(struct buf *out, const struct doc *pool, const struct doc *inherited)
{
    const struct doc *scheduler = doc_get(pool, "scheduler");
    const struct doc *provider = doc_get(pool, "provider");
    const struct doc *wait = doc_get(pool, "agent_reconnect_wait_s");
    line_text(out, "  - name", det_resolve_get_text(pool, "pool_name"));
    line_given(out, "    description", pool, "description");
    buf_addf(out, "    aux_tasks: %" PRId64 "\n",
             det_resolve_get_whole(pool, "max_aux_containers_per_agent"));
    scheduler_write(out, scheduler == NULL ? inherited : scheduler);
    if (strcmp(wait->text.p, "25") != 0) {
        buf_addf(out, "      # agent_reconnect_wait %ss: lost_after of the whole server\n",
                 wait->text.p);
    }
    remarks(out, pool);
    if (provider != NULL) {
        provider_write(out, provider);
    }
}

static void defaults_write(struct buf *out, const struct doc *manager)
{
    const char *gpu = det_resolve_get_text(manager, "default_compute_resource_pool");
    const char *cpu = det_resolve_get_text(manager, "default_aux_resource_pool");
    if (gpu[0] == '\0' || cpu[0] == '\0') {
        buf_add_str(out, "# no_default_resource_pools: tasks that name no pool go to the pool "
                         "default\n");
        return;
    }
    buf_add_str(out, "defaults:\n");
    line_text(out, "  gpu_pool", gpu);
    line_text(out, "  cpu_pool", cpu);
}

void det_weir_write(const struct det_config *config, struct buf *out)
{
    const struct doc *manager = doc_get(config->resolved, "resource_manager");
    const struct doc *more = doc_get(config->resolved, "additional_resource_managers");
    const char *type = det_resolve_get_text(manager, "type");
    buf_add_str(out,
                "# Pools of Determined's master configuration, for a server of Weir. Check the "
                "file with\n# `weir config check FILE`. Comments name what Weir does not "
                "take over.\n");
    if (strcmp(type, "agent") != 0) {
        buf_addf(out, "# The resource manager is of type %s: its pools have no counterpart.\n",
                 type);
        return;
    }
    defaults_write(out, manager);
    buf_add_str(out, "pools:\n");
    for (const struct doc *pool = doc_get(config->resolved, "resource_pools")->first; pool != NULL;
         pool = pool->next) {
        pool_write(out, pool, doc_get(manager, "scheduler"));
    }
    for (const struct doc *one = more == NULL ? NULL : more->first; one != NULL; one = one->next) {
        buf_addf(out, "# The resource manager %s is of type %s: its pools have no counterpart.\n",
                 det_resolve_get_text(doc_get(one, "resource_manager"), "cluster_name"),
                 det_resolve_get_text(doc_get(one, "resource_manager"), "type"));
    }
}
