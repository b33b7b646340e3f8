/* verdict.h - what a decision says.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

enum verdict {
    VERDICT_OK,        /* `out` has the facts (none: nothing changes) */
    VERDICT_REFUSED,   /* out->refusal says why; no facts */
    VERDICT_NOT_FOUND, /* the object named does not exist; out->refusal names it */
    VERDICT_CONFLICT,  /* its state does not allow it */
    VERDICT_REPEATED,  /* an idempotency key seen before with the same body: out->at[0] is its
                          FACT_SUBMIT_KEY */
};
