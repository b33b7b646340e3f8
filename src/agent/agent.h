/* agent.h - the role of a node that talks to the server. A node's other role is the supervisor
 * (supervisor.h). SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Runs `weir agent …`; argv[0] is the role's name. Returns the exit status of the process. */
int agent_main(int argc, char **argv);
