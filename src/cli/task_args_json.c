/* task_args_json.c - writes a task from a file and from flags as the API takes it. A flag wins
 * over the same field of the file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/task_args.h"

#include "base/json_out.h"
#include "cli/item.h"
#include "core/model/object.h"

#include <string.h>

/* True for a field whose YAML scalars are texts, whatever they look like: `name: 12`. */
static bool field_is_text(const char *name)
{
    static const char *const texts[] = {"command", "entrypoint", "env", "pool", "pools", "array"};
    const struct object_field *row = object_find(&task_object, name);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i], name) == 0) {
            return true;
        }
    }
    return row != NULL && (row->record.type == RECORD_TEXT || row->record.type == RECORD_TEXTS ||
                           row->record.type == RECORD_WORD || row->record.type == RECORD_MS);
}

static bool has_field(const struct task_field *fields, size_t count, struct str name)
{
    if (str_is(name, "pool")) { /* the short spelling of a list of one */
        name = str_of("pools");
    }
    for (size_t i = 0; i < count; i++) {
        if (str_is(name, fields[i].name)) {
            return true;
        }
    }
    return false;
}

/* Writes the resources of the file that no flag names, then the resources of the flags. */
static void resources_json(const struct task_args *args, const struct doc *file, struct json_out *j)
{
    json_out_key(j, "resources");
    json_out_object(j);
    for (const struct doc *d = file == NULL ? NULL : file->first; d != NULL; d = d->next) {
        if (!has_field(args->resources, args->resource_count, d->key)) {
            item_json_field(j, d, false);
        }
    }
    for (size_t i = 0; i < args->resource_count; i++) {
        json_out_key(j, args->resources[i].name);
        json_out_raw(j, str_of(args->resources[i].json));
    }
    json_out_end(j);
}

void task_args_json(const struct task_args *args, const struct doc *file, struct buf *out)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    const struct doc *resources = NULL;
    bool workdir = args->workdir == NULL;
    for (const struct doc *d = file == NULL ? NULL : file->first; d != NULL; d = d->next) {
        workdir = workdir || str_is(d->key, "workdir");
        if (str_is(d->key, "resources") && d->kind == DOC_MAP) {
            resources = d;
        } else if (!has_field(args->fields, args->field_count, d->key)) {
            item_json_field(&j, d, field_is_text(d->key.p));
        }
    }
    for (size_t i = 0; i < args->field_count; i++) {
        json_out_key(&j, args->fields[i].name);
        json_out_raw(&j, str_of(args->fields[i].json));
    }
    if (resources != NULL || args->resource_count > 0) {
        resources_json(args, resources, &j);
    }
    if (!workdir) {
        json_out_key(&j, "workdir");
        json_out_raw(&j, str_of(args->workdir));
    }
    json_out_end(&j);
}

bool task_args_json_edit(const struct task_args *args, struct buf *out)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    for (size_t i = 0; i < args->field_count; i++) {
        json_out_key(&j, args->fields[i].name);
        json_out_raw(&j, str_of(args->fields[i].json));
    }
    if (args->resource_count > 0) {
        resources_json(args, NULL, &j);
    }
    json_out_end(&j);
    return args->field_count > 0 || args->resource_count > 0;
}
