/* prop_groups.c - the laws of design.md section 2 where many gangs have groups that grow and
 * shrink (histories.h, oracle_groups.c).
 * SPDX-License-Identifier: Apache-2.0 */
#include "histories.h"

enum { HISTORIES_DEFAULT = 1000 };

int main(int argc, char **argv)
{
    const struct prop_run run = prop_begin(argc, argv, HISTORIES_DEFAULT);
    histories_run(&run, HISTORIES_ELASTIC);
    return 0;
}
