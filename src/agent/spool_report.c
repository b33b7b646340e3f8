/* spool_report.c - see spool_report.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/spool_report.h"

#include "base/must.h"

void spool_report_of(const struct record *record, struct arena *arena, struct agent_report *ret)
{
    *ret = (struct agent_report){.key = record->key, .at_ms = record->at_ms, .text = ""};
    switch (record->type) {
    case RECORD_STARTED:
        ret->type = AGENT_STARTED;
        ret->pid = (uint32_t)record->pid;
        ret->workdir_missed = !record->workdir_used;
        break;
    case RECORD_OUTPUT:
        ret->type = AGENT_OUTPUT;
        ret->stream = record->stream;
        ret->offset = record->offset;
        ret->data = record->data;
        break;
    case RECORD_ENDED:
        ret->type = AGENT_ENDED;
        ret->exit_code = record->exit_code;
        ret->out_bytes = record->out_bytes;
        ret->err_bytes = record->err_bytes;
        ret->cpu_ms = (int64_t)record->cpu_ms;
        ret->memory_peak_bytes = (int64_t)record->memory_peak;
        ret->out_of_memory = record->out_of_memory;
        ret->out_of_disk = record->out_of_disk;
        break;
    case RECORD_SPAWN_FAILED:
        ret->type = AGENT_SPAWN_FAILED;
        ret->exit_code = record->error_number;
        ret->text = arena_strn(arena, record->message.p, record->message.len);
        break;
    case RECORD_CHECKPOINT:
        ret->type = AGENT_CHECKPOINT;
        break;
    case RECORD_LOST:
        ret->type = AGENT_LOST;
        break;
    case RECORD_NONE:
    case RECORD_SEGMENT:
    case RECORD_ACCEPTED:
        must(false);
        break;
    }
}
