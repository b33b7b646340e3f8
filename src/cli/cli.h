/* cli.h - the command line: all of `weir` except the server and the agent.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Runs the command that argv names. Returns the exit status (see `weir help exit-codes`). */
int cli_main(int argc, char **argv);
