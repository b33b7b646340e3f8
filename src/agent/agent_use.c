/* agent_use.c - see agent_use.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent_use.h"

void agent_use_take(struct agent *agent, const struct frame *frame)
{
    struct agent_report report = {.type = AGENT_USE,
                                  .key = frame->key,
                                  .at_ms = frame->use.at_ms,
                                  .cpu_ms = (int64_t)frame->use.cpu_ms,
                                  .memory_bytes = (int64_t)frame->use.memory_bytes,
                                  .memory_peak_bytes = (int64_t)frame->use.memory_peak,
                                  .text = ""};
    for (uint32_t i = 0; i < NODE_DEVICES_MAX; i++) {
        if ((frame->use.devices >> i & 1) != 0) {
            const struct gpu_sample gpu = gpu_watch_get(agent->gpus, i);
            report.gpu_known = report.gpu_known || gpu.known;
            report.gpu_milli += (int64_t)gpu.busy_percent * 10;
            report.gpu_memory_bytes += (int64_t)gpu.memory_bytes;
        }
    }
    reporter_use(agent->reporter, &report);
}
