/* verdict.h - the verdict of a decision.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

enum verdict {
    VERDICT_OK,        /* `out` has the facts (none: nothing changes) */
    VERDICT_REFUSED,   /* out->refusal says why; no facts */
    VERDICT_NOT_FOUND, /* the object named does not exist; out->refusal names it */
    /* the state of the object does not allow the change; out->refusal says why */
    VERDICT_CONFLICT,
    /* the idempotency key was used before with the same body; out->at[0] is a FACT_SUBMIT_KEY with the tasks
     * of that submission */
    VERDICT_REPEATED,
};
