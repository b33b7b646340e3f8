/* part_json.h - pieces of JSON that several objects have.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_out.h"
#include "core/core.h"

/* "key":{"zone":"a"} */
void part_json_labels(struct json_out *j, const char *key, const struct label *labels,
                      uint32_t count);

/* "key":["a","b"] */
void part_json_texts(struct json_out *j, const char *key, const char *const *texts, uint32_t count);

/* {"required":"zone","preferred":"rack"}, with what is said of it, or null. */
void part_json_topology(struct json_out *j, const struct topology_spec *topology);

/* "resources":{"slots":2,…}: what an instance asks for, as it was submitted. */
void part_json_asks(struct json_out *j, const struct task_spec *spec);

/* "groups":[{…}] as a task was submitted with them: the tree; or null. */
void part_json_groups(struct json_out *j, const struct task_spec *spec);

/* "key":[0,2] for bits 0 and 2. */
void part_json_devices(struct json_out *j, const char *key, uint64_t devices);

/* "key":7, or null for 0. */
void part_json_u64_or_null(struct json_out *j, const char *key, uint64_t value);

/* What was asked, {"gpu":1,"foo":5}; {"slots":0} where that is nothing at all. */
void part_json_request(struct json_out *j, const struct core *core, const struct request *request);

/* "env":{"K":"V"} */
/* "depends_on": [7, "8:any"]. */
void part_json_depends(struct json_out *j, const struct task_spec *spec);
void part_json_env(struct json_out *j, const struct task_spec *spec);
