/* upload.c - see upload.h. The archive is made in an unnamed temporary file, so that what was hashed is what
 * is sent, also when somebody changes the directory meanwhile. SPDX-License-Identifier: Apache-2.0 */
#include "cli/upload.h"

#include "base/amount.h"
#include "base/mem.h"
#include "base/tar.h"
#include "base/vec.h"
#include "cli/api.h"
#include "cli/item.h"
#include "cli/meter.h"
#include "wire/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <fts.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IGNORE_BYTES_MAX = 64 * 1024, IGNORE_LINES_MAX = 1000, COPY_BYTES = 256 * 1024 };

struct upload_pack {
    const char *dir;
    struct {
        VEC(const char *) at;
    } ignore; /* the lines of .weirignore */
    int fd;
    uint64_t bytes;
    uint32_t entries;
    crypto_hash_sha256_state hash;
    struct meter meter;
};

static must_use enum err ignore_read(struct upload_pack *pack, struct arena *arena, struct error *e)
{
    char *text = arena_alloc(arena, IGNORE_BYTES_MAX + 1);
    const char *path = arena_fmt(arena, "%s/" UPLOAD_IGNORE, pack->dir);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT ? ERR_OK : fail_errno(e, ERR_IO, errno, "'%s'", path);
    }
    const ssize_t n = read(fd, text, IGNORE_BYTES_MAX + 1);
    (void)close(fd);
    if (n < 0 || n > IGNORE_BYTES_MAX) {
        return fail(e, ERR_LIMIT, "'%s' cannot be read, or is larger than %d bytes", path,
                    IGNORE_BYTES_MAX);
    }
    struct str rest = {text, (size_t)n};
    while (rest.p != NULL) {
        struct str line = str_trim(str_cut(rest, '\n', &rest));
        if (line.len == 0 || line.p[0] == '#') {
            continue;
        }
        if (pack->ignore.at.count == IGNORE_LINES_MAX) {
            return fail(e, ERR_LIMIT, "'%s' has more than %d lines", path, IGNORE_LINES_MAX);
        }
        const char *one = arena_strn(arena, line.p, line.len);
        vec_push(&pack->ignore.at, one);
    }
    return ERR_OK;
}

/* A pattern with a slash is about the whole path, another one about the last part. A slash at the end:
 * only directories. */
static bool pattern_fits(const char *pattern, const char *path, bool directory)
{
    char text[IGNORE_BYTES_MAX > 4096 ? 4096 : IGNORE_BYTES_MAX];
    if (!str_copy(text, sizeof text, pattern)) {
        return false;
    }
    size_t len = strlen(text);
    if (len > 1 && text[len - 1] == '/') {
        if (!directory) {
            return false;
        }
        text[--len] = '\0';
    }
    const char *slash = strrchr(path, '/');
    const char *last = slash == NULL ? path : slash + 1;
    const bool whole = strchr(text, '/') != NULL;
    const char *want = text[0] == '/' ? text + 1 : text;
    return fnmatch(want, whole ? path : last, whole ? FNM_PATHNAME : 0) == 0;
}

/* The last line that fits decides; a line with `!` brings back what an earlier one left out. */
static bool ignored(const struct upload_pack *pack, const char *path, bool directory)
{
    bool out = strcmp(path, ".git") == 0;
    for (size_t i = 0; i < pack->ignore.at.count; i++) {
        const char *line = pack->ignore.at.at[i];
        const bool back = line[0] == '!';
        if (pattern_fits(line + back, path, directory)) {
            out = !back;
        }
    }
    return out;
}

static must_use enum err pack_put(struct upload_pack *pack, const void *data, size_t len,
                                  struct error *e)
{
    const char *at = data;
    pack->bytes += len;
    if (pack->bytes > UPLOAD_BYTES_MAX) {
        char most[AMOUNT_TEXT_MAX];
        amount_bytes_text((int64_t)UPLOAD_BYTES_MAX, most);
        return fail(e, ERR_LIMIT,
                    "'%s' has more than %s, the most that is uploaded; leave files out with "
                    "lines in " UPLOAD_IGNORE,
                    pack->dir, most);
    }
    (void)crypto_hash_sha256_update(&pack->hash, data, len);
    while (len > 0) {
        const ssize_t n = write(pack->fd, at, len);
        if (n <= 0) {
            return fail_errno(e, ERR_IO, errno, "cannot write the temporary archive");
        }
        at += n;
        len -= (size_t)n;
    }
    return ERR_OK;
}

static must_use enum err file_pack(struct upload_pack *pack, const char *path, uint64_t size,
                                   struct error *e)
{
    static const char zeros[TAR_BLOCK];
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot read '%s'", path);
    }
    auto_free(freep) char *bytes = xmalloc(COPY_BYTES);
    enum err r = ERR_OK;
    uint64_t left = size;
    while (r == ERR_OK && left > 0) {
        const ssize_t n = read(fd, bytes, left < COPY_BYTES ? (size_t)left : COPY_BYTES);
        if (n < 0) {
            r = fail_errno(e, ERR_IO, errno, "cannot read '%s'", path);
        } else if (n == 0) {
            r = fail(e, ERR_CONFLICT, "'%s' became shorter while it was read", path);
        } else {
            left -= (uint64_t)n;
            r = pack_put(pack, bytes, (size_t)n, e);
        }
    }
    (void)close(fd);
    return r == ERR_OK ? pack_put(pack, zeros, tar_pad(size), e) : r;
}

static must_use enum err entry_pack(struct upload_pack *pack, const FTSENT *entry, const char *name,
                                    struct error *e)
{
    struct buf head;
    const bool directory = entry->fts_info == FTS_D;
    const struct tar_entry tar = {.name = name,
                                  .directory = directory,
                                  .executable = (entry->fts_statp->st_mode & 0100) != 0,
                                  .size = directory ? 0 : (uint64_t)entry->fts_statp->st_size};
    if (++pack->entries > TAR_ENTRIES_MAX) {
        return fail(e, ERR_LIMIT, "'%s' has more than %d files", pack->dir, TAR_ENTRIES_MAX);
    }
    buf_init(&head, TAR_BLOCK);
    enum err r = tar_head_add(&head, &tar, e);
    r = r == ERR_OK ? pack_put(pack, head.data, head.len, e) : r;
    r = r == ERR_OK && !directory ? file_pack(pack, entry->fts_accpath, tar.size, e) : r;
    buf_done(&head);
    meter_move(&pack->meter, pack->bytes);
    return r;
}

static must_use enum err entry_take(struct upload_pack *pack, FTS *tree, FTSENT *entry,
                                    struct error *e)
{
    const char *name = entry->fts_path + strlen(pack->dir);
    name += strspn(name, "/");
    if (entry->fts_level == 0 || entry->fts_info == FTS_DP) {
        return entry->fts_level > 0 || entry->fts_info == FTS_D || entry->fts_info == FTS_DP
                   ? ERR_OK
                   : fail(e, ERR_USAGE, "'%s' is no directory", pack->dir);
    }
    if (ignored(pack, name, entry->fts_info == FTS_D)) {
        (void)fts_set(tree, entry, FTS_SKIP);
        return ERR_OK;
    }
    switch (entry->fts_info) {
    case FTS_D:
    case FTS_F:
        return entry_pack(pack, entry, name, e);
    case FTS_SL:
    case FTS_SLNONE:
        return fail(e, ERR_INVALID,
                    "'%s' is a link; only files and directories are uploaded: name it in "
                    "" UPLOAD_IGNORE,
                    name);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return fail_errno(e, ERR_IO, entry->fts_errno, "cannot read '%s'", name);
    default:
        return fail(e, ERR_INVALID,
                    "'%s' is a pipe or a device; only files and directories are uploaded: name it "
                    "in " UPLOAD_IGNORE,
                    name);
    }
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Entries in the order of their names: one content, one digest. */
static must_use enum err tree_pack(struct upload_pack *pack, struct error *e)
{
    static const char zeros[2 * TAR_BLOCK];
    char *paths[] = {(char *)(uintptr_t)pack->dir, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    if (tree == NULL) {
        return fail_errno(e, ERR_IO, errno, "cannot read '%s'", pack->dir);
    }
    enum err r = ERR_OK;
    FTSENT *entry;
    while (r == ERR_OK && (entry = fts_read(tree)) != NULL) {
        r = entry_take(pack, tree, entry, e);
    }
    (void)fts_close(tree);
    return r == ERR_OK ? pack_put(pack, zeros, sizeof zeros, e) : r;
}

static must_use enum err pieces_send(struct cli *cli, struct upload_pack *pack, const char *digest,
                                     struct error *e)
{
    auto_free(freep) char *bytes = xmalloc(UPLOAD_PIECE_MAX);
    uint64_t offset = 0;
    bool complete = false;
    enum err r = ERR_OK;
    meter_begin(&pack->meter, "uploaded", pack->bytes, true);
    while (r == ERR_OK && !complete) {
        struct arena arena;
        struct api_reply reply;
        arena_init(&arena);
        const char *path = arena_fmt(&arena, "/uploads?digest=%s&offset=%" PRIu64 "&size=%" PRIu64,
                                     digest, offset, pack->bytes);
        const ssize_t n = pread(pack->fd, bytes, UPLOAD_PIECE_MAX, (off_t)offset);
        r = n < 0 ? fail_errno(e, ERR_IO, errno, "cannot read the temporary archive")
                  : api_change(cli, &arena, "PUT", path, (struct str){bytes, (size_t)n}, &reply, e);
        if (r == ERR_OK) {
            const uint64_t have = (uint64_t)item_number(reply.doc, "have", 0);
            complete = item_true(reply.doc, "complete");
            if (!complete && have == offset && n > 0 && offset == pack->bytes) {
                r = fail(e, ERR_INTERNAL, "the server does not take the upload");
            }
            offset = have < pack->bytes ? have : pack->bytes;
            meter_move(&pack->meter, offset);
        }
        arena_done(&arena);
    }
    meter_clear(&pack->meter);
    return r;
}

static void digest_end(struct upload_pack *pack, struct arena *arena, const char **ret)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char *hex = arena_alloc(arena, UPLOAD_DIGEST_LEN + 1);
    (void)crypto_hash_sha256_final(&pack->hash, hash);
    *ret = sodium_bin2hex(hex, UPLOAD_DIGEST_LEN + 1, hash, sizeof hash);
}

must_use enum err upload_send(struct cli *cli, const char *dir, const char **ret, struct error *e)
{
    struct upload_pack pack = {.dir = dir};
    const char *temporary = getenv("TMPDIR");
    pack.fd = open(temporary == NULL ? "/tmp" : temporary, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (pack.fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make a temporary archive in '%s'",
                          temporary == NULL ? "/tmp" : temporary);
    }
    (void)crypto_hash_sha256_init(&pack.hash);
    enum err r = ignore_read(&pack, &cli->arena, e);
    meter_begin(&pack.meter, "packed", meter_dir_bytes(dir), true);
    r = r == ERR_OK ? tree_pack(&pack, e) : r;
    meter_clear(&pack.meter);
    if (r == ERR_OK) {
        digest_end(&pack, &cli->arena, ret);
        r = pieces_send(cli, &pack, *ret, e);
    }
    vec_done(&pack.ignore.at);
    (void)close(pack.fd);
    return r == ERR_OK ? r : fail_in(e, "--upload");
}
