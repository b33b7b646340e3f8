/* attempt_limit.c - see attempt_limit.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/attempt_limit.h"

#include "agent/attempt_disk.h"
#include "agent/tasknet.h"
#include "base/log.h"
#include "core/model/limits.h"

void attempt_limit_begin(struct attempt *attempt, const struct start_order *order)
{
    struct supervisor *sup = attempt->sup;
    attempt->memory_limit = order->memory_limit;
    for (size_t i = 0; i < order->device_count; i++) {
        attempt->devices |=
            order->devices[i] < NODE_DEVICES_MAX ? (uint64_t)1 << order->devices[i] : 0;
    }
    cpu_bind_take(sup->cpus, order->cpu_milli, attempt->devices, &attempt->cpus);
    attempt->cgroup = sup->cgroups == NULL ? NULL : cgroup_take(sup->cgroups);
    if (attempt->cgroup == NULL) {
        return;
    }
    const struct cgroup_limits limits = {.cpu_milli = order->cpu_milli,
                                         .cpu_limit_milli = order->cpu_limit_milli,
                                         .memory_bytes = order->memory_limit,
                                         .pids = sup->task_pids};
    const unsigned refused = cgroup_limit(sup->cgroups, attempt->cgroup, &limits);
    if (refused != 0) {
        log_warn("the kernel refuses a limit of a task", kv_u64("task", attempt->key.task.v),
                 kv_u64("controllers", refused));
    }
}

void attempt_limit_spawn(struct attempt *attempt, struct spawn_order *order)
{
    const struct supervisor *sup = attempt->sup;
    const unsigned controllers = cgroup_controllers(sup->cgroups);
    order->entry = (struct cgroup_entry){.cgroup_fd = -1};
    order->net_fd = tasknet_fd(attempt->network);
    order->cpus = attempt->cpus.bound ? &attempt->cpus.threads : NULL;
    const bool held = attempt->cgroup != NULL;
    if (held) {
        order->entry = cgroup_entry_of(attempt->cgroup);
    }
    if (!held || (controllers & CGROUP_MEMORY) == 0) {
        order->limits.data_bytes = attempt->memory_limit;
    }
    if (!held || (controllers & CGROUP_PIDS) == 0) {
        order->limits.processes = sup->task_pids;
    }
}

void attempt_limit_drop(struct attempt *attempt)
{
    if (attempt->cgroup != NULL) {
        cgroup_drop(attempt->sup->cgroups, attempt->cgroup);
        attempt->cgroup = NULL;
    }
}

void attempt_limit_end(struct attempt *attempt)
{
    struct supervisor *sup = attempt->sup;
    attempt_disk_say(attempt);
    if (attempt->cgroup == NULL) {
        return;
    }
    struct cgroup_end end;
    cgroup_limit_end(sup->cgroups, attempt->cgroup, &end);
    attempt->cpu_ms = end.cpu_ms > attempt->cpu_ms ? end.cpu_ms : attempt->cpu_ms;
    /* A task that goes on after the kernel ended one of its processes has not failed. */
    if (attempt->exit_code != 0 && end.exceeded) {
        attempt->out_of_memory = true;
        attempt->memory_peak = attempt->memory_limit;
    }
    cgroup_give(sup->cgroups, attempt->cgroup);
    attempt->cgroup = NULL;
}
