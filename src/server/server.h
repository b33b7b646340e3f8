/* server.h - the role `weir server`.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* argv: server --config F | --dir D [--listen A:P] [--ready-fd N] [--insecure-listen]. Runs until
 * it is told to stop; returns the exit status. */
int server_main(int argc, char **argv);
