/* sim.h - `weir sim`: the same core in virtual time.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The role; argv[0] is "sim". Returns the exit status. */
int sim_main(int argc, char **argv);
