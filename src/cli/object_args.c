/* object_args.c - see object_args.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/object_args.h"

#include "base/doc_make.h"
#include "cli/command.h"
#include "cli/item.h"

#include <inttypes.h>
#include <string.h>

/* A row for each field. `flag` is NULL for a field without a flag. */
#define FIELD(id, kept, tag, change, place, flag) {NAME_##flag, #id, TYPE_##flag, GROUP_##place},
#define NAME_NO_FLAG NULL
#define NAME_FLAG(kind, name, ...) name
#define NAME_FLAG_OF NAME_FLAG
#define TYPE_NO_FLAG 0
#define TYPE_FLAG(kind, ...) FLAG_##kind
#define TYPE_FLAG_OF TYPE_FLAG

const struct object_flag object_args_task[] = {
#include "core/model/task_fields.def"
    {"no-preempt", "preemptible", FLAG_BOOL, GROUP_OWN},
    {0},
};
const struct object_flag object_args_pool[] = {
#include "core/model/pool_fields.def"
    {"preempt-delay", "preemption_delay", FLAG_DURATION, GROUP_SCHEDULER}, /* its name before */
    {0},
};
const struct object_flag object_args_flavor[] = {
#include "core/model/flavor_fields.def"
    {"no-spot", "spot", FLAG_BOOL, GROUP_TOP},
    {0},
};
const struct object_flag object_args_network[] = {
#include "core/model/network_fields.def"
    {"no-outbound", "outbound", FLAG_BOOL, GROUP_TOP},
    {0},
};
const struct object_flag object_args_account[] = {
#include "core/model/account_fields.def"
    {0},
};
const struct object_flag object_args_quota[] = {
#include "core/model/quota_fields.def"
    {0},
};

bool object_args_given(const struct args *args, const char *flag)
{
    return flag != NULL && command_flag(args->command, flag, strlen(flag), 0) != NULL &&
           args_has(args, flag);
}

struct doc *object_args_list(const struct args *args, const char *flag, enum doc_kind kind,
                             struct arena *arena)
{
    struct doc *list = doc_make(arena, DOC_LIST, NULL);
    size_t cursor = 0;
    const char *value;
    while ((value = args_each(args, flag, &cursor)) != NULL) {
        const bool none = kind == DOC_STRING && value[0] == '\0';
        struct str rest = none ? (struct str){0} : str_of(value);
        while (rest.p != NULL) {
            const struct str one = str_trim(str_cut(rest, ',', &rest));
            const bool text = kind == DOC_STRING || memchr(one.p, ':', one.len) != NULL;
            doc_make_add(list, NULL, doc_make_scalar(arena, text ? DOC_STRING : DOC_NUMBER, one));
        }
    }
    return list;
}

struct doc *object_args_value(const struct args *args, const struct object_flag *flag,
                              struct arena *arena)
{
    struct doc *value;
    switch ((enum flag_type)flag->type) {
    case FLAG_NUMBER:
        return doc_make_scalar(
            arena, DOC_NUMBER,
            str_of(arena_fmt(arena, "%" PRIu64, args_number(args, flag->flag, 0))));
    case FLAG_BOOL:
        value = doc_make(arena, DOC_BOOL, NULL);
        value->yes = strncmp(flag->flag, "no-", 3) != 0;
        return value;
    case FLAG_LIST:
        return object_args_list(args, flag->flag, DOC_STRING, arena);
    case FLAG_TEXT:
    case FLAG_DURATION:
    case FLAG_OPTIONAL:
        break;
    }
    return doc_make_scalar(arena, DOC_STRING, str_of(args_text(args, flag->flag)));
}

bool object_args_json(const struct args *args, const struct object_flag *flags,
                      enum object_group group, struct json_out *j)
{
    struct arena arena;
    bool any = false;
    arena_init(&arena);
    for (; flags->field != NULL; flags++) {
        if (flags->group == group && object_args_given(args, flags->flag)) {
            struct doc *value = object_args_value(args, flags, &arena);
            value->key = str_of(flags->field);
            item_json_field(j, value, false);
            any = true;
        }
    }
    arena_done(&arena);
    return any;
}
