/* fuzz_tar.c - an uploaded archive. It reads the same in one piece and byte by byte, every name stays below the
 * directory, and an archive gives no more bytes than it has.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/hash.h"
#include "base/must.h"
#include "base/tar.h"

#include <string.h>

struct seen {
    uint64_t hash; /* of all entries and data, in order */
    uint64_t entries;
    uint64_t bytes;
    uint64_t left; /* of the entry that is open */
    bool open;
};

static void seen_add(struct seen *seen, const void *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        seen->hash = hash_u64(seen->hash ^ ((const unsigned char *)p)[i]);
    }
}

static void name_must_be_sound(const char *name)
{
    struct str rest = str_of(name);
    must(rest.len > 0 && rest.len <= TAR_NAME_MAX);
    while (rest.p != NULL) {
        const struct str part = str_cut(rest, '/', &rest);
        must(part.len > 0 && !str_is(part, ".") && !str_is(part, ".."));
    }
}

static enum err entry_seen(void *ctx, const struct tar_entry *entry, struct error *e)
{
    struct seen *seen = ctx;
    (void)e;
    must(!seen->open);
    must(!entry->directory || entry->size == 0);
    name_must_be_sound(entry->name);
    seen->open = true;
    seen->left = entry->size;
    seen->entries++;
    seen_add(seen, entry->name, strlen(entry->name) + 1);
    seen_add(seen, &entry->size, sizeof entry->size);
    return ERR_OK;
}

static enum err data_seen(void *ctx, struct str piece, struct error *e)
{
    struct seen *seen = ctx;
    (void)e;
    must(seen->open && piece.len > 0 && piece.len <= seen->left);
    seen->left -= piece.len;
    seen->bytes += piece.len;
    seen_add(seen, piece.p, piece.len);
    return ERR_OK;
}

static enum err end_seen(void *ctx, struct error *e)
{
    struct seen *seen = ctx;
    (void)e;
    must(seen->open && seen->left == 0);
    seen->open = false;
    return ERR_OK;
}

static enum err read_in(struct str all, size_t piece, struct seen *seen)
{
    const struct tar_sink sink = {entry_seen, data_seen, end_seen, seen};
    struct tar_reader reader;
    struct error e = {0};
    enum err r = ERR_OK;
    tar_reader_init(&reader, &sink);
    while (r == ERR_OK && all.len > 0) {
        const size_t n = all.len < piece ? all.len : piece;
        r = tar_reader_feed(&reader, (struct str){all.p, n}, &e);
        all = (struct str){all.p + n, all.len - n};
    }
    r = r == ERR_OK ? tar_reader_end(&reader, &e) : r;
    must((r == ERR_OK) == (e.text[0] == '\0'));
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str all = {(const char *)data, size};
    struct seen whole = {0};
    struct seen bytes = {0};
    const enum err r = read_in(all, size + 1, &whole);
    must(whole.bytes <= size);
    must(whole.entries <= size / TAR_BLOCK);
    must(read_in(all, 1, &bytes) == r);
    must(memcmp(&whole, &bytes, sizeof whole) == 0 || r != ERR_OK);
    return 0;
}
