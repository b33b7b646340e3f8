/* preview.h - dry runs of changes. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "core/preview.h"

/* Answers a call that has ?dry_run=true with what the input would do: {"stops_total":1,"stops":[{task
 * name user project instances lost_ms}],"starts":[11]}. False: the call wants the change itself. */
must_use bool preview_answered(struct call *call, struct input *in);

/* Writes "stops_total", "stops" and "starts" of such an answer into an open object. */
void preview_members(struct json_out *j, const struct core *core, const struct preview *preview,
                     struct arena *arena);
