/* claim.c - see claim.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/claim.h"

struct grant claim_grant(const struct claim *claim)
{
    return (struct grant){claim->devices, claim->slots_milli, claim->cpu_milli,
                          claim->memory_bytes};
}
