/* runas.h - as whom tasks run: never as root. SPDX-License-Identifier: Apache-2.0 */
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
    bool switch_user; /* started as root: become this account before each task */
};

/* What the choice depends on; tests give their own. */
struct runas_input {
    const char *wanted;    /* --run-as, or NULL */
    const char *sudo_user; /* SUDO_USER, or NULL */
    uid_t uid;             /* of this process */
    /* Fills in the account of a name; false: there is none. */
    bool (*by_name)(const char *name, struct runas_account *ret);
    bool (*by_uid)(uid_t uid, struct runas_account *ret);
};

/* Started as root: the wanted account, else the one behind sudo, else `weir`, else `nobody`; an
 * account of uid 0 is refused. Not started as root: oneself; wanting another is refused. */
must_use enum err runas_choose(const struct runas_input *input, struct runas_account *ret,
                               struct error *e);

/* The same with the system's accounts and this process's uid and environment. */
must_use enum err runas_system(const char *wanted, struct runas_account *ret, struct error *e);
