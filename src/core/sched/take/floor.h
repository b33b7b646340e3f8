/* floor.h - the waiting tasks of accounts that pay for a claim: a claimant above its guarantee takes nothing that they have a right to.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct solve;

/* Do the waiting tasks that the guarantees of the payers shield find places beside the claimant? At the call the trial has all
 * evictions and claims of the set of victims; the trial is the same afterwards. */
bool floor_left(struct solve *solve);
