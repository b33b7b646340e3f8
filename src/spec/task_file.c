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
    object_init(&task_object, spec, sizeof *spec);
    spec->slots_milli = ASK_NOTHING;
    spec->cpu_milli = ASK_NOTHING;
    spec->memory_bytes = ASK_NOTHING;
}

bool task_file_kind_preemptible(enum task_kind kind)
{
    return kind == TASK_EXPERIMENT || kind == TASK_COMMAND;
}

/* ---- lists of texts ---- */

/* Reads a list of 1 to the row's `high` texts; NULL: a problem was noted. `hint` ends the
 * message about a value that is no list. */
static const char *const *texts_read(struct reader *in, const struct doc_place *place,
                                     const struct doc *doc, const struct field *field,
                                     const char *hint, uint32_t *ret_count)
{
    const int64_t most = field->row->record.high;
    if (doc->kind != DOC_LIST) {
        fields_problem(in, place, doc, "a list of texts is wanted, not %s%s", fields_what(doc),
                       hint);
        return NULL;
    }
    if (doc->count < 1 || doc->count > most) {
        fields_problem(in, place, doc, "a list of 1 to %d texts is wanted, not %u", (int)most,
                       doc->count);
        return NULL;
    }
    const char **texts = arena_new(in->arena, const char *, doc->count + 1);
    uint32_t count = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = count};
        bool number = item->kind == DOC_NUMBER; /* an argument like 8080 needs no quotes */
        if (number) {
            in->text_bytes += item->text.len + 1;
            texts[count] = item->text.p;
        } else if (!fields_value_text(in, &at, item, TASK_SPEC_BYTES_MAX, &texts[count])) {
            return NULL;
        }
        count++;
    }
    *ret_count = count;
    return texts;
}

static void command_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object)
{
    struct task_draft *draft = object;
    draft->command = doc;
    uint32_t count;
    const char *const *argv =
        texts_read(in, place, doc, field,
                   ", like [python, train.py]; a shell line goes into 'entrypoint'", &count);
    if (argv == NULL) {
        return;
    }
    if (argv[0][0] == '\0') {
        struct doc_place at = {.up = place, .index = 0};
        fields_problem(in, &at, doc->first, "the program's name is empty");
        return;
    }
    draft->spec.argv = argv;
    draft->spec.argv_count = count;
}

/* Reads a shell line, or an argv, which Determined allows too. */
static void entrypoint_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const struct field *field, void *object)
{
    (void)field;
    struct task_draft *draft = object;
    if (doc->kind == DOC_LIST) {
        const struct field command = {.row = &task_object_fields[TASK_FIELD_command]};
        command_read(in, place, doc, &command, object);
        draft->command = NULL;
        draft->entrypoint = doc;
        return;
    }
    draft->entrypoint = doc;
    const char *line;
    if (!fields_value_text(in, place, doc, TASK_SPEC_BYTES_MAX, &line)) {
        return;
    }
    if (line[0] == '\0') {
        fields_problem(in, place, doc, "it is empty; a shell command is wanted");
        return;
    }
    const char **argv = arena_new(in->arena, const char *, 4);
    argv[0] = "sh";
    argv[1] = "-c";
    argv[2] = line;
    draft->spec.argv = argv;
    draft->spec.argv_count = 3;
}

static void pools_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object)
{
    struct task_draft *draft = object;
    if (doc->kind == DOC_STRING) {
        task_resources_pool_read(in, place, doc, field, object);
        return;
    }
    if (draft->pools != NULL) {
        fields_problem(in, place, doc, "the pool is given twice (also in line %u)",
                       draft->pools->line);
        return;
    }
    draft->pools = doc;
    uint32_t count;
    const char *const *pools = texts_read(in, place, doc, field, "", &count);
    uint32_t index = 0;
    for (const struct doc *item = doc->first; pools != NULL && item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = index++};
        const char *name;
        if (!fields_value_name(in, &at, item, "a pool", &name)) {
            return;
        }
    }
    if (pools != NULL) {
        draft->spec.pools = pools;
        draft->spec.pool_count = count;
    }
}

/* ---- maps and numbers ---- */

/* Reads the value of an environment variable as text. Numbers and booleans are taken as they are
 * written. */
static bool env_value(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      struct str *ret)
{
    switch (doc->kind) {
    case DOC_STRING:
    case DOC_NUMBER:
        *ret = doc->text;
        return true;
    case DOC_BOOL:
        *ret = str_of(doc->yes ? "true" : "false");
        return true;
    case DOC_NULL:
        *ret = str_of("");
        return true;
    case DOC_LIST:
    case DOC_MAP:
        break;
    }
    fields_problem(in, place, doc, "a text is wanted, not %s", fields_what(doc));
    return false;
}

static void env_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                     const struct field *field, void *object)
{
    struct task_draft *draft = object;
    (void)field;
    if (doc->kind != DOC_MAP || doc->count > TASK_ENV_MAX) {
        fields_problem(in, place, doc, "a map of at most %d names and values is wanted, not %s",
                       TASK_ENV_MAX, doc->kind == DOC_MAP ? "a larger one" : fields_what(doc));
        return;
    }
    const char **env = arena_new(in->arena, const char *, doc->count + 1);
    uint32_t count = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .key = item->key.p};
        struct str value;
        struct error e;
        if (resources_text_env_name(item->key, &e) != ERR_OK) {
            fields_problem(in, &at, item, "%s", e.text);
            return;
        }
        if (!env_value(in, &at, item, &value)) {
            return;
        }
        size_t len = item->key.len + 1 + value.len;
        char *text = arena_alloc(in->arena, len + 1);
        memcpy(text, item->key.p, item->key.len);
        text[item->key.len] = '=';
        memcpy(text + item->key.len + 1, value.p, value.len);
        in->text_bytes += len + 1;
        env[count++] = text;
    }
    draft->spec.env = env;
    draft->spec.env_count = count;
}

static void preemptible_read(struct reader *in, const struct doc_place *place,
                             const struct doc *doc, const struct field *field, void *object)
{
    struct task_draft *draft = object;
    draft->preemptible = doc;
    object_read_field(in, place, doc, field, object);
}

static void instances_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           const struct field *field, void *object)
{
    struct task_draft *draft = object;
    draft->instances = doc;
    object_read_field(in, place, doc, field, object);
}

static void count_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       uint32_t most, uint32_t *ret)
{
    uint64_t value;
    if (fields_value_u64(in, place, doc, 1, most, &value)) {
        *ret = (uint32_t)value;
    }
}

static void min_instances_read(struct reader *in, const struct doc_place *place,
                               const struct doc *doc, const struct field *field, void *object)
{
    (void)field;
    struct task_draft *draft = object;
    draft->min_instances = doc;
    count_read(in, place, doc, TASK_INSTANCES_MAX, &draft->spec.min_instances);
}

static void gang_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      const struct field *field, void *object)
{
    (void)field;
    if (!doc_bool(doc, &((struct task_draft *)object)->spec.gang)) {
        fields_problem(in, place, doc, "true or false is wanted, not %s", fields_what(doc));
    }
}

static void array_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object)
{
    (void)field;
    struct task_draft *draft = object;
    struct error e;
    draft->array = doc;
    if (doc->kind != DOC_STRING) {
        fields_problem(in, place, doc, "a range like \"0-99\" is wanted, not %s", fields_what(doc));
    } else if (resources_text_array(doc->text, &draft->spec.array_first, &draft->spec.instances,
                                    &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
    }
}

/* Reads a dependency: 7, or "7:any". */
static bool depend_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        uint64_t *ret, bool *ret_any)
{
    struct str how;
    struct str id = str_cut(doc->text, ':', &how);
    if (doc->kind != DOC_STRING || how.p == NULL) {
        return fields_value_u64(in, place, doc, 1, INT64_MAX, ret);
    }
    *ret_any = str_is(how, "any");
    if ((!*ret_any && !str_is(how, "success")) || !str_to_u64(id, ret) || *ret == 0 ||
        *ret > INT64_MAX) {
        fields_problem(
            in, place, doc,
            "a task number is wanted, or \"12:any\" if task 12 need not succeed, not '%.60s'",
            doc->text.p);
        return false;
    }
    return true;
}

static void depends_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object)
{
    struct task_draft *draft = object;
    (void)field;
    if (doc->kind != DOC_LIST || doc->count > TASK_DEPENDS_MAX) {
        fields_problem(in, place, doc, "a list of at most %d task numbers is wanted, not %s",
                       TASK_DEPENDS_MAX, doc->kind == DOC_LIST ? "a longer one" : fields_what(doc));
        return;
    }
    uint64_t *ids = arena_new(in->arena, uint64_t, doc->count + 1);
    uint32_t count = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = count};
        bool any = false;
        if (!depend_read(in, &at, item, &ids[count], &any)) {
            return;
        }
        draft->spec.depends_any |= (uint64_t)any << count++;
    }
    draft->spec.depends_on = ids;
    draft->spec.depends_count = count;
}

/* ---- the table ---- */

/* The fields that have a reader of their own, each with its reader. */
#define READ_command command_read
#define READ_env env_read
#define READ_pools pools_read
#define READ_depends_on depends_read
#define READ_resources task_resources_read
#define READ_instances instances_read
#define READ_array array_read
#define READ_gang gang_read
#define READ_preemptible preemptible_read
#define READ_groups task_groups_read
#define READ_topology task_groups_topology_read
#define READ_devices task_resources_devices_read
#define READ_min_instances min_instances_read
#define READ_min_groups task_groups_min_read
#define READ_pool task_resources_pool_read
#define READ_entrypoint entrypoint_read

#define ROW_TOP(id)                                                                                \
    {.name = #id, .read = object_read_field, .row = &task_object_fields[TASK_FIELD_##id]},
#define ROW_OWN(id) {.name = #id, .read = READ_##id, .row = &task_object_fields[TASK_FIELD_##id]},
#define ROW_HIDDEN(id)
#define FIELD(id, kept, tag, change, place, flag) ROW_##place(id)

const struct field task_file_fields[] = {
#include "core/model/task_fields.def"
    {.name = "fallback", .note = "fallback does not exist yet; a task runs in one pool"},
    {.name = "user",
     .note = "the token of the request says who the user is; the field cannot be given"},
    {.name = "slots", .note = "it belongs under resources, like resources: {slots: 1}"},
    {.name = "gpu", .note = "it belongs under resources, like resources: {gpu: 1}"},
    {.name = "cpu", .note = "it belongs under resources, like resources: {cpu: 2}"},
    {.name = "memory", .note = "it belongs under resources, like resources: {memory: 4Gi}"},
    {0},
};

/* Checks rules that involve several fields, and derives what follows from them together. */
static void task_finish(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        struct task_draft *draft)
{
    struct task_spec *spec = &draft->spec;
    struct doc_place command = {.up = place, .key = "command"};
    struct doc_place array = {.up = place, .key = "array"};
    if (draft->preemptible == NULL) {
        spec->preemptible = task_file_kind_preemptible(spec->kind);
    }
    if (draft->command != NULL && draft->entrypoint != NULL) {
        fields_problem(in, &command, draft->command, "command and entrypoint are both given");
    } else if (draft->command == NULL && draft->entrypoint == NULL) {
        fields_problem(in, &command, doc,
                       "it is missing: what to run, like [\"python\", \"train.py\"]");
    }
    if (draft->array != NULL && draft->instances != NULL) {
        fields_problem(in, &array, draft->array, "array and instances are both given");
    }
    if (draft->min_instances != NULL && spec->min_instances > spec->instances) {
        struct doc_place min = {.up = place, .key = "min_instances"};
        fields_problem(in, &min, draft->min_instances, "it is above instances, which is %u",
                       spec->instances);
    }
    task_groups_finish(in, place, draft);
    const bool close = spec->topology.required != NULL || spec->topology.preferred != NULL;
    spec->gang = spec->gang || draft->min_instances != NULL || (close && spec->instances > 1);
    if (draft->array != NULL && spec->gang) {
        fields_problem(in, &array, draft->array, "an array cannot be a gang");
    }
    task_resources_finish(in, place, doc, draft);
    if (in->text_bytes > TASK_SPEC_BYTES_MAX) {
        fields_problem(in, place, doc,
                       "all texts of the task together are %zu bytes; at most %d are "
                       "allowed",
                       in->text_bytes, TASK_SPEC_BYTES_MAX);
    }
}

static void task_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      struct task_spec *ret)
{
    struct task_draft draft = {0};
    task_file_spec_init(&draft.spec);
    in->text_bytes = 0;
    fields_read(in, place, doc, task_file_fields, &draft);
    if (doc->kind == DOC_MAP) {
        task_finish(in, place, doc, &draft);
    }
    *ret = draft.spec;
}

static void tasks_read(struct reader *in, const struct doc *doc, const struct task_spec **ret,
                       uint32_t *ret_count)
{
    if (doc->kind != DOC_LIST) {
        struct task_spec *spec = arena_new(in->arena, struct task_spec, 1);
        task_read(in, NULL, doc, spec);
        *ret = spec;
        *ret_count = 1;
        return;
    }
    if (doc->count < 1 || doc->count > SUBMIT_TASKS_MAX) {
        fields_problem(in, NULL, doc, "1 to %d tasks are wanted, not %u", SUBMIT_TASKS_MAX,
                       doc->count);
        return;
    }
    struct task_spec *specs = arena_new(in->arena, struct task_spec, doc->count);
    uint32_t count = 0;
    for (const struct doc *item = doc->first; item != NULL && in->problems->count < PROBLEMS_MAX;
         item = item->next) {
        struct doc_place at = {.index = count};
        task_read(in, &at, item, &specs[count++]);
    }
    *ret = specs;
    *ret_count = count;
}

enum err task_file_spec_read(const struct doc *doc, struct arena *arena, struct task_spec *ret,
                             struct error *e)
{
    struct problems problems = {0};
    struct reader in = {.arena = arena, .problems = &problems};
    struct task_spec spec;
    task_read(&in, NULL, doc, &spec);
    if (problems.total == 0) {
        *ret = spec;
    }
    return problem_error(&problems, e);
}

enum err task_file_specs_read(const struct doc *doc, struct arena *arena,
                              const struct task_spec **ret, uint32_t *ret_count, struct error *e)
{
    struct problems problems = {0};
    struct reader in = {.arena = arena, .problems = &problems};
    const struct task_spec *specs = NULL;
    uint32_t count = 0;
    tasks_read(&in, doc, &specs, &count);
    if (problems.total == 0) {
        *ret = specs;
        *ret_count = count;
    }
    return problem_error(&problems, e);
}

enum err task_file_read(struct str text, const char *file, struct arena *arena,
                        const struct task_spec **ret, uint32_t *ret_count, struct error *e)
{
    struct doc *doc;
    if (doc_yaml_parse(arena, text, &doc, e) != ERR_OK) {
        return fail_in(e, "%s", file);
    }
    struct problems problems = {0};
    struct reader in = {.arena = arena, .problems = &problems};
    const struct task_spec *specs = NULL;
    uint32_t count = 0;
    tasks_read(&in, doc, &specs, &count);
    if (problems.total == 0) {
        *ret = specs;
        *ret_count = count;
    }
    return problem_file_error(&problems, file, e);
}
