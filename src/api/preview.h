/* preview.h - dry runs of changes. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "core/preview.h"

/* Answers a call that has ?dry_run=true with what the input would do (wire/preview_json.h), or with the refusal that the change would
 * get. False: the call wants the change itself. */
must_use bool preview_answered(struct call *call, struct input *in);

/* The same for several inputs that one call makes. A refusal is answered only where every input is refused. */
must_use bool preview_answered_many(struct call *call, struct input *inputs, uint32_t count);

/* The same for a change that moves no task: of tokens, which the core does not know. What would refuse the change was looked at. */
must_use bool preview_answered_alone(struct call *call);
