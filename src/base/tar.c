/* tar.c - see tar.h. SPDX-License-Identifier: Apache-2.0 */
#include "base/tar.h"

#include "base/must.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NAME_ROOM = 100, PREFIX_ROOM = 155, SIZE_DIGITS = 11 };
#define SIZE_MAX_OCTAL 077777777777ULL

/* A head: texts padded with NUL, numbers in octal digits. */
struct tar_block {
    char name[NAME_ROOM];
    char mode[8];
    char uid[8];
    char gid[8];
    char size[12];
    char mtime[12];
    char checksum[8];
    char type;
    char link[100];
    char magic[6];
    char version[2];
    char owner[64];
    char major[8];
    char minor[8];
    char prefix[PREFIX_ROOM];
    char rest[12];
};
_Static_assert(sizeof(struct tar_block) == TAR_BLOCK, "a head is one block");

void tar_reader_init(struct tar_reader *reader, const struct tar_sink *sink)
{
    *reader = (struct tar_reader){.sink = *sink};
}

size_t tar_pad(uint64_t size)
{
    return (size_t)((TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

/* Reads octal digits up to a blank or NUL. */
static bool octal_read(const char *text, size_t len, uint64_t *ret)
{
    uint64_t value = 0;
    size_t i = 0;
    while (i < len && text[i] == ' ') {
        i++;
    }
    const size_t first = i;
    for (; i < len && text[i] >= '0' && text[i] <= '7'; i++) {
        value = value * 8 + (uint64_t)(text[i] - '0');
    }
    *ret = value;
    return i > first && (i == len || text[i] == '\0' || text[i] == ' ');
}

static unsigned sum_of(const struct tar_block *head)
{
    const unsigned char *bytes = (const unsigned char *)head;
    const size_t at = offsetof(struct tar_block, checksum);
    unsigned sum = 0;
    for (size_t i = 0; i < TAR_BLOCK; i++) {
        sum += i >= at && i < at + sizeof head->checksum ? ' ' : bytes[i];
    }
    return sum;
}

/* What an entry that is no file and no directory is called. */
static const char *type_word(char type)
{
    switch (type) {
    case '1':
        return "a hard link";
    case '2':
        return "a symbolic link";
    case '3':
    case '4':
        return "a device";
    case '6':
        return "a pipe";
    case 'S':
        return "a file with holes";
    default:
        return "of a kind that is not taken";
    }
}

static must_use enum err name_check(const char *name, struct error *e)
{
    unsigned depth = 0;
    if (name[0] == '/') {
        return fail(e, ERR_INVALID, "'%.100s' is an absolute path", name);
    }
    struct str rest = str_of(name);
    while (rest.p != NULL) {
        struct str part = str_cut(rest, '/', &rest);
        if (str_is(part, "..")) {
            return fail(e, ERR_INVALID, "'%.100s' leads out of the directory by '..'", name);
        }
        if (part.len == 0 || str_is(part, ".")) {
            return fail(e, ERR_INVALID, "'%.100s' has an empty part", name);
        }
        depth++;
    }
    return depth <= TAR_DEPTH_MAX
               ? ERR_OK
               : fail(e, ERR_LIMIT, "'%.60s' lies below more than %d directories", name,
                      TAR_DEPTH_MAX);
}

/* Joins prefix and name, without a leading "./" and the slash behind a directory. */
static void name_join(const struct tar_block *head, char *out)
{
    const size_t prefix = strnlen(head->prefix, PREFIX_ROOM);
    const int len =
        snprintf(out, TAR_NAME_MAX + 2, "%.*s%s%.*s", (int)prefix, head->prefix,
                 prefix > 0 ? "/" : "", (int)strnlen(head->name, NAME_ROOM), head->name);
    size_t end = len < 0 ? 0 : (size_t)len;
    while (end > 1 && out[end - 1] == '/') {
        out[--end] = '\0';
    }
    if (strncmp(out, "./", 2) == 0) {
        memmove(out, out + 2, end - 1);
    }
}

static must_use enum err head_check(const struct tar_block *head, struct error *e)
{
    uint64_t sum;
    if (memcmp(head, "\x1f\x8b", 2) == 0 || memcmp(head, "BZh", 3) == 0 ||
        memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0 ||
        memcmp(head,
               "\xfd"
               "7zXZ",
               5) == 0 ||
        memcmp(head, "PK\x03\x04", 4) == 0) {
        return fail(e, ERR_INVALID, "the archive is compressed; send a plain tar archive");
    }
    if (!octal_read(head->checksum, sizeof head->checksum, &sum) || sum != sum_of(head)) {
        return fail(e, ERR_INVALID, "the archive is damaged, or no tar archive");
    }
    return ERR_OK;
}

static must_use enum err head_take(struct tar_reader *reader, struct error *e)
{
    const struct tar_block *head = (const struct tar_block *)reader->head;
    char name[TAR_NAME_MAX + 2];
    uint64_t size;
    uint64_t mode;
    enum err r = head_check(head, e);
    if (r != ERR_OK) {
        return r;
    }
    name_join(head, name);
    const bool directory = head->type == '5';
    if (!directory && head->type != '0' && head->type != '\0') {
        return fail(e, ERR_INVALID, "'%.100s' is %s; only files and directories are taken", name,
                    type_word(head->type));
    }
    if (!octal_read(head->size, sizeof head->size, &size) ||
        !octal_read(head->mode, sizeof head->mode, &mode) || (directory && size != 0)) {
        return fail(e, ERR_INVALID, "'%.100s' has a damaged head", name);
    }
    if (strlen(name) > TAR_NAME_MAX) {
        return fail(e, ERR_LIMIT, "'%.60s…' is longer than %d bytes", name, TAR_NAME_MAX);
    }
    if (++reader->entries > TAR_ENTRIES_MAX) {
        return fail(e, ERR_LIMIT, "the archive has more than %d entries", TAR_ENTRIES_MAX);
    }
    (void)str_copy(reader->name, sizeof reader->name, name);
    reader->left = size;
    reader->pad = tar_pad(size);
    reader->bytes += size;
    if (directory && strcmp(name, ".") == 0) {
        return ERR_OK; /* the directory itself */
    }
    r = name_check(name, e);
    const struct tar_entry entry = {
        .name = reader->name,
        .directory = directory,
        .executable = (mode & 0111) != 0,
        .size = size,
    };
    if (r == ERR_OK && reader->sink.entry != NULL) {
        r = reader->sink.entry(reader->sink.ctx, &entry, e);
    }
    if (r == ERR_OK && size == 0 && reader->sink.end != NULL) {
        r = reader->sink.end(reader->sink.ctx, e);
    }
    return r;
}

/* A whole block has been gathered in `head`. */
static must_use enum err block_take(struct tar_reader *reader, struct error *e)
{
    static const char zeros[TAR_BLOCK];
    reader->head_have = 0;
    if (memcmp(reader->head, zeros, TAR_BLOCK) == 0) {
        reader->zeros++;
        return ERR_OK;
    }
    if (reader->zeros > 0) {
        return fail(e, ERR_INVALID, "the archive goes on behind its end");
    }
    return head_take(reader, e);
}

must_use enum err tar_reader_feed(struct tar_reader *reader, struct str data, struct error *e)
{
    enum err r = ERR_OK;
    while (r == ERR_OK && data.len > 0) {
        size_t n;
        if (reader->left > 0) {
            n = data.len < reader->left ? data.len : (size_t)reader->left;
            reader->left -= n;
            if (reader->sink.data != NULL) {
                r = reader->sink.data(reader->sink.ctx, (struct str){data.p, n}, e);
            }
            if (r == ERR_OK && reader->left == 0 && reader->sink.end != NULL) {
                r = reader->sink.end(reader->sink.ctx, e);
            }
        } else if (reader->pad > 0) {
            n = data.len < reader->pad ? data.len : reader->pad;
            reader->pad -= n;
        } else {
            n = TAR_BLOCK - reader->head_have;
            n = data.len < n ? data.len : n;
            memcpy(reader->head + reader->head_have, data.p, n);
            reader->head_have += n;
            r = reader->head_have == TAR_BLOCK ? block_take(reader, e) : ERR_OK;
        }
        data = (struct str){data.p + n, data.len - n};
    }
    return r;
}

must_use enum err tar_reader_end(const struct tar_reader *reader, struct error *e)
{
    const bool whole = reader->left == 0 && reader->pad == 0 && reader->head_have == 0;
    return whole && reader->zeros >= 2 ? ERR_OK : fail(e, ERR_INVALID, "the archive is cut off");
}

/* Divides a name at a slash so that both parts fit. False: it cannot be divided so. */
static bool name_split(const char *name, struct tar_block *head)
{
    const size_t len = strlen(name);
    if (len <= NAME_ROOM) {
        memcpy(head->name, name, len);
        return true;
    }
    for (size_t i = len - 1 < PREFIX_ROOM ? len - 1 : PREFIX_ROOM; i > 0; i--) {
        if (name[i] == '/' && len - i - 1 <= NAME_ROOM && len - i - 1 > 0) {
            memcpy(head->prefix, name, i);
            memcpy(head->name, name + i + 1, len - i - 1);
            return true;
        }
    }
    return false;
}

must_use enum err tar_head_add(struct buf *out, const struct tar_entry *entry, struct error *e)
{
    struct tar_block head = {
        .type = entry->directory ? '5' : '0', .magic = "ustar", .version = {'0', '0'}};
    enum err r = name_check(entry->name, e);
    if (r == ERR_OK && (entry->size > SIZE_MAX_OCTAL || !name_split(entry->name, &head))) {
        r = fail(e, ERR_LIMIT, "'%.60s': the path is too long for an archive (%d bytes at most)",
                 entry->name, TAR_NAME_MAX);
    }
    if (r != ERR_OK) {
        return r;
    }
    const unsigned mode = entry->directory || entry->executable ? 0755
                          : entry->secret                       ? 0600
                                                                : 0644;
    (void)snprintf(head.mode, sizeof head.mode, "%07o", mode);
    (void)snprintf(head.uid, sizeof head.uid, "%07o", 0U);
    (void)snprintf(head.gid, sizeof head.gid, "%07o", 0U);
    (void)snprintf(head.size, sizeof head.size, "%0*llo", SIZE_DIGITS,
                   (unsigned long long)entry->size & SIZE_MAX_OCTAL);
    (void)snprintf(head.mtime, sizeof head.mtime, "%0*llo", SIZE_DIGITS,
                   (unsigned long long)entry->modified_s & SIZE_MAX_OCTAL);
    (void)snprintf(head.checksum, sizeof head.checksum, "%06o", sum_of(&head) & 0777777);
    buf_add(out, &head, sizeof head);
    return ERR_OK;
}

static void zeros_add(struct buf *out, size_t count)
{
    static const char zeros[2 * TAR_BLOCK];
    must(count <= sizeof zeros);
    buf_add(out, zeros, count);
}

enum err tar_file_add(struct buf *out, const struct tar_entry *entry, struct str data,
                      struct error *e)
{
    must(!entry->directory);
    must(entry->size == data.len);
    enum err r = tar_head_add(out, entry, e);
    if (r == ERR_OK) {
        buf_add(out, data.p, data.len);
        zeros_add(out, tar_pad(data.len));
    }
    return r;
}

void tar_end_add(struct buf *out)
{
    zeros_add(out, 2 * TAR_BLOCK);
}
