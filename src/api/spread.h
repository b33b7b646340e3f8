/* spread.h - tasks wider than a node are divided only where the client consents.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "core/model/input.h"

/* With ?spread=refuse: refuses a submission of which a task would be divided into several instances,
 * and names both ways to submit it. True: the call was answered. */
must_use bool spread_refused(struct call *call, const struct submission *submission);
