/* preview_json.h - what a change would do, as the API shows it. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/json_out.h"
#include "core/preview.h"

/* Writes {"changes":true,"stops":[…],"starts":[…],…}: DryRun in docs/api/openapi.yaml. */
void preview_json(struct json_out *j, const struct preview *preview, struct arena *arena);
