/* objects.c - the tables of the objects that users describe, made of the rows in *_fields.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/objects.h"

#include "base/amount.h"
#include "core/model/flavor.h"
#include "core/model/network.h"
#include "core/model/object.h"
#include "core/model/quota.h"
#include "core/model/names.h"
#include "core/model/task_parts.h"

/* One macro for each kind of value: how the struct OBJECT keeps the value. */
#define KEPT(kind, member)                                                                         \
    .record.type = (kind), .record.offset = offsetof(OBJECT, member),                              \
    .record.size = sizeof(((OBJECT *)0)->member)
#define BOUNDS(least, most) .record.low = (least), .record.high = (most)
#define COUNTED(counter) .record.count_offset = offsetof(OBJECT, counter)

#define TEXT(member, least, most) KEPT(RECORD_TEXT, member), BOUNDS(least, most)
/* A text that may have several lines */
#define LINES(member, most) TEXT(member, 0, most), .words = OBJECT_LINES
#define PATH TEXT /* a text that is shown in a form of its own */
#define NAME(member, least, none, thing)                                                           \
    KEPT(RECORD_TEXT, member), BOUNDS(least, NAME_LEN_MAX), .otherwise_text = (none),              \
                                                            .what = (thing)
#define WORD(member, name, count, none)                                                            \
    KEPT(RECORD_WORD, member), BOUNDS(0, (count)-1), .record.word = (name), .otherwise = (none)
#define NUMBER(member, least, most, none)                                                          \
    KEPT(RECORD_UINT, member), BOUNDS(least, most), .otherwise = (none)
#define AMOUNT(member, least, most, none)                                                          \
    KEPT(RECORD_MILLI, member), BOUNDS(least, most), .otherwise = (none)
#define AMOUNT_OR(member, most, special)                                                           \
    KEPT(RECORD_MILLI, member), BOUNDS(0, most), .words = (special)
#define PERCENT(member, none)                                                                      \
    KEPT(RECORD_MILLI, member), BOUNDS(0, PERCENT_WHOLE), .otherwise = (none), .what = "%"
#define SIZE(member, least, none)                                                                  \
    KEPT(RECORD_MEMORY, member), BOUNDS(least, AMOUNT_BYTES_MAX), .otherwise = (none)
#define SWITCH(member, none) KEPT(RECORD_BOOL, member), BOUNDS(0, 1), .otherwise = (none)
#define DURATION(member, least, none, special)                                                     \
    KEPT(RECORD_MS, member), BOUNDS(least, AMOUNT_MS_MAX), .otherwise = (none), .words = (special)
#define TEXTS(member, counter, most, longest, thing)                                               \
    KEPT(RECORD_TEXTS, member), COUNTED(counter), BOUNDS(0, most), .record.length_max = (longest), \
                                                                   .what = (thing)
#define LABELS(member, counter, most) KEPT(RECORD_LABELS, member), COUNTED(counter), BOUNDS(0, most)
#define AMOUNTS(member, counter, most)                                                             \
    KEPT(RECORD_AMOUNTS, member), COUNTED(counter), BOUNDS(0, most)
#define ID16(member) KEPT(RECORD_ID16, member)
#define PARTS(stem, any)                                                                           \
    .record.type = RECORD_OWN, .record.put = stem##_put, .record.get = stem##_get, .said = (any)
/* Several members, described by a table of the same struct. */
#define TABLE_OF(table) .record.type = RECORD_PART, .record.part = &(table)
#define TABLE_SAID(table, any) TABLE_OF(table), .said = (any)
#define PART .record.type = RECORD_OWN

#define FIXED .edit = EDIT_NEVER
#define WHOLE .edit = EDIT_NEVER
#define EDIT(number, when) .edit = EDIT_##when, .bit = (number)
#define NO_FLAG
#define FLAG(...)
#define FLAG_OF(...)

#define FIELD(id, kept, number, change, place, flag)                                               \
    {.record.name = #id, kept, .tag = (number), change, .group = GROUP_##place},

#define OBJECT struct task_spec
const struct object_field task_object_fields[] = {
#include "core/model/task_fields.def"
};
#undef OBJECT

#define OBJECT struct pool_spec
const struct object_field pool_object_fields[] = {
#include "core/model/pool_fields.def"
};
#undef OBJECT

#define OBJECT struct node_spec
const struct object_field node_object_fields[] = {
#include "core/model/node_fields.def"
};
#undef OBJECT

#define OBJECT struct account_spec
const struct object_field account_object_fields[] = {
#include "core/model/account_fields.def"
};
#undef OBJECT

#define OBJECT struct quota_rules
const struct object_field quota_object_fields[] = {
#include "core/model/quota_fields.def"
};
#undef OBJECT

#define OBJECT struct flavor_spec
const struct object_field flavor_object_fields[] = {
#include "core/model/flavor_fields.def"
};
#undef OBJECT

#define OBJECT struct network_spec
const struct object_field network_object_fields[] = {
#include "core/model/network_fields.def"
};
#undef OBJECT

#define TABLE(rows, object)                                                                        \
    {                                                                                              \
        (rows), sizeof(rows) / sizeof(rows)[0], sizeof(object)                                     \
    }
const struct object task_object = TABLE(task_object_fields, struct task_spec);
const struct object pool_object = TABLE(pool_object_fields, struct pool_spec);
const struct object node_object = TABLE(node_object_fields, struct node_spec);
const struct object account_object = TABLE(account_object_fields, struct account_spec);
const struct object quota_object = TABLE(quota_object_fields, struct quota_rules);
const struct object flavor_object = TABLE(flavor_object_fields, struct flavor_spec);
const struct object network_object = TABLE(network_object_fields, struct network_spec);

const char *objects_switch_name(unsigned off)
{
    return off == 0 ? "on" : off == 1 ? "off" : NULL;
}

const char *objects_switch_on_name(unsigned on)
{
    return on == 0 ? "off" : on == 1 ? "on" : NULL;
}

#undef NUMBER
#undef DURATION
#undef FIELD
#define NUMBER(member, least, most, none) .member = (none)
#define DURATION(member, least, none, special) .member = (none)
#define FIELD(id, kept, number, change, place, flag) kept,
const struct quota_rules quota_rules_none = {
#include "core/model/quota_fields.def"
};
