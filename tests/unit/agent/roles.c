/* roles.c - a program with the roles of a node only, for tests of these roles.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"
#include "agent/box.h"
#include "agent/supervisor.h"

#include <string.h>

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "supervisor") == 0) {
        return supervisor_main(argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "box") == 0) {
        return box_main(argc - 1, argv + 1);
    }
    return argc > 1 && strcmp(argv[1], "agent") == 0 ? agent_main(argc - 1, argv + 1) : 2;
}
