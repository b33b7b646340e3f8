/* submit_json.h - a task as the body of POST /tasks: what the command line sends.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_out.h"
#include "core/model/spec.h"

/* The inverse of task_file_spec_read(): reading it back gives an equal spec. `user` is not written. */
void submit_json(struct json_out *j, const struct task_spec *spec);
