/* uploads.h - what users upload for their tasks: plain tar archives in D/uploads/USER/DIGEST.tar.
 *
 * An archive is named by its SHA-256, and belongs to the user who sent it: knowing a digest gives nobody
 * another user's files. It comes in pieces, each of which may be sent again. It is there once its digest is
 * right, every entry is allowed, and it is on disk; a server that was killed goes on with what it has. An
 * archive that no unfinished task names goes UPLOAD_KEEP_MS after its last use.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "core/model/spec.h"

struct uploads;

/* `dir` is the server's data directory. */
struct uploads *uploads_new(struct api *api, const char *dir);
void uploads_free(struct uploads *uploads);

/* Are the archives that the tasks name there, and the user's? False: the call was answered. */
must_use bool uploads_there(struct call *call, const struct task_spec *specs, uint32_t count);

/* Removes what is too old. Call now and then; cheap while nothing is. */
void uploads_sweep(struct uploads *uploads);
