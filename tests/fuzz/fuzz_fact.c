/* fuzz_fact.c - decoding of facts. An accepted fact encodes to the same bytes, unless it was of
 * an older version.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/must.h"
#include "core/state/fact.h"

#include <string.h>

enum { OUT_MAX = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct fact fact;
    struct error e = {0};
    arena_init(&arena);
    if (fact_decode((struct str){(const char *)data, size}, &arena, &fact, &e) == ERR_OK) {
        struct buf out;
        buf_init(&out, OUT_MAX);
        fact_encode(&fact, &out);
        const uint32_t version = fact.version;
        must(fact_decode((struct str){out.data, out.len}, &arena, &fact, &e) == ERR_OK);
        must(version < fact.version || out.len == size);
        must(version < fact.version || memcmp(out.data, data, size) == 0);
        must(fact_type_name(fact.type) != NULL);
        buf_done(&out);
    } else {
        must(e.code == ERR_CORRUPT);
        must(e.text[0] != '\0');
    }
    arena_done(&arena);
    return 0;
}
