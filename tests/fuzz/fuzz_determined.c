/* fuzz_determined.c - a master configuration of Determined. What has no problems becomes a server file that is YAML
 * again, and every problem has words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/must.h"
#include "compat/determined/det_weir.h"

static void problems_must_be_sound(const struct problems *problems)
{
    must(problems->count <= PROBLEMS_MAX);
    must(problems->total >= problems->count);
    for (uint32_t i = 0; i < problems->count; i++) {
        must(problems->at[i].path != NULL);
        must(problems->at[i].text[0] != '\0');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct error e = {0};
    struct doc *doc = NULL;
    arena_init(&arena);
    struct det_config *config = arena_new(&arena, struct det_config, 1);
    if (doc_yaml_parse(&arena, (struct str){(const char *)data, size}, &doc, &e) == ERR_OK) {
        det_config_read(doc, &arena, config);
        problems_must_be_sound(&config->form);
        problems_must_be_sound(&config->rules);
        if (config->form.count == 0 && config->rules.count == 0) {
            struct buf out;
            buf_init(&out, 16 << 20);
            det_weir_write(config, &out);
            must(!out.full);
            must(doc_yaml_parse(&arena, (struct str){buf_text(&out), out.len}, &doc, &e) == ERR_OK);
            buf_done(&out);
        }
    }
    arena_done(&arena);
    return 0;
}
