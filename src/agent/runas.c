/* runas.c - the account tasks run as.
 *
 * Holds (README.md): A1 no task ever runs as uid 0. SPDX-License-Identifier: Apache-2.0 */
#include "agent/runas.h"

#include "base/mem.h"
#include "base/str.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

enum { ACCOUNT_BYTES_MAX = 16 * 1024 };

static must_use enum err not_root(const struct runas_account *account, struct error *e)
{
    if (account->uid == 0 || account->gid == 0) {
        return fail(e, ERR_DENIED,
                    "tasks never run as root, and '%s' is %s 0; name another with "
                    "--run-as",
                    account->name, account->uid == 0 ? "uid" : "of group");
    }
    return ERR_OK;
}

static must_use enum err choose_as_root(const struct runas_input *input, struct runas_account *ret,
                                        struct error *e)
{
    if (input->wanted != NULL && input->wanted[0] != '\0') {
        if (!input->by_name(input->wanted, ret)) {
            return fail(e, ERR_NOT_FOUND, "there is no user '%s' to run tasks as", input->wanted);
        }
        return not_root(ret, e);
    }
    const char *const names[] = {input->sudo_user, "weir", "nobody"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i] != NULL && input->by_name(names[i], ret) && not_root(ret, NULL) == ERR_OK) {
            return ERR_OK;
        }
    }
    return fail(e, ERR_NOT_FOUND, "there is no user to run tasks as; name one with --run-as");
}

must_use enum err runas_choose(const struct runas_input *input, struct runas_account *ret,
                               struct error *e)
{
    struct runas_account account = {0};
    if (input->uid == 0) {
        enum err r = choose_as_root(input, &account, e);
        if (r != ERR_OK) {
            return r;
        }
        account.switch_user = true;
        *ret = account;
        return ERR_OK;
    }
    if (!input->by_uid(input->uid, &account)) {
        account = (struct runas_account){.uid = input->uid, .home = "/", .name = "unknown"};
    }
    if (input->wanted != NULL && input->wanted[0] != '\0' && strcmp(input->wanted, account.name)) {
        return fail(e, ERR_DENIED, "only root may run tasks as another user ('%s', not '%s')",
                    input->wanted, account.name);
    }
    *ret = account;
    return ERR_OK;
}

static void account_fill(const struct passwd *entry, struct runas_account *ret)
{
    *ret = (struct runas_account){.uid = entry->pw_uid, .gid = entry->pw_gid};
    (void)str_copy(ret->name, sizeof ret->name, entry->pw_name);
    (void)str_copy(ret->home, sizeof ret->home, entry->pw_dir);
    int count = RUNAS_GROUPS_MAX;
    if (getgrouplist(entry->pw_name, entry->pw_gid, ret->groups, &count) < 0) {
        count = 0; /* more than the limit: the main group alone is the safe side */
    }
    for (int i = 0; i < count; i++) {
        if (ret->groups[i] != 0) { /* group root would be a way back */
            ret->groups[ret->group_count++] = ret->groups[i];
        }
    }
}

static bool system_by_name(const char *name, struct runas_account *ret)
{
    auto_free(freep) char *room = xmalloc(ACCOUNT_BYTES_MAX);
    struct passwd entry;
    struct passwd *found = NULL;
    if (getpwnam_r(name, &entry, room, ACCOUNT_BYTES_MAX, &found) != 0 || found == NULL) {
        return false;
    }
    account_fill(found, ret);
    return true;
}

static bool system_by_uid(uid_t uid, struct runas_account *ret)
{
    auto_free(freep) char *room = xmalloc(ACCOUNT_BYTES_MAX);
    struct passwd entry;
    struct passwd *found = NULL;
    if (getpwuid_r(uid, &entry, room, ACCOUNT_BYTES_MAX, &found) != 0 || found == NULL) {
        return false;
    }
    account_fill(found, ret);
    return true;
}

must_use enum err runas_system(const char *wanted, struct runas_account *ret, struct error *e)
{
    struct runas_input input = {.wanted = wanted,
                                .sudo_user = getenv("SUDO_USER"),
                                .uid = geteuid(),
                                .by_name = system_by_name,
                                .by_uid = system_by_uid};
    return runas_choose(&input, ret, e);
}
