/* files.h - what server and agent both know about questions for files: names, limits, and which paths
 * may be asked for. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

enum {
    FILES_PATH_MAX = 4095,
    FILES_NAMES_MAX = 1000,             /* names in one answer */
    FILES_PIECE_MAX = 3 * 1024 * 1024,  /* bytes of a file in one answer */
    FILES_ANSWER_MAX = 6 * 1024 * 1024, /* an answer: a piece in base64, or names */
};

#define FILES_ASK_LIST "files"
#define FILES_ASK_READ "file"

/* A path below a job directory: relative, without "..", without control characters. "": the job directory. This
 * check only makes clear messages; the agent opens paths so that they cannot leave the directory. */
must_use enum err files_path_check(const char *path, struct error *e);

/* "file", "directory", "link" or "other": the word itself where it is one of them, else "other". */
const char *files_kind(const char *word);
