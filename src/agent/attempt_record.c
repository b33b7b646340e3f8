/* attempt_record.c - what the spool says of an attempt. SPDX-License-Identifier: Apache-2.0 */
#include "agent/attempt_record.h"

#include "agent/supervisor_internal.h"

struct record attempt_record_of(const struct attempt *attempt, enum record_kind type)
{
    return (struct record){.type = type, .key = attempt->key, .at_ms = supervisor_wall_ms()};
}

void attempt_record_started(const struct attempt *attempt)
{
    struct record record = attempt_record_of(attempt, RECORD_STARTED);
    record.at_ms = attempt->started_ms;
    record.pid = (uint64_t)attempt->pid;
    record.workdir_used = attempt->workdir_used;
    spool_put(attempt->sup->spool, &record);
}

void attempt_record_spawn_failed(const struct attempt *attempt, const char *message)
{
    struct record record = attempt_record_of(attempt, RECORD_SPAWN_FAILED);
    record.error_number = attempt->spawn_error;
    record.message = str_of(message);
    spool_put(attempt->sup->spool, &record);
}

void attempt_record_lost(const struct attempt *attempt)
{
    struct record record = attempt_record_of(attempt, RECORD_LOST);
    spool_put(attempt->sup->spool, &record);
}

void attempt_record_ended(const struct attempt *attempt)
{
    struct record record = attempt_record_of(attempt, RECORD_ENDED);
    record.exit_code = attempt->exit_code;
    record.out_bytes = attempt->streams[0].offset;
    record.err_bytes = attempt->streams[1].offset;
    record.cpu_ms = attempt->cpu_ms;
    record.memory_peak = attempt->memory_peak;
    record.out_of_memory = attempt->out_of_memory;
    record.out_of_disk = attempt->out_of_disk;
    spool_put(attempt->sup->spool, &record);
}

void attempt_record_again(struct supervisor *sup)
{
    size_t cursor = 0;
    for (const struct attempt *attempt = map_next(sup->attempts, &cursor); attempt != NULL;
         attempt = map_next(sup->attempts, &cursor)) {
        if (attempt->state == ATTEMPT_RUNNING || attempt->state == ATTEMPT_CLOSING) {
            attempt_record_started(attempt);
        }
    }
    for (struct attempt *attempt = sup->ended_first; attempt != NULL;
         attempt = attempt->ended_next) {
        if (attempt->sequence == 0) { /* of an earlier supervisor: its end is unknown here */
            continue;
        }
        if (attempt->lost) {
            attempt_record_lost(attempt);
        } else if (attempt->spawn_error != 0) {
            attempt_record_spawn_failed(attempt, "the program could not be started");
        } else {
            attempt_record_started(attempt);
            attempt_record_ended(attempt);
        }
        attempt->end = spool_end(sup->spool);
    }
}
