/* console.h - `weir console`: a small process inside an attempt, as the task's user, between the frames
 * of wire/console.h and a program.
 *
 *   console exec TERMINAL TERM CMD…   runs CMD; frames on standard input and output
 *   console attach TERMINAL TERM      frames on standard input and output, to and from the host
 *   console host CMD…                 the first process of a shell task: runs CMD on a terminal, writes
 *                                     what the terminal shows to standard output, serves those who attach
 *
 * TERMINAL is rows and columns ("24x80"), or empty: no terminal. SPDX-License-Identifier: Apache-2.0 */
#pragma once

int console_main(int argc, char **argv);
