/* main.c - one program: the roles `weir server`, `weir agent`, `weir supervisor` and `weir sim`.
 * Every other word is a command of the CLI. A role starts another role only by running the program
 * again. SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"
#include "agent/box.h"
#include "agent/console.h"
#include "agent/supervisor.h"
#include "cli/cli.h"
#include "server/server.h"
#include "sim/sim.h"

#include <stdbool.h>
#include <sys/prctl.h>

/* Tokens and the data of every user are in the memory of these processes: another process of the
 * same user, such as a task, must not read it. Also ends core dumps. */
static void secrets_hide(void)
{
    (void)prctl(PR_SET_DUMPABLE, 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*role_main)(int argc, char **argv); /* argv[0] is the role's name */
    } roles[] = {
        {"server", server_main}, {"agent", agent_main}, {"supervisor", supervisor_main},
        {"box", box_main},       {"sim", sim_main},
    };
    /* The CLI's command table has the help on every command and every role. */
    bool help = false;
    for (int i = 2; i < argc; i++) {
        help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    }
    for (size_t i = 0; argc > 1 && !help && i < sizeof roles / sizeof roles[0]; i++) {
        if (strcmp(argv[1], roles[i].name) == 0) {
            /* A role is started as /proc/self/exe; without this call ps and top would show the name
             * `exe`. */
            (void)prctl(PR_SET_NAME, "weir");
            secrets_hide();
            return roles[i].role_main(argc - 1, argv + 1);
        }
    }
    if (argc > 2 && strcmp(argv[1], "console") == 0) {
        return console_main(argc - 1, argv + 1); /* holds no secrets: the task's own process */
    }
    if (argc > 1 && strcmp(argv[1], "up") == 0) {
        secrets_hide();
    }
    return cli_main(argc, argv);
}
