/* fuzz_trace.c - job traces. The first byte chooses the format; the rest of the first line names
 * columns. Strict and lenient reading give the same jobs for well-formed rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/must.h"
#include "sim/trace.h"
#include "sound.h"

#include <string.h>

enum { NODE_SLOTS = 8, COLUMNS_MAX = 256 };

static const char *const formats[] = {"csv", "philly", "openb", "swf"};
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

static void node_add(struct scenario *scenario)
{
    const struct cluster_node node = {.spec = {.name = "n1",
                                               .pool = "",
                                               .slots_milli = NODE_SLOTS * 1000,
                                               .device_count = NODE_SLOTS,
                                               .cpu_milli = NODE_SLOTS * 1000,
                                               .memory_bytes = (int64_t)64 << 30,
                                               .boot_id = "",
                                               .address = "",
                                               .version = ""}};
    vec_push(&scenario->nodes, node);
}

static enum err trace_try(const struct trace_options *how, struct str text,
                          struct scenario *scenario)
{
    struct error e = {0};
    sound_init(scenario);
    node_add(scenario);
    enum err r = trace_read(how, text, scenario, &e);
    if (r != ERR_OK) {
        must(e.text[0] != '\0');
    }
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char columns[COLUMNS_MAX];
    struct str text = {(const char *)data, size};
    struct str rest;
    struct scenario strict;
    struct scenario lenient;
    if (size == 0) {
        return 0;
    }
    const struct str line = str_cut((struct str){text.p + 1, size - 1}, '\n', &rest);
    if (line.len >= sizeof columns || rest.p == NULL) {
        return 0;
    }
    memcpy(columns, line.p, line.len);
    columns[line.len] = '\0';
    struct trace_options how = {
        .file = "t", .format = formats[data[0] % FORMAT_COUNT], .columns = columns};
    const bool read = trace_try(&how, rest, &strict) == ERR_OK;
    how.skip_bad = true;
    if (trace_try(&how, rest, &lenient) == ERR_OK) {
        must(!read || lenient.jobs.count == strict.jobs.count);
        must(!read || lenient.rows_bad == 0);
        sound_check(&lenient);
    } else {
        must(!read);
    }
    scenario_done(&strict);
    scenario_done(&lenient);
    return 0;
}
