/* qarnot_spec.c - a task of the SDK as one of Weir's: the reader of Weir's own task files reads the result, so that each
 * bound holds here, too.
 *
 * The program is a shell that sets what only the node knows (the job directory, and the number of the instance where the
 * task names ranges), and then gives DOCKER_CMD to another shell.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/doc_write.h"
#include "compat/qarnot/qarnot_internal.h"
#include "spec/task_file.h"

#include <ctype.h>
#include <inttypes.h>

enum { SPEC_BYTES_MAX = 1024 * 1024 };

/* The ranges are counted off in the shell, because an instance knows only its index. No constant has a name that begins with WEIR_
 * (is_variable()), so the shell's own names are such ones. */
static const char script[] =
    "WEIR_I=${WEIR_INDEX:-0}\n"
    "for WEIR_R in $(echo \"$QARNOT_RANGES\" | tr ',' ' '); do\n"
    "  WEIR_A=${WEIR_R%-*}; WEIR_B=${WEIR_R#*-}; WEIR_N=$((WEIR_B - WEIR_A + 1))\n"
    "  if [ \"$WEIR_I\" -lt \"$WEIR_N\" ]; then INSTANCE_ID=$((WEIR_A + WEIR_I)); break; fi\n"
    "  WEIR_I=$((WEIR_I - WEIR_N))\n"
    "done\n"
    "unset QARNOT_RANGES WEIR_I WEIR_R WEIR_A WEIR_B WEIR_N\n"
    "TASK_PATH=${TASK_PATH:-$WEIR_JOB_DIR} TMP_PATH=${TMPDIR:-/tmp} TMP_RAMFS_PATH=/dev/shm\n"
    "QARNOT_JOB_DIRECTORY=${WEIR_POOL_DIR:-$WEIR_JOB_DIR}\n"
    "QARNOT_RESOURCES_DIRECTORY=$TASK_PATH\n"
    "QARNOT_RESULTS_DIRECTORY=$TASK_PATH FRAME_ID=$INSTANCE_ID\n"
    "export INSTANCE_ID FRAME_ID TASK_PATH TMP_PATH TMP_RAMFS_PATH QARNOT_JOB_DIRECTORY\n"
    "export QARNOT_RESOURCES_DIRECTORY QARNOT_RESULTS_DIRECTORY\n"
    "exec /bin/sh -c \"$DOCKER_CMD\"\n";

/* ---- the environment ---- */

/* A name that a shell can have, and that is not one of Weir's. */
static bool is_variable(const char *name)
{
    static const char *const own[] = {"INSTANCE_ID", "FRAME_ID", "INSTANCE_COUNT", "QARNOT_RANGES",
                                      "PATH"};
    if (!isalpha((unsigned char)name[0]) && name[0] != '_') {
        return false;
    }
    for (size_t i = 0; name[i] != '\0'; i++) {
        if (!isalnum((unsigned char)name[i]) && name[i] != '_') {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strcmp(name, own[i]) == 0) {
            return false;
        }
    }
    return strncmp(name, "WEIR_", 5) != 0;
}

/* Has a later constant of the list the same name? */
static bool is_named_again(const struct doc *constant, const char *name)
{
    const char *other;
    for (const struct doc *d = constant->next; d != NULL; d = d->next) {
        if (doc_text(doc_get(d, "key"), &other) && strcmp(other, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Writes the constants that the task's own ones do not hide. */
static void constants_write(struct json_out *j, const struct doc *body, const struct doc *hidden_by)
{
    const struct doc *constants = doc_get(body, "constants");
    for (const struct doc *d = constants == NULL ? NULL : constants->first; d != NULL;
         d = d->next) {
        const char *key = "";
        if (!doc_text(doc_get(d, "key"), &key) || !is_variable(key) || is_named_again(d, key) ||
            (hidden_by != NULL && qarnot_fields_constant(hidden_by, key) != NULL)) {
            continue;
        }
        const char *value = qarnot_fields_constant(body, key);
        if (value != NULL) {
            json_out_kv_text(j, key, value);
        }
    }
}

static void env_write(struct json_out *j, const struct doc *body, const struct doc *pool,
                      const char *ranges, uint32_t count, struct arena *arena)
{
    json_out_put(j, "env:{");
    constants_write(j, pool, body);
    constants_write(j, body, NULL);
    json_out_kv_text(j, "INSTANCE_COUNT", arena_fmt(arena, "%" PRIu32, count));
    if (ranges != NULL) {
        json_out_kv_text(j, "QARNOT_RANGES", ranges);
    }
    json_out_end(j);
}

/* ---- instances, retries, dependencies ---- */

static enum err instances_read(const struct doc *body, struct arena *arena, const char **ret_ranges,
                               uint32_t *ret, struct error *e)
{
    const char *text;
    uint64_t count;
    struct qarnot_ranges ranges;
    *ret_ranges = NULL;
    if (doc_text(doc_get(body, "advancedRanges"), &text)) {
        enum err r = qarnot_ranges_read(text, &ranges, e);
        if (r == ERR_OK) {
            *ret_ranges = qarnot_ranges_plain(text, arena);
            *ret = ranges.count;
        }
        return r;
    }
    if (!doc_u64(doc_get(body, "instanceCount"), &count) || count < 1 ||
        count > TASK_INSTANCES_MAX) {
        return fail_at(e, ERR_INVALID, "instanceCount", "it must be a whole number from 1 to %d",
                       TASK_INSTANCES_MAX);
    }
    *ret = (uint32_t)count;
    return ERR_OK;
}

/* Weir counts the retries of each instance. A bound on all of them together is the same only where there is one instance. */
static enum err retries_read(const struct doc *body, const struct doc *pool, uint32_t count,
                             uint64_t *ret, struct error *e)
{
    const struct doc *own = doc_get(body, "retrySettings");
    const struct doc *others = doc_get(pool, "defaultRetrySettings");
    const bool said = qarnot_fields_given(own, "maxTotalRetries") ||
                      qarnot_fields_given(own, "maxPerInstanceRetries");
    const struct doc *from = said ? own : others;
    uint64_t total;
    uint64_t each;
    enum err r = qarnot_types_number(from, "maxTotalRetries", 0, &total, e);
    r = r == ERR_OK ? qarnot_types_number(from, "maxPerInstanceRetries", 0, &each, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    if (total > 0 && count > 1 && (each == 0 || each * count > total)) {
        return fail_at(e, ERR_INVALID, "retrySettings.maxTotalRetries",
                       "Weir counts the retries of each instance; set maxPerInstanceRetries alone");
    }
    *ret = each == 0 ? total : total == 0 || each < total ? each : total;
    return ERR_OK;
}

/* Must the dependency succeed, or only end? False: Weir does not know the condition. */
static bool condition_read(const struct doc *states, bool *ret_any)
{
    bool success = states == NULL || states->kind != DOC_LIST;
    uint32_t others = 0;
    for (const struct doc *d = success ? NULL : states->first; d != NULL; d = d->next) {
        const bool is_success = strcasecmp(d->text.p == NULL ? "" : d->text.p, "success") == 0;
        success = success || is_success;
        others += !is_success;
    }
    *ret_any = others > 0;
    return success && (others == 0 || others == 2);
}

static enum err depend_write(struct json_out *j, const struct core *core, const struct doc *uuid,
                             bool any, struct arena *arena, struct error *e)
{
    uint64_t id;
    const char *text = "";
    if (!doc_text(uuid, &text) || !qarnot_uuid_parse(core, QARNOT_TASK, text, &id)) {
        return fail_at(e, ERR_INVALID, "dependencies", "no task '%.60s'", text);
    }
    if (any) {
        json_out_text(j, arena_fmt(arena, "%" PRIu64 ":any", id));
    } else {
        json_out_u64(j, id);
    }
    return ERR_OK;
}

static enum err depends_write(struct json_out *j, const struct core *core, const struct doc *body,
                              struct arena *arena, struct error *e)
{
    const struct doc *depends = doc_get(body, "dependencies");
    const struct doc *plain = depends != NULL ? doc_get(depends, "dependsOn") : NULL;
    const struct doc *more = depends != NULL ? doc_get(depends, "advancedDependsOn") : NULL;
    enum err r = ERR_OK;
    if ((plain == NULL || plain->count == 0) && (more == NULL || more->count == 0)) {
        return ERR_OK;
    }
    json_out_put(j, "depends_on:[");
    for (const struct doc *d = plain == NULL ? NULL : plain->first; d != NULL && r == ERR_OK;
         d = d->next) {
        r = depend_write(j, core, d, false, arena, e);
    }
    for (const struct doc *d = more == NULL ? NULL : more->first; d != NULL && r == ERR_OK;
         d = d->next) {
        bool any;
        r = condition_read(doc_get(d, "taskFinalStateCondition"), &any)
                ? depend_write(j, core, doc_get(d, "taskUuid"), any, arena, e)
                : fail_at(e, ERR_INVALID, "dependencies.advancedDependsOn",
                          "Weir waits for success, or for any end: success, failure and cancelled");
    }
    json_out_end(j);
    return r;
}

/* ---- the whole ---- */

static void request_write(struct json_out *j, const struct qarnot_hardware *hardware,
                          struct arena *arena)
{
    if (hardware->cores == 0 && hardware->memory_mb == 0 && !hardware->gpu) {
        return;
    }
    json_out_put(j, "resources:{");
    json_out_kv_u64(j, hardware->gpu ? "gpu" : "slots", 1);
    if (hardware->cores > 0) {
        json_out_kv_u64(j, "cpu", hardware->cores);
    }
    if (hardware->memory_mb > 0) {
        json_out_kv_text(j, "memory", arena_fmt(arena, "%" PRIu64 "M", hardware->memory_mb));
    }
    json_out_end(j);
}

/* Where the task belongs. */
struct task_place {
    const struct pool *pool; /* NULL: Weir's default pool */
    const struct doc *kept;  /* of the pool; an empty map without one */
    const char *job;         /* the job's UUID; NULL: none */
};

/* The UUID of the pool: the task's own, or that of its job. */
static enum err pool_uuid(const struct core *core, const struct doc *body, struct arena *arena,
                          struct task_place *ret, const char **ret_uuid, struct error *e)
{
    const char *profile = "";
    const struct doc *from = body;
    if (doc_text(doc_get(body, "jobUuid"), &ret->job)) {
        from = qarnot_jobs_find(core, ret->job, arena);
        if (from == NULL) {
            return fail_at(e, ERR_INVALID, "jobUuid", "no job %.60s takes tasks", ret->job);
        }
    }
    if (doc_text(doc_get(from, "poolUuid"), ret_uuid) ||
        doc_text(doc_get(body, "profile"), &profile)) {
        return ERR_OK;
    }
    return fail_at(e, ERR_INVALID, "profile", "a task needs a profile or a pool");
}

static enum err place_read(const struct core *core, const struct doc *body, struct arena *arena,
                           struct task_place *ret, struct error *e)
{
    const char *uuid = NULL;
    struct pool_spec spec;
    *ret = (struct task_place){.kept = qarnot_fields_kept(arena, NULL)};
    enum err r = pool_uuid(core, body, arena, ret, &uuid, e);
    if (r != ERR_OK || uuid == NULL) {
        return r;
    }
    ret->pool = qarnot_pools_find(core, uuid);
    if (ret->pool == NULL) {
        return fail_at(e, ERR_INVALID, "poolUuid", "no pool %.60s", uuid);
    }
    if (ret->pool->life.phase != PHASE_OPEN) {
        return fail_at(e, ERR_INVALID, "poolUuid", "the pool %.60s is closed", uuid);
    }
    query_pool_spec(core, ret->pool->id, arena, &spec);
    ret->kept = qarnot_fields_kept(arena, spec.annotation);
    return ERR_OK;
}

static const char *constant_of(const struct doc *body, const struct doc *pool, const char *name)
{
    const char *own = qarnot_fields_constant(body, name);
    return own != NULL ? own : qarnot_fields_constant(pool, name);
}

/* The image that the constants name: in the registry DOCKER_SRV, where one is named. */
static void image_write(struct json_out *j, const struct doc *body, const struct doc *pool,
                        struct arena *arena)
{
    const char *image = constant_of(body, pool, "DOCKER_REPO");
    const char *tag = constant_of(body, pool, "DOCKER_TAG");
    const char *registry = constant_of(body, pool, "DOCKER_SRV");
    if (image == NULL || *image == '\0') {
        return;
    }
    if (registry != NULL && *registry != '\0') {
        const char *scheme = strstr(registry, "://");
        struct str host = str_of(scheme != NULL ? scheme + 3 : registry);
        while (host.len > 0 && host.p[host.len - 1] == '/') {
            host.len--;
        }
        image = arena_fmt(arena, "%.*s/%s", (int)host.len, host.p, image);
    }
    json_out_kv_text(j, "image",
                     tag != NULL && *tag != '\0' ? arena_fmt(arena, "%s:%s", image, tag) : image);
}

/* Where the task sees its files (agent/box_view.h): in a pool its directory has the name of the task, which is the next
 * one that Weir numbers. */
static void mounts_write(struct json_out *j, const struct core *core, const struct doc *body,
                         const struct doc *pool, bool in_pool, struct arena *arena)
{
    char uuid[QARNOT_UUID_MAX];
    qarnot_uuid(core, QARNOT_TASK, query_task_last(core).v + 1, uuid);
    json_out_put(j, "mounts:[");
    json_out_text(j, in_pool ? arena_fmt(arena, "job:/job/%s", uuid) : "job:/job");
    if (in_pool) {
        json_out_text(j, "pool:/job");
    }
    if (qarnot_buckets_in(body) || qarnot_buckets_out(body) || qarnot_buckets_in(pool)) {
        json_out_text(j, "buckets:/qarnot");
    }
    json_out_end(j);
}

static enum err task_write(struct json_out *j, const struct core *core, const struct doc *body,
                           bool buckets, struct arena *arena, struct error *e)
{
    struct task_place place;
    struct qarnot_hardware hardware;
    const char *annotation;
    const char *ranges;
    const char *name = "";
    uint32_t count = 0;
    uint64_t retries = 0;
    enum err r = qarnot_fields_check(body, buckets, e);
    r = r == ERR_OK ? place_read(core, body, arena, &place, e) : r;
    r = r == ERR_OK ? instances_read(body, arena, &ranges, &count, e) : r;
    r = r == ERR_OK ? retries_read(body, place.kept, count, &retries, e) : r;
    r = r == ERR_OK ? qarnot_fields_hardware(body, &hardware, e) : r;
    r = r == ERR_OK ? qarnot_fields_keep(body, NULL, arena, &annotation, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    if (constant_of(body, place.kept, "DOCKER_CMD") == NULL) {
        return fail_at(e, ERR_INVALID, "constants",
                       "the constant DOCKER_CMD is missing: it is the command that the task runs");
    }
    (void)doc_text(doc_get(body, "name"), &name);
    json_out_put(j, "{name:%s,command:[%s,%s,%s,%s],instances:%u,annotation:%s", name, "/bin/sh",
                 "-c", script, "qarnot", count, annotation);
    json_out_kv_u64(j, "max_retries", retries > RETRIES_MAX ? RETRIES_MAX : retries);
    if (place.pool != NULL) {
        json_out_put(j, "pools:[%s]", query_pool_name(core, place.pool->id));
    }
    if (place.job != NULL) {
        json_out_put(j, "tags:[%s]", qarnot_jobs_tag(arena, place.job));
    }
    image_write(j, body, place.kept, arena);
    mounts_write(j, core, body, place.kept, place.pool != NULL, arena);
    env_write(j, body, place.kept, ranges, count, arena);
    request_write(j, &hardware, arena);
    r = depends_write(j, core, body, arena, e);
    json_out_end(j);
    return r;
}

enum err qarnot_spec_task(const struct core *core, const struct doc *body, bool buckets,
                          struct arena *arena, struct task_spec *ret, struct error *e)
{
    struct buf out;
    struct json_out j;
    struct doc *doc;
    buf_init(&out, SPEC_BYTES_MAX);
    json_out_init(&j, &out);
    enum err r = task_write(&j, core, body, buckets, arena, e);
    if (r == ERR_OK) {
        const char *text = arena_strn(arena, buf_text(&out), out.len);
        r = doc_json_parse(arena, str_of(text), &doc, e);
        r = r == ERR_OK ? task_file_spec_read(doc, arena, ret, e) : r;
    }
    buf_done(&out);
    return r;
}
