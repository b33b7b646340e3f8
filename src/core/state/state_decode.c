/* state_decode.c - reads a whole state from bytes.
 *
 * For any bytes the result is either a state whose rows, sums and orders agree, or ERR_CORRUPT with the name
 * of the section. Each row is checked before anything is derived from the row.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/state_codec.h"
#include "core/model/blob.h"
#include "base/fail.h"
#include "core/model/resource.h"

#include <string.h>

static void resources_get(struct state_reader *r)
{
    uint32_t count = codec_get_count(&r->in, RESOURCES_MAX - RESOURCE_NAMED_FIRST);
    for (uint32_t i = 0; i < count && !r->in.bad; i++) {
        const char *name = bytes_get_text(&r->in, &r->arena, NAME_LEN_MAX);
        resource_id known;
        if (name[0] == '\0' || query_resource_named(r->core, name, &known)) {
            codec_bad(&r->in);
            return;
        }
        r->core->resources[r->core->resource_count++] = blob_new(name, strlen(name) + 1);
    }
}

static bool head_get(struct state_reader *r)
{
    struct str magic = bytes_get_str(&r->in, sizeof STATE_MAGIC);
    if (!str_is(magic, STATE_MAGIC)) {
        return false;
    }
    r->version = bytes_get_u64(&r->in);
    if (r->version < STATE_VERSION_FIRST || r->version > STATE_VERSION) {
        return false;
    }
    state_codec_read(r, &state_codec_head, r->core);
    state_codec_read(r, &state_codec_numbers, &r->head);
    resources_get(r);
    return !r->in.bad;
}

static bool rows_get(const struct state_section *section, struct state_reader *r)
{
    uint64_t *last = (void *)((char *)&r->head + section->last_at);
    const uint64_t most = section->last_at != 0 ? *last : UINT64_MAX;
    uint64_t id = 0;
    for (uint64_t left = bytes_get_u64(&r->in); left > 0 && !r->in.bad; left--) {
        const uint64_t before = id;
        id = bytes_get_max(&r->in, most);
        void *read = arena_alloc(&r->arena, section->fields.size);
        state_codec_read(r, &section->fields, read);
        if (r->in.bad || id <= before || !section->get(r, id, read)) {
            return false;
        }
        arena_clear(&r->arena);
    }
    if (section->last_at == section->table_at + offsetof(struct table, last)) {
        *(uint64_t *)(void *)((char *)r->core + section->last_at) = most;
    }
    return !r->in.bad;
}

static bool section_get(const struct state_section *section, struct state_reader *r)
{
    if (r->version < section->since) {
        return true;
    }
    r->in.plain =
        r->version < (section->tags_since != 0 ? section->tags_since : STATE_VERSION_TAGS);
    if (section->begin != NULL) {
        section->begin(r->core);
    }
    if (section->get != NULL && !rows_get(section, r)) {
        return false;
    }
    return section->end == NULL || (section->end(r) && !r->in.bad);
}

enum err state_decode(struct str bytes, struct core **ret, struct error *e)
{
    struct state_reader r = {.core = state_new()};
    bytes_reader_init(&r.in, bytes.p, bytes.len);
    arena_init(&r.arena);
    const char *bad = head_get(&r) ? NULL : "head";
    for (uint32_t i = 0; i < STATE_SECTION_COUNT && bad == NULL; i++) {
        if (!section_get(state_codec_sections[i], &r)) {
            bad = state_codec_sections[i]->name;
        }
    }
    if (bad == NULL && !bytes_reader_ok(&r.in)) {
        bad = "end";
    }
    arena_done(&r.arena);
    if (r.version > STATE_VERSION && !r.in.bad) {
        state_free(r.core);
        return fail(e, ERR_CORRUPT,
                    "state: written by a newer Weir (version %llu of the state, this program reads "
                    "1 to %d)",
                    (unsigned long long)r.version, STATE_VERSION);
    }
    if (bad != NULL) {
        state_free(r.core);
        return fail(e, ERR_CORRUPT, "state: %s cannot be right", bad);
    }
    *ret = r.core;
    return ERR_OK;
}
