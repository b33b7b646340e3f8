/* fuzz_qarnot.c - bodies that a client of Qarnot's interface sends, and annotations that a client has set to anything. What is
 * written of a task is always JSON. SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/must.h"
#include "compat/qarnot/qarnot_internal.h"

#include <string.h>

static void body_try(const struct core *core, struct str text, struct arena *arena)
{
    struct doc *doc;
    struct task_spec spec;
    struct error e = {0};
    if (doc_json_parse(arena, text, &doc, &e) != ERR_OK) {
        return;
    }
    if (qarnot_spec_task(core, doc, true, arena, &spec, &e) == ERR_OK) {
        must(spec.instances >= 1);
        must(spec.instances <= TASK_INSTANCES_MAX);
        must(spec.max_retries <= RETRIES_MAX);
    }
    uint64_t after;
    size_t limit;
    struct qarnot_size size;
    if (qarnot_fields_page(doc, &after, &limit, &e) == ERR_OK) {
        must(limit >= 1);
        (void)qarnot_fields_filter_matches(doc_get(doc, "filter"), doc_get(doc, "tags"));
    }
    if (qarnot_size_read(doc, &size, &e) == ERR_OK) {
        must(size.nodes > 0 || (size.max >= size.min && size.max > 0));
    }
}

static void annotation_try(const struct core *core, const char *text, struct arena *arena)
{
    struct buf out;
    struct json_out j;
    struct doc *doc;
    struct error e = {0};
    buf_init(&out, 16 << 20);
    json_out_init(&j, &out);
    json_out_put(&j, "{id:%u,instances:%u,state:%s,annotation:%s,attempts:[{index:%u,state:%s}]}",
                 1, 3, "running", text, 2, "ended");
    must(doc_json_parse(arena, (struct str){buf_text(&out), out.len}, &doc, &e) == ERR_OK);
    struct buf written;
    buf_init(&written, 16 << 20);
    json_out_init(&j, &written);
    qarnot_json_task(&j, core, doc, arena);
    must(doc_json_parse(arena, (struct str){buf_text(&written), written.len}, &doc, &e) == ERR_OK);
    must(doc_get(doc, "creationDate") != NULL);
    buf_done(&written);
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct core *core = core_new();
    arena_init(&arena);
    const char *text = arena_strn(&arena, (const char *)data, size);
    body_try(core, (struct str){text, size}, &arena);
    if (strlen(text) == size) {
        annotation_try(core, text, &arena);
    }
    arena_done(&arena);
    core_free(core);
    return 0;
}
