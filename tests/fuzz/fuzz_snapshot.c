/* fuzz_snapshot.c - decoding of whole states. An accepted state satisfies all invariants and
 * encodes to the same bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/must.h"
#include "core/core.h"

#include <string.h>

/* The version follows the magic text and its length. */
enum { OUT_MAX = 64 << 20, VERSION_AT = sizeof "weir state" };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct core *core = NULL;
    struct error e = {0};
    if (core_decode((struct str){(const char *)data, size}, &core, &e) != ERR_OK) {
        must(e.code == ERR_CORRUPT);
        must(core == NULL);
        return 0;
    }
    struct buf out;
    buf_init(&out, OUT_MAX);
    core_check_rows(core);
    core_encode(core, &out);
    /* A state of an older version is encoded in the newest version. */
    must(out.data[VERSION_AT] != (char)data[VERSION_AT] || out.len == size);
    must(out.data[VERSION_AT] != (char)data[VERSION_AT] || memcmp(out.data, data, size) == 0);
    buf_done(&out);
    core_free(core);
    return 0;
}
