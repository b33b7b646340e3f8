/* agent.h - the role of a node that talks to the server; the other is the supervisor (supervisor.h). SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* `weir agent …`; argv[0] is the role's name. The exit status of the process. */
int agent_main(int argc, char **argv);
