/* preview.h - dry runs of changes. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "core/model/input.h"

/* Answers a call that has ?dry_run=true with what the input would do: {"stops_total":1,"stops":[{task
 * name user project instances lost_ms}],"starts":[11]}. False: the call wants the change itself. */
must_use bool preview_answered(struct call *call, struct input *in);
