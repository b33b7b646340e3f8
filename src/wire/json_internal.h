/* json_internal.h - pieces of JSON that several objects have.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_out.h"
#include "core/core.h"

/* "key":{"zone":"a"} */
void labels_json(struct json_out *j, const char *key, const struct label *labels, uint32_t count);

/* "key":["a","b"] */
void texts_json(struct json_out *j, const char *key, const char *const *texts, uint32_t count);

/* {"required":"zone","preferred":"rack"}, with what is said of it, or null. */
void topology_json(struct json_out *j, const struct topology_spec *topology);

/* "resources":{"slots":2,…}: what an instance asks for, as it was submitted. */
void asks_json(struct json_out *j, const struct task_spec *spec);

/* "groups":[{…}] as a task was submitted with them: the tree; or null. */
void groups_json(struct json_out *j, const struct task_spec *spec);

/* "key":[0,2] for bits 0 and 2. */
void devices_json(struct json_out *j, const char *key, uint64_t devices);

/* "key":7, or null for 0. */
void u64_or_null_json(struct json_out *j, const char *key, uint64_t value);

/* What was asked, {"gpu":1,"foo":5}; {"slots":0} where that is nothing at all. */
void request_json(struct json_out *j, const struct core *core, const struct request *request);

/* "env":{"K":"V"} */
/* "depends_on": [7, "8:any"]. */
void depends_json(struct json_out *j, const struct task_spec *spec);
void env_json(struct json_out *j, const struct task_spec *spec);
