/* agent.h - the role `weir agent`: the process of a node that talks to the server. The node's other
 * process is the supervisor (supervisor.h). SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Runs `weir agent …`; argv[0] is the role's name. Returns the exit status of the process. */
int agent_main(int argc, char **argv);
