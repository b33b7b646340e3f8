/* state_encode.c - the whole state as bytes (docs/dev/formats/facts.md, "The state").
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/blob.h"
#include "core/model/resource.h"
#include "core/state/state_codec.h"

#include <string.h>

static void head_put(const struct core *core, struct buf *out)
{
    bytes_put_text(out, STATE_MAGIC);
    bytes_put_u64(out, STATE_VERSION);
    record_write(&state_codec_head, core, out);
    record_write(&state_codec_numbers, core, out);
    bytes_put_u64(out, core->resource_count - RESOURCE_NAMED_FIRST);
    for (uint32_t i = RESOURCE_NAMED_FIRST; i < core->resource_count; i++) {
        bytes_put_text(out, query_resource_name(core, (resource_id){(uint16_t)i}));
    }
}

static void row_put(const struct state_section *section, const struct core *core, const void *row,
                    struct buf *out)
{
    record_write(&section->fields, row, out);
    if (section->text_at != 0) {
        const struct str bytes =
            blob_bytes(*(struct blob *const *)(const void *)((const char *)row + section->text_at));
        const size_t skip = strlen(bytes.p) + 1;
        buf_add(out, bytes.p + skip, bytes.len - skip);
    }
    if (section->put != NULL) {
        section->put(core, row, out);
    }
}

static void rows_put(const struct state_section *section, const struct core *core, struct buf *out)
{
    const struct table *table = (const void *)((const char *)core + section->table_at);
    uint64_t left_out = 0;
    for (uint64_t id = table_next(table, 0); id != 0 && section->has != NULL;
         id = table_next(table, id)) {
        left_out += !section->has(table_get(table, id));
    }
    bytes_put_u64(out, table->count - left_out);
    for (uint64_t id = table_next(table, 0); id != 0; id = table_next(table, id)) {
        const void *row = table_get(table, id);
        if (section->has == NULL || section->has(row)) {
            bytes_put_u64(out, id);
            row_put(section, core, row, out);
        }
    }
}

void state_encode(const struct core *core, struct buf *out)
{
    head_put(core, out);
    for (uint32_t i = 0; i < STATE_SECTION_COUNT; i++) {
        const struct state_section *section = state_codec_sections[i];
        if (section->get != NULL) {
            rows_put(section, core, out);
        } else if (section->put_all != NULL) {
            section->put_all(core, out);
        }
    }
}
