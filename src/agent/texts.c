/* texts.c - see texts.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/texts.h"

#include "core/model/limits.h"

void texts_put(struct buf *out, const char *const *texts, size_t count)
{
    bytes_put_u64(out, count);
    for (size_t i = 0; i < count; i++) {
        bytes_put_text(out, texts[i]);
    }
}

const char *const *texts_get(struct bytes_reader *in, struct arena *arena, size_t max,
                             size_t *ret_count)
{
    const size_t count = (size_t)bytes_get_max(in, max);
    const char **texts = arena_new(arena, const char *, count + 1);
    for (size_t i = 0; i < count; i++) {
        texts[i] = bytes_get_text(in, arena, TASK_SPEC_BYTES_MAX);
    }
    *ret_count = count;
    return texts;
}
