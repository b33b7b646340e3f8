/* sim.h - `weir sim`: the unchanged core in virtual time.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Runs the role; argv[0] is "sim". Returns the exit status. */
int sim_main(int argc, char **argv);
