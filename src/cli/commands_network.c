/* commands_network.c - the command table: networks. SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/cmd_object.h"
#include "cli/flags.h"

const struct command commands_network[] = {
    {CMD_OBJECT_LIST(cmd_network, network),
     .help = "list the networks that pools and tasks may name",
     .examples = "weir network list\nweir network list --json"},
    {CMD_OBJECT_SHOW(cmd_network, network, "NETWORK", COMPLETE_NETWORKS),
     .help = "everything about one network: its addresses, who may use it, which pools do",
     .examples = "weir network show lab"},
    {CMD_OBJECT_CREATE(cmd_network, network, "NETWORK --range A/N [flags]", flags_network),
     .help = "make a network, which pools and tasks may name",
     .examples = "weir network create lab --range 10.77.0.0/24 --outbound\n"
                 "weir network create exam --range 10.78.0.0/24 --for nlp,vision"},
    {CMD_OBJECT_EDIT(cmd_network, network, "NETWORK", COMPLETE_NETWORKS, flags_network),
     .help = "change a network",
     .more = "Range and way out change only while no pool and no task names the network. Who may "
             "use it\nchanges at any time, for tasks that are submitted from then on.",
     .examples = "weir network edit lab --for nlp"},
    {CMD_OBJECT_DELETE(cmd_network, network, "NETWORK", COMPLETE_NETWORKS),
     .help = "delete a network that no pool and no task names",
     .examples = "weir network delete old --yes"},
    {0},
};
