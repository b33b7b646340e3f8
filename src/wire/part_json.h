/* part_json.h - pieces of JSON that several objects have.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_out.h"
#include "core/core.h"

/* Writes "key":{"zone":"a"}. */
void part_json_labels(struct json_out *j, const char *key, const struct label *labels,
                      uint32_t count);

/* Writes "key":["a","b"]. */
void part_json_texts(struct json_out *j, const char *key, const char *const *texts, uint32_t count);

/* Writes {"required":"zone","preferred":"rack"} with the levels that are given; null: no level. */
void part_json_topology(struct json_out *j, const struct topology_spec *topology);

/* Writes "resources":{"slots":2,…}: the request of an instance as it was submitted. */
void part_json_asks(struct json_out *j, const struct task_spec *spec);

/* Writes "groups":[{…}], the tree of groups as it was submitted; null: no groups. */
void part_json_groups(struct json_out *j, const struct task_spec *spec);

/* Writes "key":[0,2] for bits 0 and 2. */
void part_json_devices(struct json_out *j, const char *key, uint64_t devices);

/* Writes "key":7; null for 0. */
void part_json_u64_or_null(struct json_out *j, const char *key, uint64_t value);

/* Writes the request, {"gpu":1,"foo":5}; {"slots":0} for an empty request. */
void part_json_request(struct json_out *j, const struct core *core, const struct request *request);

/* Writes "env":{"K":"V"}. */
/* Writes "depends_on": [7, "8:any"]. */
void part_json_depends(struct json_out *j, const struct task_spec *spec);
void part_json_env(struct json_out *j, const struct task_spec *spec);
