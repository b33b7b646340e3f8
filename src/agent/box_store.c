/* box_store.c - see box_store.h.
 *
 *   D/images/ref-HASH      what an image's name stood for, and since when
 *   D/images/KEY/bundle/   the unpacked image (umoci); KEY/use is locked while a container uses it
 *
 * Names come from tasks. They reach the helper programs as one argument behind a transport ("docker://…"),
 * so that none is taken for a flag, and files only from directories that the site allows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/box_store.h"

#include "base/mem.h"
#include "base/rmtree.h"
#include "base/str.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    KEY_HEX = 32,
    FRESH_S = 600, /* so long a name of a registry stands for what it stood for */
    DIGEST_MAX = 128,
    IMAGES_MAX = 1024,
};

bool box_store_below(const char *list, const char *path, struct arena *arena, const char **ret_real,
                     bool *ret_writable)
{
    char *real = arena_alloc(arena, PATH_MAX);
    struct str rest = str_of(list);
    bool found = false;
    if (path[0] != '/' || realpath(path, real) == NULL) {
        return false;
    }
    *ret_real = real;
    while (rest.p != NULL && rest.len > 0) {
        struct str dir = str_cut(rest, ':', &rest);
        const bool rw = str_is(
            str_cut(rest.p == NULL ? (struct str){"", 0} : rest, ':', &(struct str){0}), "rw");
        if (dir.len == 0 || str_is(dir, "rw")) {
            continue;
        }
        char *allowed = arena_alloc(arena, PATH_MAX);
        if (realpath(arena_strn(arena, dir.p, dir.len), allowed) == NULL) {
            continue;
        }
        const size_t len = strlen(allowed);
        if (strncmp(real, allowed, len) == 0 && (real[len] == '/' || real[len] == '\0')) {
            found = true;
            if (ret_writable != NULL) {
                *ret_writable = *ret_writable || rw;
            }
        }
    }
    return found;
}

static const char *hex_of(struct arena *arena, const char *text)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char *hex = arena_alloc(arena, KEY_HEX + 1);
    (void)crypto_hash_sha256(hash, (const unsigned char *)text, strlen(text));
    return sodium_bin2hex(hex, KEY_HEX + 1, hash, KEY_HEX / 2);
}

/* ---- what a name of a registry stands for ---- */

static bool registry_plain(const struct box *box, const char *ref)
{
    const char *slash = strchr(ref, '/');
    const size_t len = slash == NULL ? 0 : (size_t)(slash - ref);
    struct str rest = str_of(box->site.plain_registries);
    while (len > 0 && rest.p != NULL) {
        struct str one = str_trim(str_cut(rest, ',', &rest));
        if (one.len == len && memcmp(one.p, ref, len) == 0) {
            return true;
        }
    }
    return false;
}

/* Asks the registry for the digest of a name. */
static must_use enum err digest_ask(struct box *box, const char *ref, const char **ret,
                                    struct error *e)
{
    char text[DIGEST_MAX] = "";
    const char *source = arena_fmt(&box->arena, "docker://%s", ref);
    const char *const argv[] = {
        "skopeo",    "inspect",
        "--no-tags", registry_plain(box, ref) ? "--tls-verify=false" : "--tls-verify=true",
        "--format",  "{{.Digest}}",
        source,      NULL};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make a pipe");
    }
    enum err r = box_run(argv, ends[1], e); /* one line fits the pipe */
    (void)close(ends[1]);
    const ssize_t n = read(ends[0], text, sizeof text - 1);
    (void)close(ends[0]);
    struct str digest = str_trim((struct str){text, n > 0 ? (size_t)n : 0});
    if (r == ERR_OK && (digest.len < 16 || memcmp(digest.p, "sha256:", 7) != 0)) {
        r = fail(e, ERR_IO, "the registry names no digest for '%.200s'", ref);
    }
    *ret = r == ERR_OK ? arena_strn(&box->arena, digest.p, digest.len) : "";
    return r == ERR_OK ? r : fail_in(e, "image '%.120s'", ref);
}

/* The digest, from D/images/ref-… while it is fresh, or where the registry does not answer. */
static must_use enum err digest_of(struct box *box, const char *ref, const char **ret,
                                   struct error *e)
{
    char text[DIGEST_MAX] = "";
    struct stat info;
    const char *at = strstr(ref, "@sha256:");
    const char *file =
        arena_fmt(&box->arena, "%s/images/ref-%s", box->dir, hex_of(&box->arena, ref));
    if (at != NULL) {
        *ret = at + 1;
        return ERR_OK;
    }
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    const bool known = fd >= 0 && fstat(fd, &info) == 0 && read(fd, text, sizeof text - 1) > 16;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (known && time(NULL) - info.st_mtim.tv_sec < FRESH_S) {
        *ret = arena_str(&box->arena, text);
        return ERR_OK;
    }
    enum err r = digest_ask(box, ref, ret, e);
    if (r != ERR_OK && known) {
        (void)fprintf(stderr,
                      "weir: the registry does not answer; the image of an earlier task is used\n");
        *ret = arena_str(&box->arena, text);
        return ERR_OK;
    }
    if (r == ERR_OK) {
        fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd >= 0) {
            (void)!write(fd, *ret, strlen(*ret));
            (void)close(fd);
        }
    }
    return r;
}

/* ---- the store ---- */

static uint64_t tree_bytes(const char *path)
{
    char *paths[] = {(char *)(uintptr_t)path, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    const FTSENT *entry;
    uint64_t bytes = 0;
    while (tree != NULL && (entry = fts_read(tree)) != NULL) {
        bytes += entry->fts_info == FTS_F ? (uint64_t)entry->fts_statp->st_blocks * 512 : 0;
    }
    if (tree != NULL) {
        (void)fts_close(tree);
    }
    return bytes;
}

struct kept_image {
    char name[KEY_HEX + 1];
    int64_t used_s;
    uint64_t bytes;
};

static int by_use(const void *a, const void *b)
{
    const struct kept_image *one = a;
    const struct kept_image *other = b;
    return one->used_s < other->used_s ? -1 : one->used_s > other->used_s;
}

/* Removes images that no container uses, the longest unused first, until the rest is within the bound. */
static void images_trim(const struct box *box, struct arena *arena)
{
    const char *dir = arena_fmt(arena, "%s/images", box->dir);
    VEC(struct kept_image) images = {0};
    uint64_t total = 0;
    DIR *entries = opendir(dir);
    const struct dirent *entry;
    while (entries != NULL && images.count < IMAGES_MAX && (entry = readdir(entries)) != NULL) {
        struct kept_image image = {0};
        struct stat info;
        uint64_t bytes = 0;
        if (strlen(entry->d_name) != KEY_HEX ||
            stat(arena_fmt(arena, "%s/%s/use", dir, entry->d_name), &info) != 0) {
            continue;
        }
        const int fd =
            open(arena_fmt(arena, "%s/%s/use", dir, entry->d_name), O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            (void)!read(fd, &bytes, sizeof bytes);
            (void)close(fd);
        }
        memcpy(image.name, entry->d_name, KEY_HEX);
        image.used_s = info.st_mtim.tv_sec;
        image.bytes = bytes;
        total += bytes;
        vec_push(&images, image);
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    if (images.count > 0) {
        qsort(images.at, images.count, sizeof *images.at, by_use);
    }
    for (size_t i = 0; i < images.count && total > box->site.cache_max; i++) {
        const char *path = arena_fmt(arena, "%s/%s", dir, images.at[i].name);
        const int fd = open(arena_fmt(arena, "%s/use", path), O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
            rmtree(path);
            total -= images.at[i].bytes;
        }
        if (fd >= 0) {
            (void)close(fd);
        }
    }
    vec_done(&images);
}

/* Makes the place of the job directory. The image is a stranger's: a link that it has there is not followed. */
static must_use enum err job_place_make(const char *rootfs, struct error *e)
{
    const int root = open(rootfs, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    (void)mkdirat(root, "weir", 0755);
    const int weir = openat(root, "weir", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const bool made = weir >= 0 && (mkdirat(weir, "job", 0755) == 0 || errno == EEXIST);
    const int number = errno;
    if (weir >= 0) {
        (void)close(weir);
    }
    if (root >= 0) {
        (void)close(root);
    }
    return made ? ERR_OK
                : fail_errno(e, ERR_INVALID, number, "the image has something else at /weir");
}

/* Copies the image with skopeo and unpacks it with umoci, beside its place, then moves it there. */
static must_use enum err image_make(struct box *box, const char *source, bool plain,
                                    const char *key, struct error *e)
{
    struct arena *arena = &box->arena;
    const char *fresh = arena_fmt(arena, "%s/images/new-%s", box->dir, key);
    const char *layout = arena_fmt(arena, "oci:%s/oci:image", fresh);
    const char *image = arena_fmt(arena, "%s/oci:image", fresh);
    const char *bundle = arena_fmt(arena, "%s/bundle", fresh);
    const char *const copy[] = {"skopeo",
                                "copy",
                                "--quiet",
                                "--insecure-policy",
                                plain ? "--src-tls-verify=false" : "--src-tls-verify=true",
                                source,
                                layout,
                                NULL};
    const char *const unpack[] = {"umoci", "unpack", "--image", image, bundle, NULL};
    rmtree(fresh);
    if (mkdir(fresh, 0700) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make '%s'", fresh);
    }
    (void)fprintf(stderr, "weir: fetching the image\n");
    enum err r = box_run(copy, -1, e);
    r = r == ERR_OK ? box_run(unpack, -1, e) : r;
    r = r == ERR_OK ? job_place_make(arena_fmt(arena, "%s/rootfs", bundle), e) : r;
    if (r == ERR_OK) {
        rmtree(arena_fmt(arena, "%s/oci", fresh));
        const uint64_t bytes = tree_bytes(bundle);
        const int use =
            open(arena_fmt(arena, "%s/use", fresh), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (use < 0 || write(use, &bytes, sizeof bytes) != (ssize_t)sizeof bytes ||
            rename(fresh, arena_fmt(arena, "%s/images/%s", box->dir, key)) != 0) {
            r = fail_errno(e, ERR_IO, errno, "cannot keep the image");
        }
        if (use >= 0) {
            (void)close(use);
        }
    }
    if (r != ERR_OK) {
        rmtree(fresh);
        return fail_in(e, "image '%.120s'", box->order.image);
    }
    return ERR_OK;
}

/* Opens the image of this key, and makes it where it is not there. One process makes images at a time. */
static must_use enum err image_open(struct box *box, const char *source, bool plain,
                                    const char *key, struct box_rootfs *ret, struct error *e)
{
    struct arena *arena = &box->arena;
    const char *dir = arena_fmt(arena, "%s/images", box->dir);
    const char *use = arena_fmt(arena, "%s/%s/use", dir, key);
    const int lock = open(arena_fmt(arena, "%s/lock", dir), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot lock '%s'", dir);
    }
    enum err r = access(use, F_OK) == 0 ? ERR_OK : image_make(box, source, plain, key, e);
    ret->use_fd = r == ERR_OK ? open(use, O_RDWR | O_CLOEXEC) : -1;
    if (r == ERR_OK && (ret->use_fd < 0 || flock(ret->use_fd, LOCK_SH) != 0)) {
        r = fail_errno(e, ERR_IO, errno, "cannot use the image");
    }
    if (r == ERR_OK) {
        (void)futimens(ret->use_fd, NULL);
        images_trim(box, arena);
    }
    (void)close(lock);
    ret->path = arena_fmt(arena, "%s/%s/bundle/rootfs", dir, key);
    ret->config = arena_fmt(arena, "%s/%s/bundle/config.json", dir, key);
    return r;
}

static must_use enum err file_allowed(struct box *box, const char *path, const char **ret_real,
                                      struct error *e)
{
    if (box->site.image_dirs[0] == '\0') {
        return fail(e, ERR_DENIED,
                    "this node takes images from registries only: its agent has no --image-dirs");
    }
    return box_store_below(box->site.image_dirs, path, &box->arena, ret_real, NULL)
               ? ERR_OK
               : fail(e, ERR_DENIED,
                      "the image '%.120s' is not there, or lies outside --image-dirs", path);
}

static must_use enum err directory_take(struct box *box, const char *path, struct box_rootfs *ret,
                                        struct error *e)
{
    struct stat info;
    enum err r = file_allowed(box, path, &ret->path, e);
    if (r == ERR_OK && (stat(ret->path, &info) != 0 || !S_ISDIR(info.st_mode))) {
        r = fail(e, ERR_INVALID, "the image '%.120s' is no directory", path);
    }
    ret->config = "";
    ret->use_fd = -1;
    return r;
}

static must_use enum err archive_take(struct box *box, const char *transport, const char *path,
                                      struct box_rootfs *ret, struct error *e)
{
    struct stat info;
    const char *real;
    enum err r = file_allowed(box, path, &real, e);
    if (r == ERR_OK &&
        (stat(real, &info) != 0 || !S_ISREG(info.st_mode) || strchr(real, ':') != NULL)) {
        r = fail(e, ERR_INVALID, "the image '%.120s' is no file, or has a colon in its name", path);
    }
    if (r != ERR_OK) {
        return r;
    }
    const char *state =
        arena_fmt(&box->arena, "%s %s %ju %jd %jd.%ld", transport, real, (uintmax_t)info.st_ino,
                  (intmax_t)info.st_size, (intmax_t)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    return image_open(box, arena_fmt(&box->arena, "%s:%s", transport, real), false,
                      hex_of(&box->arena, state), ret, e);
}

static must_use enum err registry_take(struct box *box, const char *ref, struct box_rootfs *ret,
                                       struct error *e)
{
    const char *digest;
    const bool plain = registry_plain(box, ref);
    enum err r = digest_of(box, ref, &digest, e);
    if (r != ERR_OK) {
        return r;
    }
    /* By digest, so that what is fetched is what was named. */
    const char *colon = strrchr(ref, ':');
    const char *slash = strrchr(ref, '/');
    const char *at = strchr(ref, '@');
    const size_t len = at != NULL                                          ? (size_t)(at - ref)
                       : colon != NULL && (slash == NULL || colon > slash) ? (size_t)(colon - ref)
                                                                           : strlen(ref);
    const char *source = arena_fmt(&box->arena, "docker://%.*s@%s", (int)len, ref, digest);
    return image_open(box, source, plain, hex_of(&box->arena, digest), ret, e);
}

must_use enum err box_store_take(struct box *box, struct box_rootfs *ret, struct error *e)
{
    static const char *const archives[][2] = {{"archive:", "docker-archive"},
                                              {"docker-archive:", "docker-archive"},
                                              {"oci-archive:", "oci-archive"}};
    const char *image = box->order.image;
    const char *images = arena_fmt(&box->arena, "%s/images", box->dir);
    /* An image may hold programs that take their owner's rights, and the owner is root here: nobody but
     * root may enter. */
    if ((mkdir(images, 0700) != 0 && errno != EEXIST) || chmod(images, 0700) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make '%s'", images);
    }
    if (strncmp(image, "dir:", 4) == 0) {
        return directory_take(box, image + 4, ret, e);
    }
    for (size_t i = 0; i < sizeof archives / sizeof archives[0]; i++) {
        const size_t len = strlen(archives[i][0]);
        if (strncmp(image, archives[i][0], len) == 0) {
            return archive_take(box, archives[i][1], image + len, ret, e);
        }
    }
    return registry_take(box, strncmp(image, "docker://", 9) == 0 ? image + 9 : image, ret, e);
}
