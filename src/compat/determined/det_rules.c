/* det_rules.c - see det_rules.h. SPDX-License-Identifier: Apache-2.0 */
#include "compat/determined/det_rules.h"

#include "compat/determined/det_machines.h"
#include "compat/determined/det_resolve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DISK_GB_MIN = 100, NAME_PREFIX_MAX = 30, PRIORITY_LAST = 99 };

/* Says the rule at the field, or at the map where the field is not given. */
static void require(bool good, const struct doc_value *v, const char *key, const char *rule)
{
    if (!good) {
        fields_problem_in(v, key, "%s", rule);
    }
}

/* ---- providers ---- */

static void master_url_check(const struct doc_value *v, const struct doc *provider)
{
    const char *url = det_resolve_get_text(provider, "master_url");
    const char *scheme = strstr(url, "://");
    if (url[0] == '\0') {
        return;
    }
    require(strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0, v, "master_url",
            "master url scheme must be within [http, https]");
    require(scheme == NULL || strchr(scheme + 3, '/') == NULL, v, "master_url",
            "invalid master url (expecting scheme://host:port)");
}

/* Digits with at most one point. */
static void spot_price_check(const struct doc_value *v, const char *price)
{
    const char *point = strchr(price, '.');
    require(point == NULL || strchr(point + 1, '.') == NULL, v, "spot_max_price",
            "spot max price should have either 0 or 1 decimal points");
    require(price[strspn(price, "0123456789.")] == '\0', v, "spot_max_price",
            "spot max price should only contain digits and, optionally, one decimal point");
}

static void aws_check(const struct doc_value *v, const struct doc *provider)
{
    const char *price = det_resolve_get_text(provider, "spot_max_price");
    const bool slots = doc_get(provider, "instance_slots") != NULL;
    require(det_resolve_get_text(provider, "ssh_key_name")[0] != '\0', v, "ssh_key_name",
            "ec2 key name must be non-empty");
    require(det_resolve_get_whole(provider, "root_volume_size") >= DISK_GB_MIN, v,
            "root_volume_size", "ec2 root volume size must be >= 100");
    if (det_resolve_get_switch(provider, "spot") && strcmp(price, "OnDemand") != 0) {
        spot_price_check(v, price);
    }
    if (det_machines_aws_slots(det_resolve_get_text(provider, "instance_type")) >= 0) {
        return;
    }
    require(slots, v, "instance_type",
            "Either ec2 'instance_type' and 'instance_slots' must be specified or the ec2 "
            "'instance_type' must be one that Determined knows");
    require(!slots || det_resolve_get_whole(provider, "instance_slots") >= 0, v, "instance_slots",
            "ec2 'instance_slots' must be greater than or equal to 0");
}

static void gcp_check(const struct doc_value *v, const struct doc *provider)
{
    const struct doc *machine = doc_get(provider, "instance_type");
    const struct doc_value at = fields_child(v, "instance_type");
    const struct doc_value *place = at.doc == NULL ? v : &at;
    const char *gpu = det_resolve_get_text(machine, "gpu_type");
    const char *counts = det_machines_gcp_gpus(gpu);
    require(det_resolve_get_whole(provider, "boot_disk_size") >= DISK_GB_MIN, v, "boot_disk_size",
            "gce VM boot disk size must be >= 100");
    require(strlen(det_resolve_get_text(provider, "name_prefix")) <= NAME_PREFIX_MAX, v,
            "name_prefix", "gce VM name prefix must have at most 30 characters");
    if (!det_machines_gcp_type_known(det_resolve_get_text(machine, "machine_type"))) {
        fields_problem_in(place, "machine_type", "gce VM machine type must be within: %s",
                          DET_MACHINES_GCP_TYPES);
    }
    if (counts == NULL) {
        fields_problem_in(place, "gpu_type", "gce VM gpu type must be within: %s",
                          DET_MACHINES_GCP_GPUS);
    } else if (!det_machines_gcp_gpus_allow(counts, det_resolve_get_whole(machine, "gpu_num"))) {
        fields_problem_in(place, "gpu_num", "gce VM gpu type %s num must be within: [%s]", gpu,
                          counts);
    }
}

/* A decimal number above 0. */
static bool is_positive(const struct doc *map, const char *key)
{
    const struct doc *number = doc_get(map, key);
    const char *text = number == NULL || number->text.p == NULL ? "0" : number->text.p;
    return text[0] != '-' && strpbrk(text, "123456789") != NULL;
}

void det_rules_provider(const struct doc_value *v, const struct doc *provider)
{
    const char *type = det_resolve_get_text(provider, "type");
    const int64_t least = det_resolve_get_whole(provider, "min_instances");
    const int64_t most = det_resolve_get_whole(provider, "max_instances");
    require(strcmp(type, "aws") == 0 || strcmp(type, "gcp") == 0 || strcmp(type, "hpc") == 0, v,
            "type", "must configure aws or gcp or hpc cluster");
    master_url_check(v, provider);
    require(det_resolve_get_text(provider, "agent_docker_image")[0] != '\0', v,
            "agent_docker_image", "must configure an agent docker image");
    require(is_positive(provider, "max_idle_agent_period_s"), v, "max_idle_agent_period",
            "max idle agent period must be greater than 0");
    require(is_positive(provider, "max_agent_starting_period_s"), v, "max_agent_starting_period",
            "max agent starting period must be greater than 0");
    require(least >= 0, v, "min_instances", "min instance must be greater than or equal to 0");
    require(most > 0, v, "max_instances", "max instance must be greater than 0");
    require(most >= least, v, "max_instances",
            "max instance must be greater than or equal to min instance");
    require(det_resolve_get_whole(provider, "launch_error_retries") >= 0, v, "launch_error_retries",
            "launch error retries must be greater than or equal to 0");
    require(det_resolve_get_text(provider, "launch_error_timeout_s")[0] != '-', v,
            "launch_error_timeout", "launch error timeout must be greater than or equal to 0");
    if (strcmp(type, "aws") == 0) {
        aws_check(v, provider);
    } else if (strcmp(type, "gcp") == 0) {
        gcp_check(v, provider);
    }
}

/* ---- managers and pools ---- */

static void scheduler_check(const struct doc_value *up, const struct doc *owner)
{
    const struct doc *scheduler = doc_get(owner, "scheduler");
    const struct doc_value v = fields_child(up, "scheduler");
    const char *type = det_resolve_get_text(scheduler, "type");
    const char *fit = det_resolve_get_text(scheduler, "fitting_policy");
    const int64_t priority = det_resolve_get_whole(scheduler, "default_priority");
    if (scheduler == NULL || v.doc == NULL) {
        return; /* the default */
    }
    require(
        strcmp(type, "round_robin") != 0, &v, "type",
        "scheduler not available: round_robin was removed; in Weir it is the policy round-robin");
    require(strcmp(type, "priority") == 0 || strcmp(type, "fair_share") == 0 ||
                strcmp(type, "round_robin") == 0,
            &v, "type", "scheduler not available: priority or fair_share is wanted");
    require(strcmp(fit, "best") == 0 || strcmp(fit, "worst") == 0, &v, "fitting_policy",
            "invalid fitting policy: best or worst is wanted");
    require(strcmp(type, "priority") != 0 || (priority > 0 && priority <= PRIORITY_LAST), &v,
            "default_priority", "scheduling priority must be greater than 0 and less than 100");
}

static void pool_check(const struct doc_value *v, const struct doc *pool)
{
    const struct doc *provider = doc_get(pool, "provider");
    require(det_resolve_get_text(pool, "pool_name")[0] != '\0', v, "pool_name",
            "resource pool name cannot be empty");
    require(det_resolve_get_whole(pool, "max_aux_containers_per_agent") >= 0, v,
            doc_get(pool, "max_cpu_containers_per_agent") != NULL ? "max_cpu_containers_per_agent"
                                                                  : "max_aux_containers_per_agent",
            "resource pool max cpu containers per agent should be >= 0");
    scheduler_check(v, pool);
    if (provider != NULL) {
        const struct doc_value at = fields_child(v, "provider");
        det_rules_provider(&at, provider);
    }
}

static void kubernetes_check(const struct doc_value *v, const struct doc *manager)
{
    const char *slot = det_resolve_get_text(manager, "slot_type");
    const struct doc *requests = doc_get(manager, "slot_resource_requests");
    require(det_resolve_get_text(manager, "cluster_name")[0] != '\0', v, "cluster_name",
            "name is required");
    require(strcmp(slot, "rocm") != 0, v, "slot_type",
            "rocm slot_type is not supported yet on k8s");
    require(strcmp(slot, "cuda") == 0 || strcmp(slot, "gpu") == 0 || strcmp(slot, "cpu") == 0 ||
                strcmp(slot, "rocm") == 0,
            v, "slot_type", "slot_type must be either cuda or cpu");
    require(strcmp(slot, "cpu") != 0 || is_positive(requests, "cpu"), v, "slot_resource_requests",
            "slot_resource_requests.cpu must be > 0");
    require(doc_get(manager, "max_slots_per_pod") == NULL ||
                det_resolve_get_whole(manager, "max_slots_per_pod") >= 0,
            v, "max_slots_per_pod", "max_slots_per_pod must be >= 0");
}

static void manager_check(const struct doc_value *up, const struct doc *manager, bool root)
{
    const char *type = det_resolve_get_text(manager, "type");
    const struct doc_value at = fields_child(up, "resource_manager");
    const struct doc_value *v = at.doc == NULL ? up : &at;
    const bool kubernetes = strcmp(type, "kubernetes") == 0;
    require(kubernetes || strcmp(type, "agent") == 0 || strcmp(type, "slurm") == 0 ||
                strcmp(type, "pbs") == 0,
            v, "type", "the type of a resource manager is agent, kubernetes, slurm or pbs");
    require(root || kubernetes, v, "type",
            "additional_resource_managers only supports resource managers of type: kubernetes");
    if (kubernetes) {
        kubernetes_check(v, manager);
    } else if (strcmp(type, "agent") == 0) {
        scheduler_check(v, manager);
    }
}

/* ---- names ---- */

/* What the walk over all managers remembers: names of managers and of pools, and whose pools they are. */
struct det_seen {
    struct doc *managers;
    struct doc *pools; /* the value of a name is the number of the manager */
    uint32_t manager;
};

static void pool_name_check(struct det_seen *seen, const struct doc_value *v,
                            const struct doc *pool)
{
    struct arena *arena = v->in->arena;
    const char *name = det_resolve_get_text(pool, "pool_name");
    const struct doc *before = doc_get(seen->pools, name);
    if (before != NULL) {
        const bool other = strtoul(before->text.p, NULL, 10) != seen->manager;
        fields_problem_in(v, "pool_name", "resource pool has a duplicate name: %s%s", name,
                          other ? " They must be unique across even different resource managers"
                                : "");
    }
    det_resolve_put_text(arena, seen->pools, name, arena_fmt(arena, "%" PRIu32, seen->manager));
}

/* One manager with its pools. `map` has both as given, `resolved` as resolved. */
static void managed_check(struct det_seen *seen, const struct doc_value *map,
                          const struct doc *resolved)
{
    const struct doc *manager = doc_get(resolved, "resource_manager");
    const struct doc *pools = doc_get(resolved, "resource_pools");
    const struct doc_value given = fields_child(map, "resource_pools");
    const char *type = det_resolve_get_text(manager, "type");
    const char *name = det_resolve_get_text(manager, "cluster_name");
    struct doc_value item = fields_first(&given);
    manager_check(map, manager, seen->manager == 0);
    if ((pools == NULL || pools->count == 0) && strcmp(type, "slurm") != 0 &&
        strcmp(type, "pbs") != 0) {
        fields_problem(map, "for additional_resource_managers, you must specify at least one "
                            "resource pool");
    }
    if (doc_get(seen->managers, name) != NULL) {
        const struct doc_value at = fields_child(map, "resource_manager");
        fields_problem_in(at.doc == NULL ? map : &at, "cluster_name",
                          "resource manager has a duplicate name: %s", name);
    }
    det_resolve_put_text(map->in->arena, seen->managers, name, "");
    for (const struct doc *pool = pools == NULL ? NULL : pools->first; pool != NULL;
         pool = pool->next) {
        const struct doc_value *at = item.doc == NULL ? map : &item;
        pool_check(at, pool);
        pool_name_check(seen, at, pool);
        if (item.doc != NULL) {
            fields_next(&item);
        }
    }
    seen->manager++;
}

void det_rules_check(const struct doc_value *file, const struct doc *resolved)
{
    struct arena *arena = file->in->arena;
    struct det_seen seen = {.managers = det_resolve_empty(arena, DOC_MAP),
                            .pools = det_resolve_empty(arena, DOC_MAP)};
    const struct doc *list = doc_get(resolved, "additional_resource_managers");
    const struct doc_value given = fields_child(file, "additional_resource_managers");
    struct doc_value item = fields_first(&given);
    managed_check(&seen, file, resolved);
    for (const struct doc *one = list == NULL ? NULL : list->first; one != NULL; one = one->next) {
        managed_check(&seen, &item, one);
        fields_next(&item);
    }
}
