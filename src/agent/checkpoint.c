/* checkpoint.c - finds out whether a task has changed its $WEIR_CHECKPOINT_FILE.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/checkpoint.h"

#include "agent/attempt_disk.h"
#include "agent/attempt_use.h"
#include "agent/supervisor_internal.h"
#include "agent/taskenv.h"
#include "core/model/limits.h"

#include <sys/stat.h>

enum { NS_PER_S = 1000000000, NS_PER_MS = 1000000 };

/* When the checkpoint file was last changed; 0: there is no file. */
static int64_t changed_ns(const struct attempt *attempt)
{
    struct stat info;
    const struct jobdirs *dirs = attempt->sup->jobdirs;
    if (!jobdir_stat(dirs, attempt->key.task.v, attempt->instance, CHECKPOINT_FILE, &info)) {
        return 0;
    }
    return (int64_t)info.st_ctim.tv_sec * NS_PER_S + info.st_ctim.tv_nsec;
}

void checkpoint_begin(struct attempt *attempt)
{
    attempt->checkpoint_seen_ns = changed_ns(attempt);
    attempt->checkpoint_ms = 0;
}

void checkpoint_look(struct attempt *attempt)
{
    const int64_t seen_ns = changed_ns(attempt);
    if (seen_ns == 0 || seen_ns == attempt->checkpoint_seen_ns) {
        return;
    }
    /* The file's time may lie in the future, because the wall clock may have been set back. */
    const int64_t now_ms = supervisor_wall_ms();
    const int64_t at_ms = seen_ns / NS_PER_MS < now_ms ? seen_ns / NS_PER_MS : now_ms;
    if (attempt->checkpoint_ms > 0 && at_ms - attempt->checkpoint_ms < CHECKPOINT_INTERVAL_MS) {
        return;
    }
    attempt->checkpoint_seen_ns = seen_ns;
    attempt->checkpoint_ms = at_ms;
    const struct record record = {.type = RECORD_CHECKPOINT, .key = attempt->key, .at_ms = at_ms};
    spool_put(attempt->sup->spool, &record);
}

void checkpoint_watch(struct supervisor *sup)
{
    if (!loop_timer_armed(sup->look_timer)) {
        loop_timer_set(sup->look_timer, loop_now_ms(sup->loop) + CHECKPOINT_ROUND_MS);
    }
}

void checkpoint_round(struct supervisor *sup)
{
    const struct attempt *first = NULL;
    for (unsigned i = 0; i < CHECKPOINT_LOOKS_MAX; i++) {
        struct attempt *attempt = map_next(sup->attempts, &sup->look_cursor);
        if (attempt == NULL) { /* the cursor is at the end: begin again at the first attempt */
            sup->look_cursor = 0;
            attempt = map_next(sup->attempts, &sup->look_cursor);
        }
        if (attempt == NULL || attempt == first) {
            break;
        }
        first = first == NULL ? attempt : first;
        if (attempt->state == ATTEMPT_RUNNING) {
            checkpoint_look(attempt);
            attempt_use_look(attempt);
            attempt_disk_look(attempt);
        }
    }
    if (sup->open_count > 0) {
        checkpoint_watch(sup);
    }
}
