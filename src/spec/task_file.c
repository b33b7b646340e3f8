/* task_file.c - the fields of a task.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/object_read.h"
#include "spec/task_file.h"

#include "base/amount.h"
#include "spec/resources_text.h"
#include "spec/task_internal.h"
#include "core/model/names.h"

#include <string.h>

void task_file_spec_init(struct task_spec *spec)
{
    object_init(&task_object, spec);
    spec->slots_milli = ASK_NOTHING;
    spec->cpu_milli = ASK_NOTHING;
    spec->memory_bytes = ASK_NOTHING;
}

bool task_file_kind_preemptible(enum task_kind kind)
{
    return kind == TASK_EXPERIMENT || kind == TASK_COMMAND;
}

struct task_draft *task_file_draft(struct arena *arena)
{
    struct task_draft *draft = arena_new(arena, struct task_draft, 1);
    task_file_spec_init(&draft->spec);
    draft->gpu_milli = ASK_NOTHING;
    return draft;
}

/* ---- lists of texts ---- */

/* Reads a list of 1 to `most` texts, or names of what `named` says; NULL: a problem was noted.
 * `hint` ends the message about a value that is no list. */
static const char *const *texts_read(const struct doc_value *v, unsigned most, const char *named,
                                     const char *hint)
{
    if (v->doc->kind != DOC_LIST) {
        fields_problem(v, "a list of texts is wanted, not %s%s", fields_what(v->doc), hint);
        return NULL;
    }
    if (v->doc->count < 1 || v->doc->count > most) {
        fields_problem(v, "a list of 1 to %u texts is wanted, not %u", most, v->doc->count);
        return NULL;
    }
    const char **texts = arena_new(v->in->arena, const char *, v->doc->count + 1);
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        const char **text = &texts[item.index];
        if (named == NULL && item.doc->kind == DOC_NUMBER) {
            /* an argument like 8080 needs no quotes */
            v->in->text_bytes += item.doc->text.len + 1;
            *text = item.doc->text.p;
        } else if (!(named != NULL ? fields_value_name(&item, named, text)
                                   : fields_value_text(&item, TASK_SPEC_BYTES_MAX, text))) {
            return NULL;
        }
    }
    return texts;
}

static void command_read(const struct doc_value *v, void *object)
{
    struct task_draft *draft = object;
    const char *const *argv = texts_read(
        v, TASK_ARGS_MAX, NULL, ", like [python, train.py]; a shell line goes into 'entrypoint'");
    if (argv != NULL && argv[0][0] == '\0') {
        const struct doc_value program = fields_first(v);
        fields_problem(&program, "the program's name is empty");
    } else if (argv != NULL) {
        draft->spec.argv = argv;
        draft->spec.argv_count = v->doc->count;
    }
}

/* Reads a shell line, or an argv, which Determined allows too. */
static void entrypoint_read(const struct doc_value *v, void *object)
{
    struct task_draft *draft = object;
    const char *line;
    if (v->doc->kind == DOC_LIST) {
        command_read(v, object);
        return;
    }
    if (!fields_value_text(v, TASK_SPEC_BYTES_MAX, &line)) {
        return;
    }
    if (line[0] == '\0') {
        fields_problem(v, "it is empty; a shell command is wanted");
        return;
    }
    const char *const argv[] = {"sh", "-c", line};
    draft->spec.argv = arena_dup(v->in->arena, argv, sizeof argv);
    draft->spec.argv_count = sizeof argv / sizeof argv[0];
}

static void pools_read(const struct doc_value *v, void *object)
{
    struct task_draft *draft = object;
    if (v->doc->kind == DOC_STRING) {
        task_resources_pool_read(v, object);
        return;
    }
    const char *const *pools =
        task_resources_pools_once(v, draft) ? texts_read(v, TASK_POOLS_MAX, "a pool", "") : NULL;
    if (pools != NULL) {
        draft->spec.pools = pools;
        draft->spec.pool_count = v->doc->count;
    }
}

/* ---- maps and numbers ---- */

/* Reads the value of an environment variable as text. Numbers and booleans are taken as they are
 * written. */
static bool env_value(const struct doc_value *v, struct str *ret)
{
    switch (v->doc->kind) {
    case DOC_STRING:
    case DOC_NUMBER:
        *ret = v->doc->text;
        return true;
    case DOC_BOOL:
        *ret = str_of(v->doc->yes ? "true" : "false");
        return true;
    case DOC_NULL:
        *ret = str_of("");
        return true;
    case DOC_LIST:
    case DOC_MAP:
        break;
    }
    fields_wanted(v, "a text");
    return false;
}

static void env_read(const struct doc_value *v, void *object)
{
    struct task_draft *draft = object;
    if (!fields_bounded(v, DOC_MAP, TASK_ENV_MAX, "names and values", "")) {
        return;
    }
    const char **env = arena_new(v->in->arena, const char *, v->doc->count + 1);
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        const struct str key = item.doc->key;
        struct str value;
        struct error e;
        if (!fields_key_ok(&item, resources_text_env_name(key, &e), &e) ||
            !env_value(&item, &value)) {
            return;
        }
        size_t len = key.len + 1 + value.len;
        char *text = arena_alloc(v->in->arena, len + 1);
        memcpy(text, key.p, key.len);
        text[key.len] = '=';
        memcpy(text + key.len + 1, value.p, value.len);
        v->in->text_bytes += len + 1;
        env[item.index] = text;
    }
    draft->spec.env = env;
    draft->spec.env_count = v->doc->count;
}

static void min_instances_read(const struct doc_value *v, void *object)
{
    struct task_draft *draft = object;
    (void)fields_value_u32(v, 1, TASK_INSTANCES_MAX, &draft->spec.min_instances);
}

static void min_groups_read(const struct doc_value *v, void *object)
{
    struct task_draft *draft = object;
    (void)fields_value_u32(v, 1, TASK_GROUPS_MAX, &draft->spec.min_groups);
}

static void gang_read(const struct doc_value *v, void *object)
{
    (void)fields_value_bool(v, &((struct task_draft *)object)->spec.gang);
}

static void array_read(const struct doc_value *v, void *object)
{
    struct task_spec *spec = &((struct task_draft *)object)->spec;
    struct error e;
    if (v->doc->kind != DOC_STRING) {
        fields_wanted(v, "a range like \"0-99\"");
        return;
    }
    enum err r = resources_text_array(v->doc->text, &spec->array_first, &spec->instances, &e);
    (void)fields_ok(v, r, &e);
}

/* Reads a dependency: 7, or "7:any". */
static bool depend_read(const struct doc_value *v, uint64_t *ret, bool *ret_any)
{
    struct str how;
    struct str id = str_cut(v->doc->text, ':', &how);
    if (v->doc->kind != DOC_STRING || how.p == NULL) {
        return fields_value_u64(v, 1, INT64_MAX, ret);
    }
    *ret_any = str_is(how, "any");
    if ((!*ret_any && !str_is(how, "success")) || !str_to_u64(id, ret) || *ret == 0 ||
        *ret > INT64_MAX) {
        fields_problem(
            v, "a task number is wanted, or \"12:any\" if task 12 need not succeed, not '%.60s'",
            v->doc->text.p);
        return false;
    }
    return true;
}

static void depends_read(const struct doc_value *v, void *object)
{
    struct task_spec *spec = &((struct task_draft *)object)->spec;
    if (!fields_bounded(v, DOC_LIST, TASK_DEPENDS_MAX, "task numbers", "")) {
        return;
    }
    uint64_t *ids = arena_new(v->in->arena, uint64_t, v->doc->count + 1);
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        bool any = false;
        if (!depend_read(&item, &ids[item.index], &any)) {
            return;
        }
        spec->depends_any |= (uint64_t)any << item.index;
    }
    spec->depends_on = ids;
    spec->depends_count = v->doc->count;
}

/* ---- the table ---- */

/* The fields that have a reader of their own, each with its reader. */
#define READ_command command_read
#define READ_env env_read
#define READ_pools pools_read
#define READ_depends_on depends_read
#define READ_resources task_resources_read
#define READ_instances object_read_field
#define READ_array array_read
#define READ_gang gang_read
#define READ_preemptible object_read_field
#define READ_groups task_groups_read
#define READ_fallback task_fallback_read
#define READ_topology task_groups_topology_read
#define READ_devices task_resources_devices_read
#define READ_min_instances min_instances_read
#define READ_min_groups min_groups_read
#define READ_pool task_resources_pool_read
#define READ_entrypoint entrypoint_read

#define ROW_TOP(id)                                                                                \
    {.name = #id, .read = object_read_field, .row = &task_object_fields[TASK_FIELD_##id]},
#define ROW_OWN(id) {.name = #id, .read = READ_##id, .row = &task_object_fields[TASK_FIELD_##id]},
#define ROW_HIDDEN(id)
#define FIELD(id, kept, tag, change, place, flag) ROW_##place(id)

const struct field task_file_fields[] = {
#include "core/model/task_fields.def"
    {.name = "user",
     .note = "the token of the request says who the user is; the field cannot be given"},
    {.name = "slots", .note = "it belongs under resources, like resources: {slots: 1}"},
    {.name = "gpu", .note = "it belongs under resources, like resources: {gpu: 1}"},
    {.name = "cpu", .note = "it belongs under resources, like resources: {cpu: 2}"},
    {.name = "memory", .note = "it belongs under resources, like resources: {memory: 4Gi}"},
    {0},
};

static void health_finish(const struct doc_value *v, const struct task_spec *spec)
{
    if (spec->health[0] == '\0') {
        return;
    }
    if (spec->health[0] != '/' && strcmp(spec->health, HEALTH_TCP) != 0) {
        fields_problem_in(v, "health", "a path like /healthz is wanted, or tcp, not '%.60s'",
                          spec->health);
    } else if (strpbrk(spec->health, " \t\r\n") != NULL) {
        fields_problem_in(v, "health", "a path has no spaces; write %%20");
    } else if (spec->kind != TASK_SERVICE) {
        fields_problem_in(v, "health", "only a task of kind service has a health check");
    }
    if (spec->health_every_ms < HEALTH_EVERY_MS_LEAST) {
        fields_problem_in(v, "health_every", "at least %d s are wanted",
                          HEALTH_EVERY_MS_LEAST / 1000);
    }
    if (spec->health_timeout_ms == 0) {
        fields_problem_in(v, "health_timeout", "no answer comes within no time");
    } else if (spec->health_timeout_ms > HEALTH_TIMEOUT_MS_MAX) {
        fields_problem_in(v, "health_timeout", "at most %d s are wanted",
                          HEALTH_TIMEOUT_MS_MAX / 1000);
    }
    if (spec->health_failures == 0) {
        fields_problem_in(v, "health_failures", "1 or more is wanted");
    }
}

/* Checks rules that involve several fields, and derives what follows from them together. */
static void task_finish(const struct doc_value *v, struct task_draft *draft)
{
    struct task_spec *spec = &draft->spec;
    const bool command = fields_given(v, "command") != NULL;
    const bool array = fields_given(v, "array") != NULL;
    const bool least = fields_given(v, "min_instances") != NULL;
    if (fields_given(v, "preemptible") == NULL) {
        spec->preemptible = task_file_kind_preemptible(spec->kind);
    }
    if (command && fields_given(v, "entrypoint") != NULL) {
        fields_problem_in(v, "command", "command and entrypoint are both given");
    } else if (!command && fields_given(v, "entrypoint") == NULL) {
        fields_problem_in(v, "command",
                          "it is missing: what to run, like [\"python\", \"train.py\"]");
    }
    if (array && fields_given(v, "instances") != NULL) {
        fields_problem_in(v, "array", "array and instances are both given");
    }
    if (least && spec->min_instances > spec->instances) {
        fields_problem_in(v, "min_instances", "it is above instances, which is %u",
                          spec->instances);
    }
    task_groups_finish(v, draft);
    const bool close = spec->topology.required != NULL || spec->topology.preferred != NULL;
    spec->gang = spec->gang || least || (close && spec->instances > 1);
    if (array && spec->gang) {
        fields_problem_in(v, "array", "an array cannot be a gang");
    }
    if (spec->gang && spec->restart == RESTART_ALWAYS) {
        fields_problem_in(v, "restart",
                          "the instances of a gang end together; on-failure starts them again");
    }
    health_finish(v, spec);
    task_resources_finish(v, draft);
    if (v->in->text_bytes > TASK_SPEC_BYTES_MAX) {
        fields_problem(v,
                       "all texts of the task together are %zu bytes; at most %d are "
                       "allowed",
                       v->in->text_bytes, TASK_SPEC_BYTES_MAX);
    }
}

void task_file_value_read(const struct doc_value *v, void *ret)
{
    struct task_draft *draft = task_file_draft(v->in->arena);
    v->in->text_bytes = 0;
    (void)fields_read(v, task_file_fields, draft);
    if (v->doc->kind == DOC_MAP && !v->in->partial) {
        task_finish(v, draft);
    }
    *(struct task_spec *)ret = draft->spec;
}

static void tasks_read(const struct doc_value *v, void *object)
{
    struct task_file *list = object;
    const bool several = v->doc->kind == DOC_LIST;
    if (several && (v->doc->count < 1 || v->doc->count > SUBMIT_TASKS_MAX)) {
        fields_problem(v, "1 to %d tasks are wanted, not %u", SUBMIT_TASKS_MAX, v->doc->count);
        return;
    }
    list->count = several ? v->doc->count : 1;
    struct task_spec *specs = arena_new(v->in->arena, struct task_spec, list->count);
    list->specs = specs;
    if (!several) {
        task_file_value_read(v, specs);
        return;
    }
    for (struct doc_value item = fields_first(v);
         item.doc != NULL && v->in->problems->count < PROBLEMS_MAX; fields_next(&item)) {
        task_file_value_read(&item, &specs[item.index]);
    }
}

enum err task_file_spec_read(const struct doc *doc, struct arena *arena, struct task_spec *ret,
                             struct error *e)
{
    return fields_document(doc, arena, task_file_value_read, ret, sizeof *ret, e);
}

enum err task_file_specs_read(const struct doc *doc, struct arena *arena,
                              const struct task_spec **ret, uint32_t *ret_count, struct error *e)
{
    struct task_file list = {0};
    enum err r = fields_document(doc, arena, tasks_read, &list, sizeof list, e);
    if (r == ERR_OK) {
        *ret = list.specs;
        *ret_count = list.count;
    }
    return r;
}

enum err task_file_field_check(const struct doc *field, struct arena *arena, struct error *e)
{
    struct problems problems = {0};
    struct reader in = {.arena = arena, .problems = &problems};
    const struct doc_value task = {.in = &in};
    struct doc_value v = {.in = &in, .doc = field, .up = &task, .key = field->key.p};
    v.field = fields_find(&v, task_file_fields);
    if (v.field != NULL && v.field->read != NULL) {
        v.field->read(&v, task_file_draft(arena));
    }
    return problems.total == 0 ? ERR_OK : fail(e, ERR_INVALID, "%s", problems.at[0].text);
}

enum err task_file_read(struct str text, const char *file, struct arena *arena,
                        struct task_file *ret, struct problems *problems, struct error *e)
{
    struct doc *doc;
    *problems = (struct problems){0};
    if (doc_yaml_parse(arena, text, &doc, e) != ERR_OK) {
        problem_syntax(problems, arena, e);
        return problem_file_error(problems, file, e);
    }
    struct reader in = {.arena = arena, .problems = problems, .partial = ret->partial};
    struct task_file tasks = {.doc = doc, .partial = ret->partial};
    tasks_read(&(struct doc_value){.in = &in, .doc = doc}, &tasks);
    enum err r = problem_file_error(problems, file, e);
    if (r == ERR_OK) {
        *ret = tasks;
    }
    return r;
}
