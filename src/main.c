/* main.c - one program: the roles `weir server`, `weir agent`, `weir supervisor` and `weir sim`;
 * everything else is a command of the CLI. Roles meet only by running the program again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"
#include "agent/supervisor.h"
#include "cli/cli.h"
#include "server/server.h"
#include "sim/sim.h"

#include <stdbool.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*role_main)(int argc, char **argv); /* argv[0] is the role's name */
    } roles[] = {
        {"server", server_main},
        {"agent", agent_main},
        {"supervisor", supervisor_main},
        {"sim", sim_main},
    };
    /* Help on every command, roles too, comes from the CLI's command table. */
    bool help = false;
    for (int i = 2; i < argc; i++) {
        help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    }
    for (size_t i = 0; argc > 1 && !help && i < sizeof roles / sizeof roles[0]; i++) {
        if (strcmp(argv[1], roles[i].name) == 0) {
            /* They are started as /proc/self/exe, and would be called so in ps and top. */
            (void)prctl(PR_SET_NAME, "weir");
            return roles[i].role_main(argc - 1, argv + 1);
        }
    }
    return cli_main(argc, argv);
}
