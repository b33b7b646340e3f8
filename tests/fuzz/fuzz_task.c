/* fuzz_task.c - what users write, JSON or YAML: tasks, pools, edits, the server file. An
 * accepted task, written as the body of a submission and read again, is the same task.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/buf.h"
#include "base/doc.h"
#include "base/must.h"
#include "spec/edit.h"
#include "spec/pool_spec.h"
#include "spec/server_file.h"
#include "spec/task_file.h"
#include "wire/object_json.h"

#include <string.h>

enum { OUT_MAX = 64 << 20 };

/* Parses the JSON that an encoder has written. */
static const struct doc *written(struct buf *out, struct arena *arena)
{
    struct doc *doc;
    struct error e = {0};
    must(doc_json_parse(arena, (struct str){out->data, out->len}, &doc, &e) == ERR_OK);
    return doc;
}

static void task_again(const struct task_spec *spec, struct arena *arena)
{
    struct buf out;
    struct json_out j;
    struct task_spec back;
    struct error e = {0};
    buf_init(&out, OUT_MAX);
    json_out_init(&j, &out);
    object_json_task(&j, spec, true);
    must(task_file_spec_read(written(&out, arena), arena, &back, &e) == ERR_OK);
    must(object_equal(&task_object, spec, &back));
    buf_done(&out);
}

static void pool_again(const struct pool_spec *spec, struct arena *arena)
{
    struct buf out;
    struct json_out j;
    struct pool_spec back;
    struct error e = {0};
    buf_init(&out, OUT_MAX);
    json_out_init(&j, &out);
    object_json_pool(&j, spec);
    must(pool_spec_read(written(&out, arena), arena, &back, &e) == ERR_OK);
    must(object_equal(&pool_object, spec, &back));
    buf_done(&out);
}

static void tasks_try(const struct doc *doc, struct arena *arena)
{
    const struct task_spec *specs = NULL;
    uint32_t count = 0;
    struct error e = {0};
    if (task_file_specs_read(doc, arena, &specs, &count, &e) != ERR_OK) {
        must(e.text[0] != '\0');
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        must(specs[i].instances >= 1);
        must(specs[i].argv_count >= 1);
        must(specs[i].slots_milli >= ASK_NOTHING);
        task_again(&specs[i], arena);
    }
}

static void others_try(const struct doc *doc, struct arena *arena)
{
    struct error e = {0};
    struct pool_spec pool;
    struct task_edit task;
    struct node_edit node;
    if (pool_spec_read(doc, arena, &pool, &e) == ERR_OK) {
        must(pool.name[0] != '\0');
        pool_again(&pool, arena);
    }
    if (edit_task_read(doc, arena, &task, &e) == ERR_OK) {
        must(task.fields != 0);
    }
    if (edit_node_read(doc, arena, &node, &e) == ERR_OK) {
        must(node.fields != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct arena arena;
    struct doc *doc;
    struct error e = {0};
    struct server_file file;
    struct problems problems;
    arena_init(&arena);
    if (doc_yaml_parse(&arena, text, &doc, &e) == ERR_OK) {
        tasks_try(doc, &arena);
        others_try(doc, &arena);
    }
    if (server_file_read(text, "f", &arena, &file, &problems, &e) != ERR_OK) {
        must(problems.total > 0);
        must(problems.count > 0);
        must(problem_report(&problems, "f", text, &arena)[0] == 'f');
    }
    arena_done(&arena);
    return 0;
}
