/* supervisor.h - the role that owns the tasks' processes and outlives the agent.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* `weir supervisor --dir D [--run-as USER]`; started by the agent through /proc/self/exe. */
int supervisor_main(int argc, char **argv);
