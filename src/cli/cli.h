/* cli.h - the command line: everything of `weir` but the server and the agent.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Runs the command that argv names; its exit status (see `weir help exit-codes`). */
int cli_main(int argc, char **argv);
