/* past.h - reads of an earlier moment: `?at=TIME` on routes whose answer is a picture of the state.
 *
 *   facts up to TIME ──▶ the nearest state before: the past that was asked for last, a snapshot, or the beginning
 *                    ──▶ the facts behind it, applied ──▶ the route's own handler, with that state and that clock
 *
 * B1 the handler of the present answers, so a past reads as the present did then. B2 an answer costs at most
 * PAST_FACTS_MAX facts; a moment that costs more is refused with the reason. B3 nothing of the present changes.
 * docs/dev/adr/0087-back-in-time.md. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"

enum { PAST_FACTS_MAX = 200000 };

struct pasts;

struct pasts *past_new(struct api *api);
void past_free(struct pasts *pasts);

/* Returns whether the call asks for an earlier moment whose state is not there yet. If so, the call was parked and runs
 * again with that state, or the call was answered with an error. */
bool past_awaited(struct call *call);
