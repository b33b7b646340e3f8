/* prop_fallback.c - the laws of design.md section 2 where many tasks name several pools (histories.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "histories.h"

enum { HISTORIES_DEFAULT = 1000 };

int main(int argc, char **argv)
{
    const struct prop_run run = prop_begin(argc, argv, HISTORIES_DEFAULT);
    histories_run(&run, HISTORIES_LISTS);
    return 0;
}
