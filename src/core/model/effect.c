/* effect.c - see effect.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/effect.h"

#include "base/vec.h"

void effect_done(struct effects *effects)
{
    vec_done(effects);
}
