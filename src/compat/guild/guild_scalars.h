/* guild_scalars.h - finds numbers in a run's output and writes them as a TensorBoard event file, as Guild does with its default patterns:
 *
 *   loss: 0.25          a scalar `loss`        loss: 0.25 (step 7)     the same; step 7 for this line and the following lines
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"

struct guild_scalars;

/* `flags` (ends with NULL): names that are no scalars. Borrows run_dir and flags. The file is made with the first scalar. */
struct guild_scalars *guild_scalars_new(const char *run_dir, const char *const *flags);
void guild_scalars_free(struct guild_scalars *scalars);

/* Takes one line of output. A file that cannot be written is given up; the run goes on. */
void guild_scalars_line(struct guild_scalars *scalars, struct str line);
