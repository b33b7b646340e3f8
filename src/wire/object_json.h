/* object_json.h - the objects that users describe as JSON, by the tables of their fields
 * (core/model/object.h). There are two forms.
 *
 * The API's object has every field. Times are in milliseconds (`grace_ms`), and null stands for
 * a value that nobody set.
 *
 * The map `spec` is what a file would have: the fields whose value is not the default, as the
 * readers of spec/ take them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_out.h"
#include "core/model/flavor.h"
#include "core/model/network.h"
#include "core/model/object.h"

/* Writes the fields of one group into an object that the caller begins and ends. */
void object_json_fields(struct json_out *j, const struct object *object, enum object_group group,
                        const void *spec);

/* Writes a map that task_file_spec_read() reads back as an equal task. `user` is left out; `env`
 * is written only if asked for. */
void object_json_task(struct json_out *j, const struct task_spec *spec, bool env);

/* Writes a map that pool_spec_read() reads back as an equal pool. */
void object_json_pool(struct json_out *j, const struct pool_spec *spec);

/* Writes a map that flavor_spec_patch() reads back as an equal flavor. */
void object_json_flavor(struct json_out *j, const struct flavor_spec *spec);
/* Writes a map that network_spec_patch() reads back as an equal network. */
void object_json_network(struct json_out *j, const struct network_spec *spec);
/* Writes a map that account_spec_patch() reads back as an equal account. */
void object_json_account(struct json_out *j, const struct account_spec *spec);

/* Writes "accepts":["experiment", …], one kind for each bit. */
void object_json_accepts(struct json_out *j, uint32_t accepts);
