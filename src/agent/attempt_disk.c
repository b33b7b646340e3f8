/* attempt_disk.c - see attempt_disk.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/attempt_disk.h"

#include "agent/attempt.h"
#include "agent/attempt_record.h"
#include "agent/disk_watch.h"
#include "base/amount.h"
#include "base/log.h"

#include <stdio.h>

enum { LINE_BYTES_MAX = 128 };

void attempt_disk_look(struct attempt *attempt)
{
    if (!attempt->out_of_disk && disk_watch_over(attempt->sup->disk, &attempt->key)) {
        attempt->out_of_disk = true;
        log_info("a task used more disk than tasks may", kv_u64("task", attempt->key.task.v));
        attempt_stop(attempt, 0);
    }
}

void attempt_disk_say(struct attempt *attempt)
{
    char bytes[AMOUNT_TEXT_MAX];
    char line[LINE_BYTES_MAX];
    struct attempt_stream *stream = &attempt->streams[STREAM_COUNT - 1];
    if (!attempt->out_of_disk) {
        return;
    }
    amount_bytes_text((int64_t)disk_watch_limit(attempt->sup->disk), bytes);
    const int len =
        snprintf(line, sizeof line, "weir: killed: used more than its %s of disk\n", bytes);
    struct record record = attempt_record_of(attempt, RECORD_OUTPUT);
    record.stream = STREAM_COUNT;
    record.offset = stream->offset;
    record.data = (struct str){line, (size_t)len};
    spool_put(attempt->sup->spool, &record);
    stream->offset += (uint64_t)len;
}
