/* attempt_use.c - see attempt_use.h. An attempt without a cgroup is measured by its first process and
 * the children that this process has waited for. SPDX-License-Identifier: Apache-2.0 */
#include "agent/attempt_use.h"

#include "agent/box_confine.h"
#include "agent/cgroup_file.h"
#include "agent/confine.h"
#include "agent/link.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { USE_INTERVAL_MS = 2000, STAT_BYTES_MAX = 1024 };

/* Reads times and memory of one process: the fields 14 to 17 and 24 of proc(5). */
static void process_use(pid_t pid, struct cgroup_use *ret)
{
    enum { FIELD_TIMES = 14, TIMES = 4, FIELD_RSS = 24, FIELD_BEHIND_NAME = 3 };
    char dir[32];
    char text[STAT_BYTES_MAX];
    (void)snprintf(dir, sizeof dir, "/proc/%d", (int)pid);
    const char *name_end =
        cgroup_file_read(dir, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    if (name_end == NULL || name_end[1] == '\0') {
        return;
    }
    struct str rest = str_of(name_end + 2);
    uint64_t ticks = 0;
    for (int field = FIELD_BEHIND_NAME; rest.p != NULL && field <= FIELD_RSS; field++) {
        uint64_t number = 0;
        const bool read = str_to_u64(str_cut(rest, ' ', &rest), &number);
        ticks += field >= FIELD_TIMES && field < FIELD_TIMES + TIMES ? number : 0;
        if (field == FIELD_RSS && read) {
            ret->memory_bytes = number * (uint64_t)sysconf(_SC_PAGESIZE);
            ret->memory_known = true;
        }
    }
    ret->cpu_ms = ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

void attempt_use_look(struct attempt *attempt)
{
    struct supervisor *sup = attempt->sup;
    const int64_t now = loop_now_ms(sup->loop);
    struct cgroup_use use = {0};
    if (attempt->use_ms != 0 && now - attempt->use_ms < USE_INTERVAL_MS) {
        return;
    }
    attempt->use_ms = now;
    if (attempt->cgroup != NULL) {
        cgroup_limit_use(sup->cgroups, attempt->cgroup, &use);
    } else {
        const bool inside = (sup->confine.with & CONFINE_VIEW) != 0;
        process_use(inside ? box_confine_pid(sup->dir, &attempt->key) : attempt->pid, &use);
    }
    if (use.memory_known && use.memory_bytes > attempt->memory_peak) {
        attempt->memory_peak = use.memory_bytes;
    }
    const struct frame frame = {.type = FRAME_USE,
                                .key = attempt->key,
                                .use = {.at_ms = supervisor_wall_ms(),
                                        .cpu_ms = use.cpu_ms,
                                        .memory_bytes = use.memory_bytes,
                                        .memory_peak = attempt->memory_peak,
                                        .devices = attempt->devices}};
    link_tell(sup, &frame);
}
