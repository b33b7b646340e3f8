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
static bool asked_milli(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        int64_t *ret)
{
    struct error e;
    bool number = doc->kind == DOC_NUMBER || (doc->kind == DOC_STRING && !doc->quoted);
    if (doc->kind == DOC_NULL) {
        fields_problem(in, place, doc, "an amount is missing, like %s: 1", place->key);
        return false;
    }
    if (!number) {
        fields_problem(in, place, doc, "an amount (a number of 0 or more) is wanted, not %s",
                       fields_what(doc));
        return false;
    }
    if (amount_milli(doc->text, ret, &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
        return false;
    }
    return true;
}

static bool value_bytes(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        int64_t *ret)
{
    struct error e;
    if (doc->kind != DOC_NUMBER && doc->kind != DOC_STRING) {
        fields_problem(in, place, doc, "a size like 64Gi or a number of bytes is wanted, not %s",
                       fields_what(doc));
        return false;
    }
    if (amount_bytes(doc->text, ret, &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
        return false;
    }
    return true;
}

/* Reads slots. An amount above one device must be a whole number. */
static bool value_slots(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        int64_t *ret)
{
    int64_t milli;
    if (!asked_milli(in, place, doc, &milli)) {
        return false;
    }
    if (milli > WHOLE && milli % WHOLE != 0) {
        fields_problem(
            in, place, doc,
            "a number above 1 must be whole (a number below 1 is a part of one device), not '%s'",
            doc->text.p);
        return false;
    }
    *ret = milli;
    return true;
}

static void named_add(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      struct task_draft *draft)
{
    struct error e;
    if (name_check(doc->key, "a resource", &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
        return;
    }
    int64_t milli;
    if (!asked_milli(in, place, doc, &milli)) {
        return;
    }
    struct task_spec *spec = &draft->spec;
    if (spec->resource_count == TASK_RESOURCES_MAX) {
        fields_problem(in, place, doc, "a task asks for at most %d named resources",
                       TASK_RESOURCES_MAX);
        return;
    }
    if (draft->named == NULL) {
        draft->named = arena_new(in->arena, struct named_amount, TASK_RESOURCES_MAX);
        spec->resources = draft->named;
    }
    draft->named[spec->resource_count++] = (struct named_amount){doc->key.p, milli};
    in->text_bytes += doc->key.len + 1;
}

static void resource_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          struct task_draft *draft)
{
    struct task_spec *spec = &draft->spec;
    if (str_is(doc->key, "slots")) {
        if (value_slots(in, place, doc, &spec->slots_milli)) {
            draft->slots = doc;
        }
    } else if (str_is(doc->key, "gpu")) {
        if (value_slots(in, place, doc, &draft->gpu_milli)) {
            draft->gpu = doc;
        }
    } else if (str_is(doc->key, "cpu")) {
        (void)asked_milli(in, place, doc, &spec->cpu_milli);
    } else if (str_is(doc->key, "memory")) {
        (void)value_bytes(in, place, doc, &spec->memory_bytes);
    } else if (str_is(doc->key, "gpu_memory")) {
        (void)value_bytes(in, place, doc, &spec->gpu_memory_bytes);
    } else if (str_is(doc->key, "gpu_devices")) {
        uint64_t count;
        if (fields_value_u64(in, place, doc, 1, NODE_DEVICES_MAX, &count)) {
            spec->gpu_devices = (uint32_t)count;
            draft->gpu_devices = doc;
        }
    } else if (str_is(doc->key, "resource_pool")) {
        if (doc->kind != DOC_NULL) {
            task_resources_pool_read(in, place, doc, NULL, draft);
        }
    } else {
        named_add(in, place, doc, draft);
    }
}

void task_resources_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *draft)
{
    (void)field;
    if (doc->kind != DOC_MAP) {
        fields_problem(in, place, doc,
                       "a map of names and amounts is wanted, like {slots: 1}, not %s",
                       fields_what(doc));
        return;
    }
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .key = item->key.p};
        resource_read(in, &at, item, draft);
    }
}

void task_resources_devices_read(struct reader *in, const struct doc_place *place,
                                 const struct doc *doc, const struct field *field, void *object)
{
    (void)field;
    struct task_draft *draft = object;
    if (doc->kind != DOC_LIST) {
        fields_problem(in, place, doc, "a list of device indices is wanted, like [0, 1], not %s",
                       fields_what(doc));
        return;
    }
    uint64_t mask = 0;
    uint32_t index = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = index++};
        uint64_t device;
        if (!fields_value_u64(in, &at, item, 0, NODE_DEVICES_MAX - 1, &device)) {
            return;
        }
        if ((mask >> device & 1) != 0) {
            fields_problem(in, &at, item, "device %u comes twice", (unsigned)device);
            return;
        }
        mask |= (uint64_t)1 << device;
    }
    draft->spec.device_mask = mask;
    draft->devices = mask != 0 ? doc : NULL;
}

void task_resources_pool_read(struct reader *in, const struct doc_place *place,
                              const struct doc *doc, const struct field *field, void *object)
{
    (void)field;
    struct task_draft *draft = object;
    const char *name;
    if (draft->pools != NULL) {
        fields_problem(in, place, doc, "the pool is given twice (also in line %u)",
                       draft->pools->line);
        return;
    }
    draft->pools = doc;
    if (!fields_value_name(in, place, doc, "a pool", &name)) {
        return;
    }
    draft->spec.pools = arena_dup(in->arena, &name, sizeof(char *));
    draft->spec.pool_count = 1;
}

/* True when the request is for a part of each device, by fraction or by memory. */
static bool asks_parts(const struct task_spec *spec)
{
    return spec->slots_milli == ASK_NOTHING ? spec->gpu_memory_bytes > 0
                                            : spec->slots_milli > 0 && spec->slots_milli < WHOLE;
}

/* Checks `devices`. Chosen devices are whole, unless the request is for a part of each device. */
static void devices_finish(struct reader *in, const struct doc_place *place,
                           struct task_draft *draft)
{
    struct task_spec *spec = &draft->spec;
    const int count = __builtin_popcountll(spec->device_mask);
    const bool parts = asks_parts(spec);
    spec->needs_gpu = true;
    if (parts ? spec->gpu_devices != 0 && (int)spec->gpu_devices != count
              : spec->slots_milli != ASK_NOTHING && spec->slots_milli != (int64_t)count * WHOLE) {
        fields_problem(in, place, draft->devices, "names %d devices, but %s another number", count,
                       parts ? "gpu_devices is" : "slots is");
        return;
    }
    if (!parts) {
        spec->slots_milli = (int64_t)count * WHOLE;
    }
}

void task_resources_finish(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           struct task_draft *draft)
{
    struct task_spec *spec = &draft->spec;
    struct doc_place resources = {.up = place, .key = "resources"};
    struct doc_place gpu = {.up = &resources, .key = "gpu"};
    struct doc_place devices = {.up = place, .key = "devices"};
    if (draft->gpu != NULL) {
        if (draft->slots != NULL && spec->slots_milli != draft->gpu_milli) {
            fields_problem(in, &gpu, draft->gpu,
                           "gpu and slots are the same thing; give one of them");
            return;
        }
        spec->slots_milli = draft->gpu_milli;
        spec->needs_gpu = draft->gpu_milli > 0;
    }
    if (spec->slots_milli > 0 && spec->slots_milli < WHOLE) {
        spec->needs_gpu = true; /* only a device can be divided */
    }
    if (draft->devices != NULL) {
        devices_finish(in, &devices, draft);
    }
    if (spec->gpu_memory_bytes > 0) {
        spec->needs_gpu = true;
        if (spec->slots_milli == 0) {
            struct doc_place memory = {.up = &resources, .key = "gpu_memory"};
            fields_problem(in, &memory, doc, "needs at least a part of a device, but slots is 0");
        }
    }
    if (draft->gpu_devices != NULL && !asks_parts(spec)) {
        struct doc_place several = {.up = &resources, .key = "gpu_devices"};
        fields_problem(
            in, &several, draft->gpu_devices,
            "it needs a request for a part of a device: gpu below 1, or gpu_memory without gpu");
    }
}
