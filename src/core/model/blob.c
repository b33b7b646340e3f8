/* blob.c - immutable bytes with an atomic reference count.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/blob.h"

#include "base/mem.h"
#include "base/must.h"

#include <string.h>

struct blob {
    uint32_t refs;
    uint32_t len;
    char data[];
};

struct blob *blob_new(const void *data, size_t len)
{
    must(len <= UINT32_MAX);
    struct blob *blob = xmalloc(sizeof *blob + len);
    blob->refs = 1;
    blob->len = (uint32_t)len;
    if (len > 0) {
        memcpy(blob->data, data, len);
    }
    return blob;
}

struct blob *blob_ref(struct blob *blob)
{
    if (blob != NULL) {
        uint32_t before = __atomic_fetch_add(&blob->refs, 1, __ATOMIC_RELAXED);
        must(before > 0);
    }
    return blob;
}

void blob_unref(struct blob *blob)
{
    if (blob == NULL) {
        return;
    }
    uint32_t before = __atomic_fetch_sub(&blob->refs, 1, __ATOMIC_ACQ_REL);
    must(before > 0);
    if (before == 1) {
        free(blob);
    }
}

struct str blob_bytes(const struct blob *blob)
{
    if (blob == NULL) {
        return (struct str){"", 0};
    }
    return (struct str){blob->data, blob->len};
}

void blob_reader(const struct blob *blob, struct bytes_reader *ret)
{
    const struct str bytes = blob_bytes(blob);
    const size_t skip = strlen(bytes.p) + 1;
    must(skip <= bytes.len);
    bytes_reader_init(ret, bytes.p + skip, bytes.len - skip);
}
