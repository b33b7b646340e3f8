/* models.h - "only on these kinds of GPU", out of what the core has: a named resource per list of
 * models, offered without end by the nodes whose model is in the list, and asked for by the jobs
 * that name it. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "sim/scenario.h"

/* The label that tells a node's model. */
#define MODEL_LABEL "gpu.model"

/* For every job that names models; without any node that has the label nothing is asked for.
 * ERR_LIMIT: more lists than a node can offer resources. */
must_use enum err models_apply(struct scenario *scenario, struct error *e);
