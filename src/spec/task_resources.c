/* task_resources.c - the request of an instance. `slots` and `gpu` are one counter. `gpu`,
 * `gpu_memory`, `devices` and a fraction of a slot need a node with devices.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/resources_text.h"
#include "spec/task_internal.h"

#include "base/amount.h"
#include "base/name.h"
#include "core/model/limits.h"

#include <string.h>

enum { WHOLE = 1000 };

/* Reads an amount in thousandths: a JSON number or a plain YAML scalar. */
static bool asked_milli(const struct doc_value *v, int64_t *ret)
{
    static const char wanted[] = "an amount (a number of 0 or more)";
    if (v->doc->kind == DOC_NULL) {
        fields_problem(v, "an amount is missing, like %s: 1", v->key);
        return false;
    }
    if (v->doc->kind == DOC_STRING && v->doc->quoted) {
        fields_wanted(v, wanted);
        return false;
    }
    return fields_value_amount(v, amount_milli, wanted, ret);
}

static int64_t *amount_in(const struct doc_value *v, void *draft)
{
    return (int64_t *)((char *)draft + v->field->offset);
}

static void milli_read(const struct doc_value *v, void *draft)
{
    (void)asked_milli(v, amount_in(v, draft));
}

static void bytes_read(const struct doc_value *v, void *draft)
{
    (void)fields_value_amount(v, amount_bytes, "a size like 64Gi or a number of bytes",
                              amount_in(v, draft));
}

/* Reads slots. An amount above one device must be a whole number. */
static void slots_read(const struct doc_value *v, void *draft)
{
    int64_t milli;
    if (!asked_milli(v, &milli)) {
        return;
    }
    if (milli > WHOLE && milli % WHOLE != 0) {
        fields_problem(
            v,
            "a number above 1 must be whole (a number below 1 is a part of one device), not '%s'",
            v->doc->text.p);
    } else {
        *amount_in(v, draft) = milli;
    }
}

static void named_read(const struct doc_value *v, struct task_draft *draft)
{
    struct task_spec *spec = &draft->spec;
    struct error e;
    int64_t milli;
    if (!fields_key_ok(v, name_check(v->doc->key, "a resource", &e), &e) ||
        !asked_milli(v, &milli)) {
        return;
    }
    if (spec->resource_count == TASK_RESOURCES_MAX) {
        fields_problem(v, "a task asks for at most %d named resources", TASK_RESOURCES_MAX);
        return;
    }
    if (draft->named == NULL) {
        draft->named = arena_new(v->in->arena, struct named_amount, TASK_RESOURCES_MAX);
        spec->resources = draft->named;
    }
    draft->named[spec->resource_count++] = (struct named_amount){v->key, milli};
    v->in->text_bytes += v->doc->key.len + 1;
}

#define IN_DRAFT(member) offsetof(struct task_draft, member)

/* Every other name is that of a named resource. */
static const struct field known_fields[] = {
    {.name = "slots", .read = slots_read, .offset = IN_DRAFT(spec.slots_milli)},
    {.name = "gpu", .read = slots_read, .offset = IN_DRAFT(gpu_milli)},
    {.name = "cpu", .read = milli_read, .offset = IN_DRAFT(spec.cpu_milli)},
    {.name = "memory", .read = bytes_read, .offset = IN_DRAFT(spec.memory_bytes)},
    {.name = "gpu_memory", .read = bytes_read, .offset = IN_DRAFT(spec.gpu_memory_bytes)},
    FIELDS_COUNT("gpu_devices", struct task_draft, spec.gpu_devices, 1, NODE_DEVICES_MAX),
    {.name = "resource_pool", .read = task_resources_pool_read},
    {0},
};

void task_resources_read(const struct doc_value *v, void *draft)
{
    if (v->doc->kind != DOC_MAP) {
        fields_problem(v, "a map of names and amounts is wanted, like {slots: 1}, not %s",
                       fields_what(v->doc));
        return;
    }
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        item.field = known_fields;
        while (item.field->name != NULL && strcmp(item.field->name, item.key) != 0) {
            item.field++;
        }
        if (item.field->name == NULL) {
            named_read(&item, draft);
        } else {
            item.field->read(&item, draft);
        }
    }
}

void task_resources_devices_read(const struct doc_value *v, void *object)
{
    if (v->doc->kind != DOC_LIST) {
        fields_problem(v, "a list of device indices is wanted, like [0, 1], not %s",
                       fields_what(v->doc));
        return;
    }
    uint64_t mask = 0;
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        uint64_t device;
        if (!fields_value_u64(&item, 0, NODE_DEVICES_MAX - 1, &device)) {
            return;
        }
        if ((mask >> device & 1) != 0) {
            fields_problem(&item, "device %u comes twice", (unsigned)device);
            return;
        }
        mask |= (uint64_t)1 << device;
    }
    ((struct task_draft *)object)->spec.device_mask = mask;
}

bool task_resources_pools_once(const struct doc_value *v, struct task_draft *draft)
{
    if (draft->pools != NULL) {
        fields_problem(v, "the pool is given twice (also in line %u)", draft->pools->line);
        return false;
    }
    draft->pools = v->doc;
    return true;
}

void task_resources_pool_read(const struct doc_value *v, void *object)
{
    struct task_draft *draft = object;
    const char *name;
    if (v->doc->kind != DOC_NULL && task_resources_pools_once(v, draft) &&
        fields_value_name(v, "a pool", &name)) {
        draft->spec.pools = arena_dup(v->in->arena, &name, sizeof(char *));
        draft->spec.pool_count = 1;
    }
}

/* True when the request is for a part of each device, by fraction or by memory. */
static bool asks_parts(const struct task_spec *spec)
{
    return spec->slots_milli == ASK_NOTHING ? spec->gpu_memory_bytes > 0
                                            : spec->slots_milli > 0 && spec->slots_milli < WHOLE;
}

/* Checks `devices`. Chosen devices are whole, unless the request is for a part of each device. */
static void devices_finish(const struct doc_value *task, struct task_spec *spec)
{
    const int count = __builtin_popcountll(spec->device_mask);
    const bool parts = asks_parts(spec);
    spec->needs_gpu = true;
    if (parts ? spec->gpu_devices != 0 && (int)spec->gpu_devices != count
              : spec->slots_milli != ASK_NOTHING && spec->slots_milli != (int64_t)count * WHOLE) {
        fields_problem_in(task, "devices", "names %d devices, but %s another number", count,
                          parts ? "gpu_devices is" : "slots is");
        return;
    }
    if (!parts) {
        spec->slots_milli = (int64_t)count * WHOLE;
    }
}

void task_resources_finish(const struct doc_value *task, struct task_draft *draft)
{
    struct task_spec *spec = &draft->spec;
    const struct doc_value resources = fields_child(task, "resources");
    if (draft->gpu_milli != ASK_NOTHING) {
        if (spec->slots_milli != ASK_NOTHING && spec->slots_milli != draft->gpu_milli) {
            fields_problem_in(&resources, "gpu",
                              "gpu and slots are the same thing; give one of them");
            return;
        }
        spec->slots_milli = draft->gpu_milli;
        spec->needs_gpu = draft->gpu_milli > 0;
    }
    if (spec->slots_milli > 0 && spec->slots_milli < WHOLE) {
        spec->needs_gpu = true; /* only a device can be divided */
    }
    if (spec->device_mask != 0) {
        devices_finish(task, spec);
    }
    if (spec->gpu_memory_bytes > 0) {
        spec->needs_gpu = true;
        if (spec->slots_milli == 0) {
            fields_problem_in(&resources, "gpu_memory",
                              "needs at least a part of a device, but slots is 0");
        }
    }
    if (spec->gpu_devices != 0 && !asks_parts(spec)) {
        fields_problem_in(
            &resources, "gpu_devices",
            "it needs a request for a part of a device: gpu below 1, or gpu_memory without gpu");
    }
}
