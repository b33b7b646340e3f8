/* objects_named.c - what objects.c needs to know of flavors (/flavors) and networks (/networks). The two kinds differ
 * only in their types. SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/named.h"
#include "api/objects.h"
#include "spec/flavor_spec.h"
#include "spec/network_spec.h"
#include "wire/flavor_json.h"
#include "wire/network_json.h"

/* Defines objects_named_Xs, the kind of `struct X`. INPUT_UP_SET and INPUT_UP_DELETE are the inputs of X. */
#define KIND(X, UP)                                                                                \
    static uint64_t X##_next(const struct core *core, const void *filter, uint64_t after)          \
    {                                                                                              \
        (void)filter;                                                                              \
        const struct X *object = query_##X##_next(core, (X##_id){(uint32_t)after});                \
        return object != NULL ? object->id.v : 0;                                                  \
    }                                                                                              \
    static void X##_write(struct json_out *j, const struct core *core, uint64_t key,               \
                          struct arena *arena)                                                     \
    {                                                                                              \
        X##_json(j, core, query_##X(core, (X##_id){(uint32_t)key}), arena);                        \
    }                                                                                              \
    static const char *X##_name(const struct core *core, uint64_t key)                             \
    {                                                                                              \
        return query_##X##_name(core, (X##_id){(uint32_t)key});                                    \
    }                                                                                              \
    static uint64_t X##_find(struct call *call, const char *name)                                  \
    {                                                                                              \
        const struct X *object = named_##X(call, "", name);                                        \
        return object != NULL ? object->id.v : 0;                                                  \
    }                                                                                              \
    static enum err X##_read(struct call *call, const struct doc *body, uint64_t key,              \
                             struct input *ret, struct error *e)                                   \
    {                                                                                              \
        struct X##_spec *spec = arena_new(call_arena(call), struct X##_spec, 1);                   \
        const X##_id id = {(uint32_t)key};                                                         \
        *ret = (struct input){.type = INPUT_##UP##_SET, .X = {.X = id, .spec = spec}};             \
        if (key == 0) {                                                                            \
            X##_spec_init(spec);                                                                   \
        } else {                                                                                   \
            query_##X##_spec(call_core(call), id, call_arena(call), spec);                         \
        }                                                                                          \
        return X##_spec_patch(body, call_arena(call), spec, e);                                    \
    }                                                                                              \
    static uint64_t X##_made(const struct core *core, const struct input *in)                      \
    {                                                                                              \
        return query_##X##_named(core, in->X.spec->name)->id.v;                                    \
    }                                                                                              \
    static struct input X##_gone(uint64_t key)                                                     \
    {                                                                                              \
        return (struct input){.type = INPUT_##UP##_DELETE, .X = {.X = {(uint32_t)key}}};           \
    }                                                                                              \
    const struct objects_kind objects_named_##X##s = {                                             \
        .word = #X "s",                                                                            \
        .question = #X "s",                                                                        \
        .source = {X##_next, X##_write},                                                           \
        .name = X##_name,                                                                          \
        .find = X##_find,                                                                          \
        .read = X##_read,                                                                          \
        .made = X##_made,                                                                          \
        .gone = X##_gone,                                                                          \
    };

KIND(flavor, FLAVOR)
KIND(network, NETWORK)
