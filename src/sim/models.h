/* models.h - "only on these kinds of GPU", built from named resources. Each list of models gets
 * a named resource. Nodes with a model of the list offer the resource without end, and jobs with
 * this list request it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "sim/scenario.h"

/* The node label that has the model. */
#define MODEL_LABEL "gpu.model"

/* Does so for every job that names models. If no node has the label, nothing is requested.
 * ERR_LIMIT: there are more lists than a node can offer resources. */
must_use enum err models_apply(struct scenario *scenario, struct error *e);
