/* landlock.c - see landlock.h. The structs are our own: the headers of Debian 12 are older than the scopes.
 *
 * A domain forbids tracing by its mere existence. Files are left alone: Landlock only allows, so a rule that keeps one directory from
 * a task also takes from it the right to make files in every directory above (docs/dev/adr/0084-tasks-of-an-ordinary-user.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/landlock.h"

#include "base/must.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ABI_REFER = 2, /* before it, a domain forbids every move of a file into another directory */
    VERSION_FLAG = 1,
    RULE_PATH = 1,
    SCOPE_ABSTRACT_SOCKETS = 1,
    SCOPE_SIGNALS = 2,
    FS_MAKE_BLOCK_DEVICE =
        1 << 11, /* no user may make devices, so to forbid it takes nothing away */
    FS_REFER = 1 << 13,
};

struct ruleset {
    uint64_t fs;
    uint64_t net;
    uint64_t scoped;
};

struct rule_path {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

int landlock_abi(void)
{
    const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION_FLAG);
    return abi < ABI_REFER ? 0 : (int)abi;
}

/* An old Landlock takes only rules about files: moves stay allowed everywhere. */
static bool moves_allow(int rules)
{
    const struct rule_path rule = {FS_REFER, open("/", O_PATH | O_CLOEXEC)};
    const bool well =
        rule.fd >= 0 && syscall(SYS_landlock_add_rule, rules, RULE_PATH, &rule, 0) == 0;
    if (rule.fd >= 0) {
        (void)close(rule.fd);
    }
    return well;
}

must_use enum err landlock_enter(bool signals, struct error *e)
{
    const bool scopes = landlock_abi() >= LANDLOCK_ABI_SCOPES;
    const struct ruleset wanted = {
        .fs = scopes ? 0 : FS_MAKE_BLOCK_DEVICE | FS_REFER,
        .scoped = !scopes ? 0 : SCOPE_ABSTRACT_SOCKETS | (signals ? SCOPE_SIGNALS : 0)};
    const size_t size = scopes ? sizeof wanted : sizeof wanted.fs;
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &wanted, size, 0);
    const bool well = rules >= 0 && (scopes || moves_allow(rules)) &&
                      syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    const int number = errno;
    if (rules >= 0) {
        (void)close(rules);
    }
    return well ? ERR_OK : fail_errno(e, ERR_DENIED, number, "cannot enter a domain of Landlock");
}
