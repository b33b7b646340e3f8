/* prop_life.c - the laws of design.md section 2 over random histories in which pools are closed, deleted and restored.
 * SPDX-License-Identifier: Apache-2.0 */
#include "histories.h"

enum { HISTORIES_DEFAULT = 400 };

int main(int argc, char **argv)
{
    const struct prop_run run = prop_begin(argc, argv, HISTORIES_DEFAULT);
    histories_run(&run, HISTORIES_LIVES);
    return 0;
}
