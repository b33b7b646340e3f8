/* object_json.h - the objects that users describe as JSON, by the tables of their fields (core/model/object.h).
 *
 * Two forms. The API's object has every field, times in milliseconds (`grace_ms`), null where nothing is said. Its `spec` is
 * what a file would say: the fields that were given another value than their default, as the readers of spec/ take them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_out.h"
#include "core/model/object.h"

/* The fields of one group, within an object that the caller begins and ends. */
void object_json_fields(struct json_out *j, const struct object *object, enum object_group group,
                        const void *spec);

/* A map that task_file_spec_read() reads back as an equal task; `user` is not in it, `env` where it is asked for. */
void object_json_task(struct json_out *j, const struct task_spec *spec, bool env);

/* A map that pool_spec_read() reads back as an equal pool. */
void object_json_pool(struct json_out *j, const struct pool_spec *spec);

/* "accepts":["experiment", …]: the kinds of the bits. */
void object_json_accepts(struct json_out *j, uint32_t accepts);
