/* qarnot_node.c - what a node asks while it runs a task with buckets (docs/dev/formats/node-buckets.md). The credentials of
 * the store stay on the server: it signs single requests for buckets that the task names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "base/hash.h"
#include "compat/qarnot/qarnot_handlers.h"
#include "compat/qarnot/qarnot_internal.h"
#include "io/aws_keys.h"

#include <inttypes.h>

enum { EXPIRES_S = 3600, WORDS_MAX = 400, RESOURCES_BYTES_MAX = 64 * 1024 };

/* A task of the node that asks. */
struct asked {
    struct attempt_key key;
    const struct task *task;
    const struct doc *kept; /* of the task */
    const struct doc *pool; /* of its pool */
    uint64_t pool_refreshed;
    struct qarnot_extra extra;
};

/* False: the call was answered. */
static bool asked_read(struct call *call, struct asked *ret)
{
    const struct core *core = call_core(call);
    uint64_t task = 0;
    uint64_t index = 0;
    uint64_t attempt = 0;
    struct task_spec spec;
    struct pool_spec pool;
    struct qarnot_extra pool_extra;
    if (!call_query_u64(call, "task", INT64_MAX, &task) ||
        !call_query_u64(call, "index", TASK_INSTANCES_MAX, &index) ||
        !call_query_u64(call, "attempt", UINT32_MAX, &attempt)) {
        return false;
    }
    ret->key = (struct attempt_key){{task}, (uint32_t)index, (uint32_t)attempt};
    const struct instance *instance = query_instance_live(core, ret->key);
    if (instance == NULL || strcmp(query_node_name(core, instance->node), call->name) != 0) {
        call_failf(call, ERR_DENIED, "task", "no such attempt of task %" PRIu64 " is on node '%s'",
                   task, call->name);
        return false;
    }
    ret->task = query_task(core, ret->key.task);
    query_task_spec(core, ret->key.task, call_arena(call), &spec);
    query_pool_spec(core, ret->task->pool, call_arena(call), &pool);
    ret->kept = qarnot_fields_kept(call_arena(call), spec.annotation);
    ret->pool = qarnot_fields_kept(call_arena(call), pool.annotation);
    qarnot_extra_read(ret->kept, &ret->extra);
    qarnot_extra_read(ret->pool, &pool_extra);
    ret->pool_refreshed = pool_extra.refreshed;
    return true;
}

/* ---- what the task wants ---- */

/* A place for files: that of the task's results where the snapshot names none. */
static void target_write(struct json_out *j, const struct asked *asked, const struct doc *config,
                         const char *prefix)
{
    const char *bucket = qarnot_buckets_text(config, "bucket");
    const char *allowed = qarnot_buckets_text(config, "whitelist");
    const char *refused = qarnot_buckets_text(config, "blacklist");
    json_out_kv_text(j, "bucket",
                     *bucket != '\0' ? bucket : qarnot_buckets_text(asked->kept, "resultBucket"));
    json_out_kv_text(j, "prefix", prefix);
    json_out_kv_text(j, "whitelist",
                     *allowed != '\0' ? allowed
                                      : qarnot_buckets_text(asked->kept, "snapshotWhitelist"));
    json_out_kv_text(j, "blacklist",
                     *refused != '\0' ? refused
                                      : qarnot_buckets_text(asked->kept, "snapshotBlacklist"));
}

static void snapshots_write(struct json_out *j, const struct asked *asked)
{
    uint64_t interval = 0;
    if (asked->extra.periodic != NULL) {
        json_out_put(j, "periodic:{");
        (void)doc_u64(doc_get(asked->extra.periodic, "interval"), &interval);
        json_out_kv_u64(j, "interval", interval);
        target_write(j, asked, asked->extra.periodic,
                     qarnot_buckets_text(asked->extra.periodic, "bucketPrefix"));
        json_out_end(j);
    }
    json_out_put(j, "snapshots:[");
    for (uint32_t i = 0; i < asked->extra.snapshot_count; i++) {
        const struct qarnot_snapshot *s = &asked->extra.snapshots[i];
        uint32_t at;
        char id[24];
        if (qarnot_ranges_find(s->waits, asked->key.index, &at)) {
            (void)snprintf(id, sizeof id, "%" PRIu64, s->id);
            json_out_put(j, "{id:%s", id);
            target_write(j, asked, s->config, qarnot_buckets_text(s->config, "bucketPrefix"));
            json_out_end(j);
        }
    }
    json_out_end(j);
}

/* Changes whenever the pool's resources are to be fetched anew. */
static const char *pool_stamp(const struct asked *asked, struct arena *arena)
{
    struct buf out;
    struct json_out j;
    buf_init(&out, RESOURCES_BYTES_MAX);
    json_out_init(&j, &out);
    qarnot_buckets_write(&j, asked->pool);
    const char *stamp = arena_fmt(arena, "%" PRIu64 ".%016" PRIx64, asked->pool_refreshed,
                                  hash_bytes(buf_text(&out), out.len));
    buf_done(&out);
    return stamp;
}

void qarnot_node_buckets(struct call *call)
{
    struct asked asked;
    struct json_out j;
    bool on_kill = false;
    if (!asked_read(call, &asked)) {
        return;
    }
    const bool in = qarnot_buckets_in(asked.kept);
    const bool out = qarnot_buckets_out(asked.kept);
    call_json(call, &j);
    json_out_put(&j, "{stamp:%s,watched:%i,resources:",
                 arena_fmt(call_arena(call), "%" PRIu64, asked.extra.refreshed), in || out);
    qarnot_buckets_write(&j, asked.kept);
    if (qarnot_buckets_in(asked.pool)) {
        json_out_put(&j, "pool:{stamp:%s,resources:", pool_stamp(&asked, call_arena(call)));
        qarnot_buckets_write(&j, asked.pool);
        json_out_end(&j);
    }
    if (out) {
        (void)doc_bool(doc_get(asked.kept, "uploadResultsOnCancellation"), &on_kill);
        json_out_put(&j, "results:{bucket:%s,prefix:%s,whitelist:%s,blacklist:%s,on_kill:%i}",
                     qarnot_buckets_text(asked.kept, "resultBucket"), "",
                     qarnot_buckets_text(asked.kept, "resultsWhitelist"),
                     qarnot_buckets_text(asked.kept, "resultsBlacklist"), on_kill);
        snapshots_write(&j, &asked);
    }
    json_out_end(&j);
    call_answer_json(call, 200);
}

/* ---- signing ---- */

struct store_wish {
    const char *verb;
    const char *bucket;
    const char *key;
    const char *upload;
    uint64_t part;
};

static const struct verb {
    const char *name;
    const char *method;
    bool reads;
} verbs[] = {
    {"list", "GET", true},     {"get", "GET", true},   {"put", "PUT", false},
    {"begin", "POST", false},  {"part", "PUT", false}, {"finish", "POST", false},
    {"drop", "DELETE", false},
};

static const struct verb *verb_find(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(verbs[i].name, name) == 0) {
            return &verbs[i];
        }
    }
    return NULL;
}

static bool writes_to(const struct asked *asked, const struct doc *config,
                      const struct store_wish *wish)
{
    const char *bucket = qarnot_buckets_text(config, "bucket");
    const char *prefix = qarnot_buckets_text(config, "bucketPrefix");
    bucket = *bucket != '\0' ? bucket : qarnot_buckets_text(asked->kept, "resultBucket");
    return strcmp(bucket, wish->bucket) == 0 && strncmp(wish->key, prefix, strlen(prefix)) == 0;
}

/* A store that cleans paths would find another bucket or object behind "..". */
static bool leads_elsewhere(const char *key)
{
    struct str rest = str_of(key);
    bool elsewhere = false;
    while (rest.p != NULL) {
        const struct str part = str_cut(rest, '/', &rest);
        elsewhere = elsewhere || str_is(part, ".") || str_is(part, "..");
    }
    return elsewhere;
}

/* Does the task name the bucket for this? */
static bool allowed(const struct asked *asked, const struct verb *verb,
                    const struct store_wish *wish)
{
    if (!qarnot_buckets_name_ok(wish->bucket) || leads_elsewhere(wish->key)) {
        return false;
    }
    if (verb->reads) {
        return qarnot_buckets_allow(asked->kept, wish->bucket, wish->key) ||
               qarnot_buckets_allow(asked->pool, wish->bucket, wish->key);
    }
    bool may = qarnot_buckets_out(asked->kept) && writes_to(asked, NULL, wish);
    may = may || (asked->extra.periodic != NULL && writes_to(asked, asked->extra.periodic, wish));
    for (uint32_t i = 0; i < asked->extra.snapshot_count; i++) {
        may = may || writes_to(asked, asked->extra.snapshots[i].config, wish);
    }
    return may;
}

/* The parameters in the order that signatures want. */
static const char *query_of(const struct store_wish *wish, struct arena *arena)
{
    struct buf out;
    buf_init(&out, 16 * 1024);
    if (strcmp(wish->verb, "list") == 0) {
        if (*wish->upload != '\0') {
            buf_addf(&out, "continuation-token=");
            sigv4_encode(&out, wish->upload, false);
            buf_addf(&out, "&");
        }
        buf_addf(&out, "list-type=2&prefix=");
        sigv4_encode(&out, wish->key, false);
    } else if (strcmp(wish->verb, "begin") == 0) {
        buf_addf(&out, "uploads=");
    } else if (*wish->upload != '\0') {
        if (strcmp(wish->verb, "part") == 0) {
            buf_addf(&out, "partNumber=%" PRIu64 "&", wish->part);
        }
        buf_addf(&out, "uploadId=");
        sigv4_encode(&out, wish->upload, false);
    }
    const char *query = arena_str(arena, buf_text(&out));
    buf_done(&out);
    return query;
}

/* The host as a client writes it in a request: without the port that the scheme implies. */
static const char *host_of(const char *url, struct arena *arena, const char **ret_base)
{
    const char *begin = strstr(url, "://") + 3;
    const size_t len = strcspn(begin, "/");
    const char *host = arena_strn(arena, begin, len);
    const char *implied = strncmp(url, "https:", 6) == 0 ? ":443" : ":80";
    const size_t cut = strlen(implied);
    *ret_base = strcmp(begin + len, "/") == 0 ? "" : begin + len;
    return len > cut && strcmp(host + len - cut, implied) == 0 ? arena_strn(arena, host, len - cut)
                                                               : host;
}

static const char *signed_url(const struct call *call, const struct verb *verb,
                              const struct store_wish *wish, const struct sigv4_keys *keys)
{
    struct arena *arena = call_arena(call);
    const char *url = call->api->o.qarnot.storage;
    const char *base;
    const char *host = host_of(url, arena, &base);
    const struct sigv4_header headers[] = {{"host", host}};
    struct buf path;
    buf_init(&path, 16 * 1024);
    buf_addf(&path, "%s/%s", base, wish->bucket);
    if (strcmp(wish->verb, "list") != 0) {
        buf_addf(&path, "/");
        sigv4_encode(&path, wish->key, true);
    }
    const struct sigv4_request request = {.method = verb->method,
                                          .path = arena_str(arena, buf_text(&path)),
                                          .query = query_of(wish, arena),
                                          .headers = headers,
                                          .header_count = 1,
                                          .region = call->api->o.qarnot.region,
                                          .service = "s3",
                                          .time_s = call_now_ms(call) / 1000};
    buf_done(&path);
    return arena_fmt(arena, "%.*s://%s%s?%s", (int)(strstr(url, "://") - url), url, host,
                     request.path, sigv4_presigned(&request, keys, EXPIRES_S, arena));
}

void qarnot_node_sign(struct call *call)
{
    struct asked asked;
    const struct doc *body;
    struct sigv4_keys keys;
    struct error e;
    struct json_out j;
    uint64_t part = 0;
    if (!asked_read(call, &asked) || !body_read(call, &body)) {
        return;
    }
    (void)doc_u64(doc_get(body, "part"), &part);
    const struct store_wish wish = {.verb = qarnot_buckets_text(body, "verb"),
                                    .bucket = qarnot_buckets_text(body, "bucket"),
                                    .key = qarnot_buckets_text(body, "key"),
                                    .upload = qarnot_buckets_text(body, "upload"),
                                    .part = part};
    const struct verb *verb = verb_find(wish.verb);
    if (verb == NULL || !qarnot_buckets_on(call) || !allowed(&asked, verb, &wish)) {
        call_failf(call, ERR_DENIED, "bucket",
                   "the task does not name the bucket '%.80s' for '%.20s'", wish.bucket, wish.verb);
        return;
    }
    if (aws_keys_read(call->api->o.qarnot.keys, call_arena(call), &keys, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    call_json(call, &j);
    json_out_put(&j, "{url:%s}", signed_url(call, verb, &wish, &keys));
    call_answer_json(call, 200);
}

/* ---- reports ---- */

/* The ranges without one number. */
static const char *ranges_without(const char *text, uint32_t number, struct arena *arena)
{
    struct qarnot_ranges ranges;
    struct error e;
    struct buf out;
    if (*text == '\0' || qarnot_ranges_read(text, &ranges, &e) != ERR_OK) {
        return "";
    }
    buf_init(&out, QARNOT_BODY_MAX);
    struct qarnot_range_writer writer = {.out = &out};
    for (uint32_t i = 0; i < ranges.count; i++) {
        const uint32_t at = qarnot_ranges_at(text, i);
        if (at != number) {
            qarnot_ranges_add(&writer, at);
        }
    }
    qarnot_ranges_end(&writer);
    const char *left = arena_str(arena, buf_text(&out));
    buf_done(&out);
    return left;
}

static const char *with_instance(const struct asked *asked, const char *words, struct arena *arena)
{
    return arena_fmt(arena, "instance %" PRIu32 ": %.*s",
                     asked->task->array_first + asked->key.index, WORDS_MAX, words);
}

void qarnot_node_report(struct call *call)
{
    struct asked asked;
    const struct doc *body;
    uint64_t id = 0;
    uint64_t files = 0;
    uint64_t bytes = 0;
    if (!asked_read(call, &asked) || !body_read(call, &body)) {
        return;
    }
    const char *words = qarnot_buckets_text(body, "words");
    const bool snapshot = str_to_u64(str_of(qarnot_buckets_text(body, "snapshot")), &id);
    (void)doc_u64(doc_get(body, "files"), &files);
    (void)doc_u64(doc_get(body, "bytes"), &bytes);
    if (!snapshot && *words != '\0') {
        asked.extra.words = with_instance(&asked, words, call_arena(call));
    } else if (!snapshot) {
        asked.extra.results += files;
    }
    for (uint32_t i = 0; i < asked.extra.snapshot_count && snapshot; i++) {
        struct qarnot_snapshot *s = &asked.extra.snapshots[i];
        if (s->id == id) {
            s->waits = ranges_without(s->waits, asked.key.index, call_arena(call));
            s->bytes += bytes;
            s->seen_ms = call_now_ms(call);
            s->words = *words != '\0' ? with_instance(&asked, words, call_arena(call)) : s->words;
        }
    }
    if (qarnot_extra_put(call, asked.key.task, &asked.extra)) {
        struct json_out j;
        call_json(call, &j);
        json_out_put(&j, "{}");
        call_answer_json(call, 200);
    }
}
