/* account.h - the row of a department or project: who pays. A tree: departments above departments and
 * projects; only projects have tasks. Accounts at the top have parent 0.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdint.h>

enum {
    ACCOUNTS_MAX = 16384,
    ACCOUNT_CHILDREN_MAX = 4096,
    ACCOUNT_DEPTH_MAX = 8, /* levels: a project directly below a top department is at level 2 */
};

enum account_kind { ACCOUNT_DEPARTMENT, ACCOUNT_PROJECT };
enum { ACCOUNT_KIND_COUNT = ACCOUNT_PROJECT + 1 };

/* The two that every state has, from the beginning: never deleted, never moved. */
#define ACCOUNT_DEFAULT_NAME "default"
#define ACCOUNT_DEFAULT_DEPARTMENT ((account_id){1})
#define ACCOUNT_DEFAULT_PROJECT ((account_id){2})

struct account {
    account_id id; /* 0: no row here. Older accounts have lower ones */
    account_id parent;
    uint32_t depth; /* 1 at the top */
    uint32_t child_count;
    uint32_t task_count; /* of the whole subtree: all that have not ended */
    uint8_t kind;
    uint8_t pad[3];
    struct blob *text; /* name, NUL, then encoded title and description */
};

/* What users say of an account. */
struct account_spec {
    enum account_kind kind;
    const char *name;
    const char *parent; /* a department; empty: the top for departments, `default` for projects */
    const char *title;
    const char *description;
};
