/* rollout.h - the parameters of a submission that takes the place of a service (core/model/rollout.h).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "core/model/input.h"

/* Reads `replaces`, `drain`, `within` and `old_first`. False: one is malformed, and the call was answered. */
must_use bool rollout_read(struct call *call, struct submission *submission);
