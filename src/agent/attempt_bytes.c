/* attempt_bytes.c - the key of an attempt as bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/attempt_bytes.h"

void attempt_bytes_put(struct buf *out, const struct attempt_key *key)
{
    bytes_put_u64(out, key->task.v);
    bytes_put_u64(out, key->index);
    bytes_put_u64(out, key->attempt);
}

struct attempt_key attempt_bytes_get(struct bytes_reader *in)
{
    struct attempt_key key = {0};
    key.task.v = bytes_get_u64(in);
    key.index = (uint32_t)bytes_get_max(in, UINT32_MAX);
    key.attempt = (uint32_t)bytes_get_max(in, UINT32_MAX);
    return key;
}
