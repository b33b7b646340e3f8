/* taskfiles.h - answers the server's questions for the files in job directories.
 *
 * The content of a job directory is hostile, and the agent may be root. So a path is opened below the
 * directory without following any link or mount, only plain files and directories are opened at all, and
 * only those that belong to the owner of the job directory: a hard link shows nothing of another user.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "wire/agent.h"

/* Appends the answer as JSON. `dir` is the node's directory. */
void taskfiles_answer(const char *dir, const struct agent_ask *ask, struct buf *out);
