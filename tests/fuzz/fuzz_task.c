/* fuzz_task.c - what users write, JSON or YAML: tasks, pools, edits, the server file. An accepted
 * task, written as the body of a submission and read again, is the same task.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/buf.h"
#include "base/doc.h"
#include "base/must.h"
#include "spec/edit.h"
#include "spec/pool_spec.h"
#include "spec/server_file.h"
#include "spec/task_file.h"
#include "wire/submit_json.h"

#include <string.h>

enum { OUT_MAX = 64 << 20 };

static void spec_write(const struct task_spec *spec, struct buf *out)
{
    struct json_out j;
    json_out_init(&j, out);
    submit_json(&j, spec);
}

static void spec_again(const struct task_spec *spec)
{
    struct arena arena;
    struct buf first;
    struct buf second;
    struct doc *doc;
    struct task_spec back;
    struct error e = {0};
    arena_init(&arena);
    buf_init(&first, OUT_MAX);
    buf_init(&second, OUT_MAX);
    spec_write(spec, &first);
    must(doc_json_parse(&arena, (struct str){first.data, first.len}, &doc, &e) == ERR_OK);
    must(task_file_spec_read(doc, &arena, &back, &e) == ERR_OK);
    spec_write(&back, &second);
    must(first.len == second.len);
    must(memcmp(first.data, second.data, first.len) == 0);
    must(back.needs_gpu == spec->needs_gpu);
    must(back.device_mask == spec->device_mask);
    buf_done(&first);
    buf_done(&second);
    arena_done(&arena);
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
        spec_again(&specs[i]);
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
    }
    arena_done(&arena);
    return 0;
}
