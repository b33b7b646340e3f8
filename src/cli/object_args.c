/* object_args.c - see object_args.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/object_args.h"

#include "base/must.h"
#include "cli/command.h"

#include <string.h>

/* A row for each field. `flag` is NULL for a field without a flag. */
#define FIELD(id, kept, tag, change, place, flag) {NAME_##flag, #id, TYPE_##flag, GROUP_##place},
#define NAME_NO_FLAG NULL
#define NAME_FLAG(kind, name, letter, value, help, complete, choices) name
#define TYPE_NO_FLAG 0
#define TYPE_FLAG(kind, name, letter, value, help, complete, choices) FLAG_##kind

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

/* Writes all values of a flag that may be given several times. Each value is a list with commas;
 * '' is an empty list. */
static void list_json(const struct args *args, const char *flag, struct json_out *j)
{
    size_t cursor = 0;
    const char *value;
    json_out_array(j);
    while ((value = args_each(args, flag, &cursor)) != NULL) {
        struct str rest = value[0] != '\0' ? str_of(value) : (struct str){0};
        while (rest.p != NULL) {
            json_out_str(j, str_trim(str_cut(rest, ',', &rest)));
        }
    }
    json_out_end(j);
}

void object_args_value(const struct args *args, const struct object_flag *flag, struct json_out *j)
{
    switch ((enum flag_type)flag->type) {
    case FLAG_TEXT:
    case FLAG_DURATION:
    case FLAG_OPTIONAL:
        json_out_text(j, args_text(args, flag->flag));
        break;
    case FLAG_NUMBER:
        json_out_u64(j, args_number(args, flag->flag, 0));
        break;
    case FLAG_BOOL:
        json_out_bool(j, strncmp(flag->flag, "no-", 3) != 0);
        break;
    case FLAG_LIST:
        list_json(args, flag->flag, j);
        break;
    }
}

bool object_args_json(const struct args *args, const struct object_flag *flags,
                      enum object_group group, struct json_out *j)
{
    bool any = false;
    for (; flags->field != NULL; flags++) {
        if (flags->group == group && object_args_given(args, flags->flag)) {
            json_out_key(j, flags->field);
            object_args_value(args, flags, j);
            any = true;
        }
    }
    return any;
}
