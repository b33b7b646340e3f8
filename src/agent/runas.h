/* runas.h - the account that tasks run as, which is never root.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { RUNAS_GROUPS_MAX = 256, RUNAS_TEXT_MAX = 256 };

struct runas_account {
    uid_t uid;
    gid_t gid;
    char name[RUNAS_TEXT_MAX];
    char home[RUNAS_TEXT_MAX];
    gid_t groups[RUNAS_GROUPS_MAX];
    size_t group_count;
    bool switch_user; /* the supervisor runs as root: each task's process becomes this account */
};

/* The facts on which the choice depends. Tests give their own. */
struct runas_input {
    const char *wanted;    /* --run-as, or NULL */
    const char *sudo_user; /* SUDO_USER, or NULL */
    uid_t uid;             /* the uid of this process */
    /* Looks up the account of a name. False: there is no such account. */
    bool (*by_name)(const char *name, struct runas_account *ret);
    bool (*by_uid)(uid_t uid, struct runas_account *ret);
};

/* As root: chooses the wanted account, else the account behind sudo, else `weir`, else `nobody`,
 * and refuses an account of uid 0. Not as root: chooses the own account, and refuses a wanted
 * account that is another. */
must_use enum err runas_choose(const struct runas_input *input, struct runas_account *ret,
                               struct error *e);

/* Calls runas_choose() with the system's accounts and this process's uid and environment. */
must_use enum err runas_system(const char *wanted, struct runas_account *ret, struct error *e);
