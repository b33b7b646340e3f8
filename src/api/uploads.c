/* uploads.c - see uploads.h. Files are read and written on the worker thread, and never on the loop.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/uploads.h"

#include "api/uploads_internal.h"

#include "api/api_internal.h"
#include "api/call_work.h"
#include "api/handlers.h"
#include "base/amount.h"
#include "base/mem.h"
#include "base/tar.h"
#include "core/core.h"
#include "io/http_request.h"
#include "wire/upload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    READ_BYTES = 256 * 1024,
    UPLOADS_USER_MAX = 1000, /* archives of one user, whole or not */
};
#define UPLOADS_TOTAL_MAX ((uint64_t)20 << 30) /* bytes of all archives */

struct uploads *uploads_new(struct api *api, const char *dir)
{
    struct uploads *uploads = xcalloc(1, sizeof *uploads);
    uploads->api = api;
    (void)snprintf(uploads->dir, sizeof uploads->dir, "%s/uploads", dir);
    return uploads;
}

void uploads_free(struct uploads *uploads)
{
    free(uploads);
}

/* ---- one archive ---- */

enum upload_do { UPLOAD_LOOK, UPLOAD_PIECE, UPLOAD_READ };

struct upload_work {
    struct call_work base;
    enum upload_do what;
    const struct uploads *uploads;
    char user[2 * TEXT_LEN_MAX + 1]; /* in hexadecimal digits: a name of a directory */
    char digest[UPLOAD_DIGEST_LEN + 1];
    uint64_t offset;
    uint64_t size; /* of the whole archive */
    struct buf data;
    uint64_t have;
    bool complete;
};

static void path_of(const struct upload_work *work, const char *suffix, char *out)
{
    (void)snprintf(out, UPLOADS_PATH_MAX, "%s/%s/%s%s", work->uploads->dir, work->user,
                   work->digest, suffix);
}

/* Sets `have` and `complete`. */
static void look(struct upload_work *work)
{
    char path[UPLOADS_PATH_MAX];
    struct stat info;
    path_of(work, ".tar", path);
    work->complete = stat(path, &info) == 0;
    if (!work->complete) {
        path_of(work, ".part", path);
        if (stat(path, &info) != 0) {
            work->have = 0;
            return;
        }
    }
    work->have = (uint64_t)info.st_size;
}

struct stored {
    uint64_t bytes; /* of all archives, whole or not */
    unsigned own;   /* archives of the user of this upload */
};

/* Looks at one user's directory. */
static void stored_add(int users, const char *user, bool own, struct stored *stored)
{
    const int fd = openat(users, user, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *file;
    while (files != NULL && (file = readdir(files)) != NULL) {
        struct stat info;
        if (fstatat(dirfd(files), file->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(info.st_mode)) {
            stored->bytes += (uint64_t)info.st_size;
            stored->own += own ? 1 : 0;
        }
    }
    if (files != NULL) {
        (void)closedir(files);
    }
}

static struct stored stored_of(const struct upload_work *work)
{
    struct stored stored = {0};
    DIR *users = opendir(work->uploads->dir);
    const struct dirent *user;
    while (users != NULL && (user = readdir(users)) != NULL) {
        if (user->d_name[0] != '.') {
            stored_add(dirfd(users), user->d_name, strcmp(user->d_name, work->user) == 0, &stored);
        }
    }
    if (users != NULL) {
        (void)closedir(users);
    }
    return stored;
}

/* Is there room for this piece? A new upload must fit as a whole. */
static must_use enum err room_check(const struct upload_work *work, struct error *e)
{
    char have[AMOUNT_TEXT_MAX];
    char most[AMOUNT_TEXT_MAX];
    const struct stored stored = stored_of(work);
    const uint64_t more = work->offset == 0 ? work->size : work->data.len;
    if (work->offset == 0 && stored.own >= UPLOADS_USER_MAX) {
        return fail(e, ERR_LIMIT,
                    "you have %u uploads here, and %d is the most; an upload goes 7 days after its "
                    "last use",
                    stored.own, UPLOADS_USER_MAX);
    }
    if (stored.bytes + more <= UPLOADS_TOTAL_MAX) {
        return ERR_OK;
    }
    amount_bytes_text((int64_t)stored.bytes, have);
    amount_bytes_text((int64_t)UPLOADS_TOTAL_MAX, most);
    return fail(
        e, ERR_LIMIT,
        "the uploads of this server hold %s of %s; an upload goes 7 days after its last use", have,
        most);
}

/* Appends the piece to the part where it continues the part. */
static must_use enum err piece_write(struct upload_work *work, struct error *e)
{
    char path[UPLOADS_PATH_MAX];
    enum err r = room_check(work, e);
    if (r != ERR_OK) {
        return r;
    }
    (void)mkdir(work->uploads->dir, 0700);
    (void)snprintf(path, sizeof path, "%s/%s", work->uploads->dir, work->user);
    (void)mkdir(path, 0700);
    path_of(work, ".part", path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot store the upload");
    }
    for (size_t put = 0; r == ERR_OK && put < work->data.len;) {
        const ssize_t n =
            pwrite(fd, work->data.data + put, work->data.len - put, (off_t)(work->offset + put));
        put += n > 0 ? (size_t)n : 0;
        r = n > 0 ? ERR_OK : fail_errno(e, ERR_IO, errno, "cannot store the upload");
    }
    if (r != ERR_OK && ftruncate(fd, (off_t)work->offset) != 0) {
        (void)unlink(path);
    }
    (void)close(fd);
    work->have = r == ERR_OK ? work->offset + work->data.len : work->offset;
    return r;
}

/* Reads the whole part once: is the digest right, and is every entry allowed? */
static must_use enum err part_check(const struct upload_work *work, int fd, struct error *e)
{
    static const struct tar_sink nothing = {0};
    struct tar_reader tar;
    crypto_hash_sha256_state state;
    unsigned char hash[crypto_hash_sha256_BYTES];
    char hex[2 * crypto_hash_sha256_BYTES + 1];
    auto_free(freep) char *bytes = xmalloc(READ_BYTES);
    enum err r = ERR_OK;
    ssize_t n = 1;
    tar_reader_init(&tar, &nothing);
    (void)crypto_hash_sha256_init(&state);
    for (off_t at = 0; r == ERR_OK && n > 0; at += n) {
        n = pread(fd, bytes, READ_BYTES, at);
        if (n > 0) {
            (void)crypto_hash_sha256_update(&state, (unsigned char *)bytes, (size_t)n);
            r = tar_reader_feed(&tar, (struct str){bytes, (size_t)n}, e);
        }
    }
    if (r == ERR_OK && n < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot read the upload");
    }
    r = r == ERR_OK ? tar_reader_end(&tar, e) : r;
    (void)crypto_hash_sha256_final(&state, hash);
    (void)sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    if (r == ERR_OK && strcmp(hex, work->digest) != 0) {
        r = fail(e, ERR_INVALID, "the bytes have the SHA-256 %.16s…, not %.16s…", hex,
                 work->digest);
    }
    return r;
}

/* The last piece has come: checks the archive and gives it its name, for good. */
static must_use enum err part_finish(struct upload_work *work, struct error *e)
{
    char part[UPLOADS_PATH_MAX];
    char whole[UPLOADS_PATH_MAX];
    path_of(work, ".part", part);
    path_of(work, ".tar", whole);
    const int fd = open(part, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot read the upload");
    }
    enum err r = part_check(work, fd, e);
    if (r == ERR_OK && (fsync(fd) != 0 || rename(part, whole) != 0)) {
        r = fail_errno(e, ERR_IO, errno, "cannot store the upload");
    }
    (void)close(fd);
    if (r == ERR_INVALID || r == ERR_LIMIT) {
        (void)unlink(part);
    }
    if (r != ERR_OK) {
        return r;
    }
    (void)snprintf(part, sizeof part, "%s/%s", work->uploads->dir, work->user);
    const int dir = open(part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || fsync(dir) != 0) {
        r = fail_errno(e, ERR_IO, errno, "cannot store the upload");
    }
    if (dir >= 0) {
        (void)close(dir);
    }
    work->complete = r == ERR_OK;
    return r;
}

static must_use enum err read_whole(struct upload_work *work, struct error *e)
{
    char path[UPLOADS_PATH_MAX];
    path_of(work, ".tar", path);
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return fail(e, ERR_NOT_FOUND, "no upload %.16s…", work->digest);
    }
    (void)futimens(fd, NULL); /* used now */
    char *bytes = xmalloc(UPLOAD_PIECE_MAX);
    const ssize_t n = pread(fd, bytes, UPLOAD_PIECE_MAX, (off_t)work->offset);
    enum err r = n < 0 ? fail_errno(e, ERR_IO, errno, "cannot read the upload") : ERR_OK;
    buf_add(&work->data, bytes, n > 0 ? (size_t)n : 0);
    free(bytes);
    (void)close(fd);
    return r;
}

static void upload_run(struct work *base, struct store_reader *reader)
{
    struct upload_work *work = (struct upload_work *)base;
    (void)reader;
    work->base.err = ERR_OK;
    if (work->what == UPLOAD_READ) {
        work->base.err = read_whole(work, &work->base.error);
        return;
    }
    look(work);
    if (work->what == UPLOAD_PIECE && !work->complete && work->have == work->offset) {
        work->base.err = piece_write(work, &work->base.error);
    }
    if (work->base.err == ERR_OK && work->what == UPLOAD_PIECE && !work->complete &&
        work->have == work->size) {
        work->base.err = part_finish(work, &work->base.error);
    }
}

static void upload_free(struct call_work *base)
{
    struct upload_work *work = (struct upload_work *)base;
    buf_done(&work->data);
    free(work);
}

static void upload_answer(struct call_work *base)
{
    struct upload_work *work = (struct upload_work *)base;
    struct call *call = base->call;
    if (work->what == UPLOAD_READ) {
        buf_clear(&call->out);
        buf_add(&call->out, buf_text(&work->data), work->data.len);
        call_answer(call, 200, "application/octet-stream");
    } else if (work->what == UPLOAD_LOOK && !work->complete && work->have == 0) {
        call_failf(call, ERR_NOT_FOUND, "", "no upload %.16s…", work->digest);
    } else {
        struct json_out j;
        call_json(call, &j);
        json_out_object(&j);
        json_out_kv_text(&j, "digest", work->digest);
        json_out_kv_u64(&j, "have", work->have);
        json_out_kv_bool(&j, "complete", work->complete);
        json_out_end(&j);
        call_answer_json(call, 200);
    }
}

static const struct call_work_kind upload_kind = {
    .run = upload_run,
    .answer = upload_answer,
    .free = upload_free,
    .busy = "too many requests wait for the disk",
};

static void user_hex(const char *user, char *out)
{
    (void)sodium_bin2hex(out, 2 * TEXT_LEN_MAX + 1, (const unsigned char *)user, strlen(user));
}

/* The digest that the request names; "": none. */
static const char *digest_asked(const struct call *call)
{
    const char *digest = call_query(call, "digest");
    return digest == NULL ? "" : digest;
}

/* NULL: the call was answered. */
static struct upload_work *work_new(struct call *call, enum upload_do what, const char *user)
{
    struct upload_work *work = xcalloc(1, sizeof *work);
    work->base.kind = &upload_kind;
    work->what = what;
    work->uploads = call->api->uploads;
    buf_init(&work->data, UPLOAD_PIECE_MAX);
    user_hex(user, work->user);
    if (!upload_digest_check(digest_asked(call))) {
        call_failf(call, ERR_INVALID, "digest",
                   "an upload is named by its SHA-256, %d hexadecimal digits, not '%.70s'",
                   UPLOAD_DIGEST_LEN, digest_asked(call));
        upload_free(&work->base);
        return NULL;
    }
    must(str_copy(work->digest, sizeof work->digest, digest_asked(call)));
    return work;
}

void uploads_show(struct call *call)
{
    struct upload_work *work = work_new(call, UPLOAD_LOOK, call->name);
    if (work != NULL) {
        call_work_send(call, &work->base);
    }
}

void uploads_put(struct call *call)
{
    const struct str body = http_request_body(call->request);
    uint64_t offset = 0;
    uint64_t size = 0;
    if (!call_query_u64(call, "offset", INT64_MAX, &offset) ||
        !call_query_u64(call, "size", INT64_MAX, &size)) {
        return;
    }
    if (size > UPLOAD_BYTES_MAX) {
        char have[AMOUNT_TEXT_MAX];
        char most[AMOUNT_TEXT_MAX];
        amount_bytes_text((int64_t)size, have);
        amount_bytes_text((int64_t)UPLOAD_BYTES_MAX, most);
        call_failf(call, ERR_LIMIT, "size", "the upload has %s, and %s is the most", have, most);
        return;
    }
    if (body.len > UPLOAD_PIECE_MAX || offset > size || body.len > size - offset) {
        call_failf(call, ERR_INVALID, "offset",
                   "a piece has at most %d bytes and ends within the upload's size",
                   UPLOAD_PIECE_MAX);
        return;
    }
    struct upload_work *work = work_new(call, UPLOAD_PIECE, call->name);
    if (work != NULL) {
        work->offset = offset;
        work->size = size;
        buf_add(&work->data, body.p, body.len);
        call_work_send(call, &work->base);
    }
}

/* Does this node hold an instance of the task, and does the task name the upload? */
void uploads_agent(struct call *call)
{
    uint64_t id = 0;
    uint64_t offset = 0;
    if (!call_query_u64(call, "task", INT64_MAX, &id) ||
        !call_query_u64(call, "offset", INT64_MAX, &offset)) {
        return;
    }
    const struct core *core = call_core(call);
    const struct task *task = query_task(core, (task_id){id});
    bool holds = false;
    for (uint32_t i = 0; task != NULL && i < task->instance_count && !holds; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        holds =
            instance->node.v != 0 && strcmp(query_node_name(core, instance->node), call->name) == 0;
    }
    struct task_spec spec = {.upload = ""};
    if (holds) {
        query_task_spec(core, task->id, call_arena(call), &spec);
    }
    if (!holds || strcmp(spec.upload, digest_asked(call)) != 0) {
        call_failf(call, ERR_DENIED, "task", "no task %llu with this upload is on node '%s'",
                   (unsigned long long)id, call->name);
        return;
    }
    struct upload_work *work = work_new(call, UPLOAD_READ, spec.user);
    if (work != NULL) {
        work->offset = offset;
        call_work_send(call, &work->base);
    }
}

bool uploads_there(struct call *call, const struct task_spec *specs, uint32_t count)
{
    const char *last = "";
    for (uint32_t i = 0; i < count; i++) {
        const char *digest = specs[i].upload;
        char path[UPLOADS_PATH_MAX];
        char user[2 * TEXT_LEN_MAX + 1];
        if (digest == NULL || digest[0] == '\0' || strcmp(digest, last) == 0) {
            continue;
        }
        user_hex(call->name, user);
        (void)snprintf(path, sizeof path, "%s/%s/%s.tar", call->api->uploads->dir, user, digest);
        /* The time of the file says when the upload was last used. */
        if (!upload_digest_check(digest) || utimensat(AT_FDCWD, path, NULL, 0) != 0) {
            call_failf(call, ERR_INVALID, "upload",
                       "you have no upload '%.70s' here; `weir submit --upload DIR` sends one",
                       digest);
            return false;
        }
        last = digest;
    }
    return true;
}
