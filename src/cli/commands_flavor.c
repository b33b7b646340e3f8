/* commands_flavor.c - the command table: flavors. SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/cmd_object.h"
#include "cli/flags.h"

const struct command commands_flavor[] = {
    {CMD_OBJECT_LIST(cmd_flavor, flavor),
     .help = "list the kinds of nodes that providers bring up, with prices",
     .examples = "weir flavor list\nweir flavor list --json"},
    {CMD_OBJECT_SHOW(cmd_flavor, flavor, "FLAVOR", COMPLETE_FLAVORS),
     .help = "everything about one flavor: where it is sold out, and which pools wait for it",
     .examples = "weir flavor show v100"},
    {CMD_OBJECT_CREATE(cmd_flavor, flavor, "FLAVOR [flags]", flags_flavor),
     .help = "make a flavor, which pools may name",
     .examples = "weir flavor create small --slots 2 --price 0.1 --currency EUR\n"
                 "weir flavor create v100 --gpus 8 --zones a,b --price 24.48 --currency USD"},
    {CMD_OBJECT_EDIT(cmd_flavor, flavor, "FLAVOR", COMPLETE_FLAVORS, flags_flavor),
     .help = "change a flavor",
     .more = "What a node is (provider, native name, slots, GPUs, cpu, memory, spot) changes only "
             "while no\npool has nodes of the flavor. Price and zones change at any time.",
     .examples = "weir flavor edit v100 --price 22 --zones a,b,c"},
    {CMD_OBJECT_DELETE(cmd_flavor, flavor, "FLAVOR", COMPLETE_FLAVORS),
     .help = "delete a flavor that no pool names", .examples = "weir flavor delete old --yes"},
    {0},
};
