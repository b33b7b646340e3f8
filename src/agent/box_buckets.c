/* box_buckets.c - see box_buckets.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/box_buckets.h"

#include "agent/box_tree.h"
#include "agent/box_view.h"
#include "agent/dirs.h"
#include "agent/taskenv.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/vec.h"
#include "core/model/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REPORT_MAX = 4096, REGEX_WORDS_MAX = 120 };

/* A file as it came out of a bucket: as long as it stays so, it is no result. */
struct known_file {
    const char *path;
    uint64_t size;
    struct timespec time;
};

struct box_buckets {
    struct box *box;
    struct bucket_client *client;
    struct arena arena; /* of the known files */
    VEC(struct known_file) known;
    struct arena orders_arena;
    const struct doc *orders;
    char stamp[TEXT_LEN_MAX + 1]; /* of the resources that were fetched */
    int64_t periodic_s;           /* when the last periodic snapshot was taken; 0: none yet */
};

enum err box_buckets_open(struct box *box, const struct attempt_key *key, struct box_buckets **ret,
                          struct error *e)
{
    struct bucket_client *client;
    enum err r = bucket_client_open(box, key, box->view.buckets, &client, e);
    if (r != ERR_OK) {
        return r;
    }
    struct box_buckets *buckets = xcalloc(1, sizeof *buckets);
    buckets->box = box;
    buckets->client = client;
    arena_init(&buckets->arena);
    arena_init(&buckets->orders_arena);
    *ret = buckets;
    return ERR_OK;
}

void box_buckets_close(struct box_buckets *buckets)
{
    if (buckets != NULL) {
        bucket_client_close(buckets->client);
        vec_done(&buckets->known);
        arena_done(&buckets->arena);
        arena_done(&buckets->orders_arena);
        free(buckets);
    }
}

static const char *text_of(const struct doc *map, const char *key)
{
    const char *text = "";
    (void)doc_text(map == NULL ? NULL : doc_get(map, key), &text);
    return text;
}

static enum err orders_get(struct box_buckets *buckets, struct error *e)
{
    buckets->orders = NULL;
    arena_clear(&buckets->orders_arena);
    return bucket_client_orders(buckets->client, &buckets->orders_arena, &buckets->orders, e);
}

/* ---- resources ---- */

/* One bucket on its way into one directory. */
struct fetching {
    struct box_buckets *buckets;
    const struct box_tree *tree;
    const struct doc *resource;
    bool remember; /* the files are in the job directory */
};

/* Files that were brought before stand there a second time in the list: the newest counts. */
static void remember(struct box_buckets *buckets, const char *path, const struct stat *info)
{
    const struct known_file known = {.path = arena_str(&buckets->arena, path),
                                     .size = (uint64_t)info->st_size,
                                     .time = info->st_mtim};
    vec_push(&buckets->known, known);
}

static enum err object_take(void *ctx, const char *key, uint64_t size, struct error *e)
{
    const struct fetching *fetching = ctx;
    const char *strip = text_of(fetching->resource, "strip");
    const char *path = key;
    struct box_tree_file file;
    struct stat info;
    struct arena arena;
    if (*strip != '\0' && strncmp(key, strip, strlen(strip)) == 0) {
        path = key + strlen(strip);
    }
    path += *path == '/';
    if (*path == '\0') {
        return ERR_OK; /* the object of the prefix itself */
    }
    arena_init(&arena);
    enum err r = box_tree_create(fetching->tree, path, &arena, &file, e);
    if (r == ERR_OK && file.fd >= 0) {
        struct error ignored;
        r = bucket_client_fetch(fetching->buckets->client, text_of(fetching->resource, "bucket"),
                                key, size, file.fd, e);
        const enum err put = box_tree_end(&file, r == ERR_OK, &info, r == ERR_OK ? e : &ignored);
        r = r == ERR_OK ? put : r;
        if (r == ERR_OK && fetching->remember) {
            remember(fetching->buckets, path, &info);
        }
    } else {
        (void)!box_tree_end(&file, false, &info, &(struct error){0});
    }
    arena_done(&arena);
    return r;
}

static enum err resources_take(struct box_buckets *buckets, const struct doc *resources,
                               const struct box_tree *tree, bool remember_them, struct error *e)
{
    enum err r = ERR_OK;
    for (const struct doc *d = resources == NULL ? NULL : resources->first;
         d != NULL && r == ERR_OK; d = d->next) {
        struct fetching fetching = {buckets, tree, d, remember_them};
        r = bucket_client_list(buckets->client, text_of(d, "bucket"), text_of(d, "prefix"),
                               object_take, &fetching, e);
    }
    return r;
}

/* The pool's resources, once for all of the pool's tasks on this node. One process fetches at a time. */
static enum err pool_fetch(struct box_buckets *buckets, const struct doc *pool, struct error *e)
{
    struct arena *arena = &buckets->orders_arena;
    const char *path = box_view_pool_dir(buckets->box);
    const char *stamp = text_of(pool, "stamp");
    const char *parent = arena_fmt(arena, "%s/pools", buckets->box->dir);
    struct box_tree tree;
    struct str have = {NULL, 0};
    if (*path == '\0') {
        return fail(e, ERR_INVALID, "the pool has files of buckets, and the task has no pool:/job");
    }
    const char *mark = arena_fmt(arena, "%s.stamp", strrchr(path, '/') + 1);
    (void)mkdir(parent, 0755);
    const int lock = open(arena_fmt(arena, "%s.lock", path), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot lock '%s'", path);
    }
    enum err r = ERR_OK;
    struct error ignored;
    if (dirs_read(parent, mark, arena, &have, &ignored) != ERR_OK || !str_is(have, stamp)) {
        (void)mkdir(path, 0755);
        r = box_tree_open(path, &tree, e);
        r = r == ERR_OK ? resources_take(buckets, doc_get(pool, "resources"), &tree, false, e) : r;
        box_tree_close(&tree);
        r = r == ERR_OK ? dirs_write(parent, mark, str_of(stamp), e) : r;
    }
    (void)close(lock);
    return r;
}

static enum err task_fetch(struct box_buckets *buckets, struct error *e)
{
    const struct box_start *start = &buckets->box->start;
    struct box_tree tree;
    enum err r = box_tree_open(start->job_dir, &tree, e);
    tree.give = start->switch_user;
    tree.uid = start->uid;
    tree.gid = start->gid;
    r = r == ERR_OK ? resources_take(buckets, doc_get(buckets->orders, "resources"), &tree, true, e)
                    : r;
    box_tree_close(&tree);
    return r;
}

enum err box_buckets_fetch(struct box_buckets *buckets, struct error *e)
{
    enum err r = orders_get(buckets, e);
    const struct doc *pool = r == ERR_OK ? doc_get(buckets->orders, "pool") : NULL;
    if (r == ERR_OK && pool != NULL && pool->kind == DOC_MAP) {
        r = pool_fetch(buckets, pool, e);
    }
    r = r == ERR_OK ? task_fetch(buckets, e) : r;
    (void)str_copy(buckets->stamp, sizeof buckets->stamp,
                   r == ERR_OK ? text_of(buckets->orders, "stamp") : "");
    return r;
}

bool box_buckets_watched(const struct box_buckets *buckets)
{
    bool watched = false;
    (void)doc_bool(buckets->orders == NULL ? NULL : doc_get(buckets->orders, "watched"), &watched);
    return watched;
}

/* ---- results ---- */

struct sending {
    struct box_buckets *buckets;
    const struct doc *to; /* bucket, prefix, whitelist, blacklist */
    regex_t allowed;
    regex_t refused;
    bool has_allowed;
    bool has_refused;
    struct sent {
        uint64_t files;
        uint64_t bytes;
    } sent;
};

static enum err pattern_make(const struct doc *to, const char *key, regex_t *ret, bool *ret_there,
                             struct error *e)
{
    char words[REGEX_WORDS_MAX];
    const char *text = text_of(to, key);
    *ret_there = false;
    if (*text == '\0') {
        return ERR_OK;
    }
    const int code = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        (void)regerror(code, ret, words, sizeof words);
        return fail(e, ERR_INVALID, "'%.200s' is no regular expression: %s", text, words);
    }
    *ret_there = true;
    return ERR_OK;
}

static bool is_known(const struct box_buckets *buckets, const char *path, const struct stat *info)
{
    for (size_t i = buckets->known.count; i > 0; i--) {
        const struct known_file *known = &buckets->known.at[i - 1];
        if (strcmp(known->path, path) == 0) {
            return known->size == (uint64_t)info->st_size &&
                   known->time.tv_sec == info->st_mtim.tv_sec &&
                   known->time.tv_nsec == info->st_mtim.tv_nsec;
        }
    }
    return false;
}

/* A file of another user is there by a link, and is none of the task's. */
static bool is_result(const struct sending *sending, const char *path, const struct stat *info)
{
    const struct box_start *start = &sending->buckets->box->start;
    return (!start->switch_user || info->st_uid == start->uid) &&
           strcmp(path, CHECKPOINT_FILE) != 0 && !is_known(sending->buckets, path, info) &&
           (!sending->has_allowed || regexec(&sending->allowed, path, 0, NULL, 0) == 0) &&
           (!sending->has_refused || regexec(&sending->refused, path, 0, NULL, 0) != 0);
}

static enum err result_send(void *ctx, const char *path, int fd, const struct stat *info,
                            struct error *e)
{
    struct sending *sending = ctx;
    struct arena arena;
    if (!is_result(sending, path, info)) {
        return ERR_OK;
    }
    arena_init(&arena);
    enum err r = bucket_client_send(sending->buckets->client, text_of(sending->to, "bucket"),
                                    arena_fmt(&arena, "%s%s", text_of(sending->to, "prefix"), path),
                                    (uint64_t)info->st_size, fd, e);
    sending->sent.files++;
    sending->sent.bytes += (uint64_t)info->st_size;
    arena_done(&arena);
    return r;
}

static enum err all_send(struct box_buckets *buckets, const struct doc *to, struct sent *ret,
                         struct error *e)
{
    struct sending sending = {.buckets = buckets, .to = to};
    struct box_tree tree = {.fd = -1};
    enum err r = pattern_make(to, "whitelist", &sending.allowed, &sending.has_allowed, e);
    r = r == ERR_OK ? pattern_make(to, "blacklist", &sending.refused, &sending.has_refused, e) : r;
    r = r == ERR_OK ? box_tree_open(buckets->box->start.job_dir, &tree, e) : r;
    r = r == ERR_OK ? box_tree_walk(&tree, result_send, &sending, e) : r;
    box_tree_close(&tree);
    if (sending.has_allowed) {
        regfree(&sending.allowed);
    }
    if (sending.has_refused) {
        regfree(&sending.refused);
    }
    *ret = sending.sent;
    return r;
}

/* Tells the server what was sent, or what went wrong. `snapshot`: its id; "": these are the results. */
static void report(struct box_buckets *buckets, const char *snapshot, const struct sent *sent,
                   const char *words)
{
    struct buf out;
    struct json_out j;
    struct error e;
    buf_init(&out, REPORT_MAX);
    json_out_init(&j, &out);
    json_out_put(&j, "{snapshot:%s,files:%lu,bytes:%lu,words:%s}", snapshot, sent->files,
                 sent->bytes, words);
    if (bucket_client_report(buckets->client, (struct str){buf_text(&out), out.len}, &e) !=
        ERR_OK) {
        (void)fprintf(stderr, "weir: the server does not take a report: %s\n", e.text);
    }
    buf_done(&out);
}

enum err box_buckets_results(struct box_buckets *buckets, bool killed, struct error *e)
{
    struct sent sent;
    bool on_kill = false;
    enum err r = orders_get(buckets, e); /* the results may go elsewhere by now */
    const struct doc *to = r == ERR_OK ? doc_get(buckets->orders, "results") : NULL;
    (void)doc_bool(to == NULL ? NULL : doc_get(to, "on_kill"), &on_kill);
    if (to == NULL || (killed && !on_kill)) {
        return r;
    }
    r = all_send(buckets, to, &sent, e);
    if (r == ERR_OK) {
        report(buckets, "", &sent, "");
    }
    return r;
}

/* ---- while the program runs ---- */

void box_buckets_failed(struct box_buckets *buckets, const struct error *e)
{
    report(buckets, "", &(struct sent){0}, e->text);
}

static void snapshots_take(struct box_buckets *buckets)
{
    const struct doc *asked = doc_get(buckets->orders, "snapshots");
    struct error e;
    for (const struct doc *d = asked == NULL ? NULL : asked->first; d != NULL; d = d->next) {
        struct sent sent;
        const bool well = all_send(buckets, d, &sent, &e) == ERR_OK;
        report(buckets, text_of(d, "id"), &sent, well ? "" : e.text);
    }
}

void box_buckets_look(struct box_buckets *buckets, int64_t now_s)
{
    struct error e;
    struct sent sent;
    uint64_t interval = 0;
    enum err r = orders_get(buckets, &e);
    if (r == ERR_OK && strcmp(text_of(buckets->orders, "stamp"), buckets->stamp) != 0) {
        r = box_buckets_fetch(buckets, &e);
    }
    if (r == ERR_OK) {
        snapshots_take(buckets);
    }
    const struct doc *periodic = r == ERR_OK ? doc_get(buckets->orders, "periodic") : NULL;
    buckets->periodic_s = buckets->periodic_s == 0 ? now_s : buckets->periodic_s;
    if (periodic != NULL && doc_u64(doc_get(periodic, "interval"), &interval) && interval > 0 &&
        now_s - buckets->periodic_s >= (int64_t)interval) {
        buckets->periodic_s = now_s;
        r = all_send(buckets, periodic, &sent, &e);
    }
    if (r != ERR_OK) {
        (void)fprintf(stderr, "weir: the buckets of the task: %s\n", e.text);
    }
}
