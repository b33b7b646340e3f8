/* agent.h - the two roles of a node: the agent, which talks to the server, and the supervisor,
 * which owns the tasks' processes and outlives the agent. SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* `weir agent …`; argv[0] is the role's name. The exit status of the process. */
int agent_main(int argc, char **argv);

/* `weir supervisor --dir D [--run-as USER]`; started by the agent through /proc/self/exe. */
int supervisor_main(int argc, char **argv);
