/* files.c - what stands in the job directory of an instance: its names, and pieces of its files. The
 * files lie on the node, and the node's agent is asked (asks.h), also after the task has ended.
 *
 * A node may lie: every value of its answer is read with its bounds and written anew.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/asks.h"
#include "api/handlers.h"
#include "api/history.h"
#include "api/route.h"
#include "base/doc.h"
#include "core/core.h"
#include "wire/files.h"

/* A question about one instance. `node` is filled in when it is known where the instance ran. */
struct files_ask {
    struct agent_ask ask;
    uint64_t index;
    const char *node;
};

/* The word of an agent's error as a code; an unknown word is a failure of the node. */
static enum err error_of(const char *word)
{
    static const struct {
        const char *word;
        enum err code;
    } words[] = {{"not-found", ERR_NOT_FOUND}, {"denied", ERR_DENIED}, {"invalid", ERR_INVALID},
                 {"limit", ERR_LIMIT},         {"busy", ERR_BUSY},     {"unknown", ERR_INVALID}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].word, word) == 0) {
            return words[i].code;
        }
    }
    return ERR_IO;
}

static void entry_copy(struct json_out *j, const struct doc *entry)
{
    const char *name = "";
    const char *kind = "";
    uint64_t size = 0;
    int64_t modified_ms = 0;
    (void)doc_text(doc_get(entry, "name"), &name);
    (void)doc_text(doc_get(entry, "kind"), &kind);
    (void)doc_u64(doc_get(entry, "size"), &size);
    (void)doc_i64(doc_get(entry, "modified_ms"), &modified_ms);
    const bool sane = modified_ms > 0 && modified_ms <= TIME_MS_MAX;
    json_out_object(j);
    json_out_kv_text(j, "name", name);
    json_out_kv_text(j, "kind", files_kind(kind));
    json_out_kv_u64(j, "size", size > INT64_MAX ? INT64_MAX : size);
    json_out_kv_time(j, "modified_at", sane ? modified_ms : 0);
    json_out_end(j);
}

static void entries_copy(struct json_out *j, const struct doc *answer)
{
    const struct doc *list = doc_get(answer, "entries");
    uint32_t count = 0;
    json_out_key(j, "entries");
    json_out_array(j);
    const struct doc *entry = list != NULL && list->kind == DOC_LIST ? list->first : NULL;
    for (; entry != NULL && count < FILES_NAMES_MAX; entry = entry->next) {
        if (entry->kind == DOC_MAP) {
            entry_copy(j, entry);
            count++;
        }
    }
    json_out_end(j);
}

static void answered(struct call *call, struct str body)
{
    const struct files_ask *ask = call->data;
    struct doc *answer;
    struct error e;
    const char *word = NULL;
    const char *text = "";
    if (doc_json_parse(call_arena(call), body, &answer, &e) != ERR_OK || answer->kind != DOC_MAP) {
        call_failf(call, ERR_IO, "", "node '%s' answered with what is not understood", ask->node);
        return;
    }
    if (doc_text(doc_get(answer, "error"), &word)) {
        (void)doc_text(doc_get(answer, "message"), &text);
        call_failf(call, error_of(word), "path", "%.200s", text);
        return;
    }
    struct json_out j;
    bool end = true;
    (void)doc_bool(doc_get(answer, "end"), &end);
    call_json(call, &j);
    json_out_object(&j);
    json_out_kv_u64(&j, "task", ask->ask.task);
    json_out_kv_u64(&j, "index", ask->index);
    json_out_kv_text(&j, "node", ask->node);
    json_out_kv_text(&j, "path", ask->ask.path);
    if (strcmp(ask->ask.what, FILES_ASK_LIST) == 0) {
        json_out_key(&j, "self");
        entry_copy(&j, doc_get(answer, "self") != NULL ? doc_get(answer, "self") : answer);
        entries_copy(&j, answer);
    } else {
        uint64_t size = 0;
        const char *version = "";
        const char *data = "";
        (void)doc_u64(doc_get(answer, "size"), &size);
        (void)doc_text(doc_get(answer, "version"), &version);
        (void)doc_text(doc_get(answer, "data"), &data);
        json_out_kv_u64(&j, "offset", ask->ask.offset);
        json_out_kv_u64(&j, "size", size > INT64_MAX ? INT64_MAX : size);
        json_out_kv_text(&j, "version", version);
        json_out_kv_text(&j, "data", data);
    }
    json_out_kv_bool(&j, "end", end);
    json_out_end(&j);
    call_answer_json(call, 200);
}

static void ask_node(struct call *call)
{
    struct files_ask *ask = call->data;
    if (ask->node == NULL || ask->node[0] == '\0') {
        call_failf(call, ERR_NOT_FOUND, "", "instance %llu.%llu has run on no node yet",
                   (unsigned long long)ask->ask.task, (unsigned long long)ask->index);
        return;
    }
    asks_send(call, ask->node, &ask->ask, answered);
}

/* Reads the question out of the request. False: the call was answered. */
static bool ask_begin(struct call *call)
{
    const bool list = call->route->handler == files_list;
    const uint64_t limit_max = list ? FILES_NAMES_MAX : FILES_PIECE_MAX;
    struct files_ask *ask = arena_new(call_arena(call), struct files_ask, 1);
    task_id id;
    const char *path = call_query(call, "path");
    const char *after = call_query(call, "after");
    *ask = (struct files_ask){
        .ask = {.what = list ? FILES_ASK_LIST : FILES_ASK_READ, .limit = limit_max}};
    if (!call_task_id(call, &id) ||
        !call_query_u64(call, "index", TASK_INSTANCES_MAX, &ask->index) ||
        !call_query_u64(call, "offset", INT64_MAX, &ask->ask.offset) ||
        !call_query_u64(call, "limit", limit_max, &ask->ask.limit)) {
        return false;
    }
    struct error e;
    ask->ask.task = id.v;
    ask->ask.path = path == NULL ? "" : path;
    ask->ask.after = after == NULL ? "" : after;
    if (files_path_check(ask->ask.path, &e) != ERR_OK) {
        (void)str_copy(e.path, sizeof e.path, "path");
        call_fail(call, &e);
        return false;
    }
    if (strlen(ask->ask.after) > FILES_PATH_MAX) {
        call_failf(call, ERR_INVALID, "after", "'after' is longer than %d bytes", FILES_PATH_MAX);
        return false;
    }
    call->data = ask;
    return true;
}

/* False: the task has no such instance, and the call was answered. */
static bool index_known(struct call *call, const struct files_ask *ask, uint64_t instances)
{
    if (ask->index < instances) {
        return true;
    }
    call_failf(call, ERR_NOT_FOUND, "", "task %llu has %llu instance%s, no instance %llu",
               (unsigned long long)ask->ask.task, (unsigned long long)instances,
               instances == 1 ? "" : "s", (unsigned long long)ask->index);
    return false;
}

/* The last attempt of the instance in the JSON of a task that has ended. */
static void history_found(struct call *call, task_id id, struct str json)
{
    struct doc *task;
    struct error e;
    uint64_t best = 0;
    (void)id;
    if (!ask_begin(call)) { /* anew: the history has used call->data */
        return;
    }
    struct files_ask *ask = call->data;
    if (doc_json_parse(call_arena(call), json, &task, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    uint64_t instances = ask->index + 1;
    (void)doc_u64(doc_get(task, "instances"), &instances);
    if (!index_known(call, ask, instances)) {
        return;
    }
    const struct doc *attempts = doc_get(task, "attempts");
    const struct doc *at = attempts != NULL ? attempts->first : NULL;
    for (; at != NULL; at = at->next) {
        uint64_t index = UINT64_MAX;
        uint64_t attempt = 0;
        const char *node = "";
        (void)doc_u64(doc_get(at, "index"), &index);
        (void)doc_u64(doc_get(at, "attempt"), &attempt);
        if (index == ask->index && attempt >= best && doc_text(doc_get(at, "node"), &node)) {
            best = attempt;
            ask->node = arena_str(call_arena(call), node);
            (void)doc_u64(doc_get(at, "instance"), &ask->ask.instance);
        }
    }
    ask_node(call);
}

static void ask_stored(struct call *call)
{
    struct files_ask *ask = call->data;
    const struct core *core = call->api->o.host->core(call->api->o.host->ctx);
    const struct task *task = core == NULL ? NULL : query_task(core, (task_id){ask->ask.task});
    if (task == NULL) {
        history_read(call, (task_id){ask->ask.task}, history_found);
        return;
    }
    if (!index_known(call, ask, task->instance_count)) {
        return;
    }
    const struct instance *instance =
        query_instance(core, (task_id){ask->ask.task}, (uint32_t)ask->index);
    must(instance != NULL);
    ask->ask.instance = (uint64_t)task->array_first + ask->index;
    ask->node = instance->node.v == 0
                    ? ""
                    : arena_str(call_arena(call), query_node_name(core, instance->node));
    ask_node(call);
}

void files_list(struct call *call)
{
    if (ask_begin(call)) {
        call_when_stored(call, ask_stored);
    }
}

void files_read(struct call *call)
{
    if (ask_begin(call)) {
        call_when_stored(call, ask_stored);
    }
}
