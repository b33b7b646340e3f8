/* account.h - the row of an account, that is a department or a project. Accounts form a tree: departments and
 * projects are below departments. Only projects have tasks. An account at the top has parent 0.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/spec.h"

#include <stdint.h>

enum {
    ACCOUNTS_MAX = 16384,
    ACCOUNT_CHILDREN_MAX = 4096,
    ACCOUNT_DEPTH_MAX = 8, /* a project directly below a department at the top is at level 2 */
};

enum account_kind { ACCOUNT_DEPARTMENT, ACCOUNT_PROJECT };
enum { ACCOUNT_KIND_COUNT = ACCOUNT_PROJECT + 1 };

/* Every state has these two accounts from the beginning. These two accounts are never deleted and never
 * moved. */
#define ACCOUNT_DEFAULT_NAME "default"
enum { ACCOUNT_DEFAULT_DEPARTMENT_NUMBER = 1, ACCOUNT_DEFAULT_PROJECT_NUMBER = 2 };
#define ACCOUNT_DEFAULT_DEPARTMENT ((account_id){ACCOUNT_DEFAULT_DEPARTMENT_NUMBER})
#define ACCOUNT_DEFAULT_PROJECT ((account_id){ACCOUNT_DEFAULT_PROJECT_NUMBER})

/* What an account says of tasks that hold their places and do nothing. */
enum account_idle {
    ACCOUNT_IDLE_INHERIT, /* nothing: the rule of the account above holds, at the top that of the pool */
    ACCOUNT_IDLE_NONE, /* the account's tasks are never paused or ended */
    ACCOUNT_IDLE_PAUSE,
    ACCOUNT_IDLE_END,
};
enum { ACCOUNT_IDLE_COUNT = ACCOUNT_IDLE_END + 1 };

/* The rule that holds for an account's tasks in a pool. */
struct idle_rule {
    account_id account; /* whose rule it is; 0: the pool's */
    int64_t warn_ms;    /* 0: no task is warned */
    int64_t after_ms;   /* 0: no task is paused or ended */
    enum idle_action action;
};

struct account {
    account_id id; /* 0: no row here. An older account has a lower id */
    account_id parent;
    uint32_t depth; /* 1 at the top */
    uint32_t child_count;
    /* tasks that have not ended, of this account and of all accounts below */
    uint32_t task_count;
    uint8_t kind;
    uint8_t idle_action; /* enum account_idle. struct account_spec describes the members `idle_…` */
    uint8_t pad[2];
    struct blob *text; /* name, NUL, then the encoded struct account_spec */
    int64_t idle_warn_ms;
    int64_t idle_after_ms;
};

/* An account as a user describes it. */
struct account_spec {
    enum account_kind kind;
    const char *name;
    /* the name of a department. Empty: a department is at the top, a project is below `default` */
    const char *parent;
    const char *title;
    const char *description;
    /* a task whose running instances have all done nothing for `idle_warn_ms` is warned, and after
     * `idle_after_ms` it is paused or ended; 0: never. Both are 0 with ACCOUNT_IDLE_INHERIT */
    int64_t idle_warn_ms;
    int64_t idle_after_ms;
    enum account_idle idle_action;
};
