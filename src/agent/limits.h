/* limits.h - every size of agent and supervisor, in one place.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

enum {
    ATTEMPTS_MAX = 4096,                /* running at once on one node; a start beyond it fails */
    FRAME_BYTES_MAX = 1024 * 1024,      /* one message between agent and supervisor */
    FRAME_QUEUE_MAX = 16 * 1024 * 1024, /* messages not yet taken by the other side */
    RECENT_KEYS_MAX = 16384,            /* acknowledged attempts whose keys are still known */
    SPOOL_SEGMENT_BYTES = 8 * 1024 * 1024,
    SPOOL_RECORD_MAX = 512 * 1024,
    SPOOL_BYTES_MAX = 1024 * 1024 * 1024, /* unacknowledged; then the tasks' pipes are not read */
    READ_CHUNK = 64 * 1024,               /* output taken from one pipe at a time */
    OUTPUT_MAX_DEFAULT = 64 * 1024 * 1024,
    JOBDIR_READY = 64, /* directories kept ready */
    CGROUPS_READY_MAX = 1024,
    ORPHANS_MAX = 4096,         /* stray processes looked at in one go */
    STRAY_ROUND_MS = 10,        /* between two looks at processes that take long to die */
    CHECKPOINT_ROUND_MS = 1000, /* between two looks at what tasks have saved, and at how many: */
    CHECKPOINT_LOOKS_MAX = 64,
    GRACE_LIMIT_MS = 24 * 60 * 60 * 1000,
    IDLE_END_MS = 10000, /* a supervisor with no task and no agent ends after it */
    SUPERVISOR_ID_LEN = 16,
    SUPERVISOR_HEX_LEN = 32,
    AGENT_PATH_MAX = 1024,
    REPORTS_BATCH_MAX = 2000,
    REPORT_BYTES_MAX = 4 * 1024 * 1024,
};
