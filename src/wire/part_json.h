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

/* Writes "key":[0,2] for bits 0 and 2. */
void part_json_devices(struct json_out *j, const char *key, uint64_t devices);

/* Writes an amount as a number: memory in bytes, other resources in decimal units. */
void part_json_amount(struct json_out *j, const char *key, resource_id resource, int64_t amount);

/* The same, where QUOTA_UNLIMITED is null. */
void part_json_bound(struct json_out *j, const char *key, resource_id resource, int64_t bound);

/* Writes "topology":{"required":"zone","preferred":"rack"} with the levels that are given; null:
 * no level. */
void part_json_topology(struct json_out *j, const struct topology_spec *topology);

/* Writes "resources":{"slots":2,…}: the request of an instance as it was submitted. */
void part_json_asks(struct json_out *j, const struct task_spec *spec);

/* Writes "resources":{"gpu":1,"foo":5}, a resolved request; {"slots":0} for an empty request. */
void part_json_request(struct json_out *j, const struct core *core, const struct request *request);

/* Writes "groups":[{…}], the tree of groups as it was submitted; null: no groups. */
void part_json_groups(struct json_out *j, const struct task_spec *spec);

/* Writes "env":{"K":"V"}. */
void part_json_env(struct json_out *j, const struct task_spec *spec);

/* Writes "depends_on":[7,"8:any"]. */
void part_json_depends(struct json_out *j, const struct task_spec *spec);

/* Writes "reservations":[{"task":7,"until":"…"}]. */
void part_json_reservations(struct json_out *j, const struct reservation *at, uint32_t count);

/* Writes "project":"name" or "department":"name"; nothing for an account that is gone. */
void part_json_account(struct json_out *j, const struct core *core, account_id id);

/* Thousandths of slot-hours of a budget's amount, which is in thousandths of slots times milliseconds. Rounded down. */
int64_t part_json_slot_hours(int64_t amount);
