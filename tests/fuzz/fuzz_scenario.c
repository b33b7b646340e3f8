/* fuzz_scenario.c - scenario files. A scenario that names a trace is skipped, because its reader
 * would open the file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/must.h"
#include "sim/scenario_file.h"
#include "sound.h"

static bool names_a_trace(struct str text)
{
    struct arena arena;
    struct doc *doc;
    struct error e;
    arena_init(&arena);
    const bool read = doc_yaml_parse(&arena, text, &doc, &e) == ERR_OK;
    const bool names = read && doc->kind == DOC_MAP && doc_get(doc, "trace") != NULL;
    arena_done(&arena);
    return names;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = {(const char *)data, size};
    struct scenario scenario;
    struct error e = {0};
    if (names_a_trace(text)) {
        return 0;
    }
    sound_init(&scenario);
    if (scenario_file_read(text, "s", NULL, &scenario, &e) == ERR_OK) {
        sound_check(&scenario);
    } else {
        must(e.text[0] != '\0');
    }
    scenario_done(&scenario);
    return 0;
}
