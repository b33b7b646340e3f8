/* prop_groups.c - the same laws where many gangs have groups that come and go (histories.h, oracle_groups.c).
 * SPDX-License-Identifier: Apache-2.0 */
#include "histories.h"

enum { HISTORIES_DEFAULT = 1000 };

int main(int argc, char **argv)
{
    const struct prop_run run = prop_begin(argc, argv, HISTORIES_DEFAULT);
    histories_run(&run, true);
    return 0;
}
