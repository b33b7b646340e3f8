/* limits.h - the limits of agent and supervisor, in one place.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

enum {
    ATTEMPTS_MAX = 4096,           /* attempts open at once on one node; a further start fails */
    FRAME_BYTES_MAX = 1024 * 1024, /* of one message between agent and supervisor */
    FRAME_QUEUE_MAX = 16 * 1024 * 1024, /* of messages that the other side has not taken yet */
    RECENT_KEYS_MAX = 16384,            /* acknowledged attempts whose keys are still known */
    SPOOL_SEGMENT_BYTES = 8 * 1024 * 1024,
    SPOOL_RECORD_MAX = 512 * 1024,
    /* Unacknowledged bytes; above it the supervisor stops reading the tasks' pipes. */
    SPOOL_BYTES_MAX = 1024 * 1024 * 1024,
    READ_CHUNK = 64 * 1024, /* bytes of output read from one pipe at a time */
    OUTPUT_MAX_DEFAULT = 64 * 1024 * 1024,
    JOBDIR_READY = 64, /* job directories kept ready */
    JOBDIR_SWEEP = 64, /* looked at in one go, when old ones are removed */
    CGROUPS_READY_MAX = 1024,
    TASK_PIDS_MAX = 8192, /* processes and threads of one task, unless the agent's option says */
    ORPHANS_MAX = 4096,   /* stray processes looked at in one go */
    STRAY_ROUND_MS = 10,  /* between two looks at processes that take long to end */
    CHECKPOINT_ROUND_MS = 1000, /* between two rounds that look at checkpoint files */
    CHECKPOINT_LOOKS_MAX = 64,
    GRACE_LIMIT_MS = 24 * 60 * 60 * 1000,
    IDLE_END_MS = 10000, /* a supervisor with no task and no agent ends after this time */
    SUPERVISOR_ID_LEN = 16,
    SUPERVISOR_HEX_LEN = 32,
    AGENT_PATH_MAX = 1024,
    HIDDEN_TEXT_MAX = 8 * AGENT_PATH_MAX, /* of the list of directories that tasks must not see */
    REPORTS_BATCH_MAX = 2000,
    REPORT_BYTES_MAX = 4 * 1024 * 1024,
};
