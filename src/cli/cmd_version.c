/* cmd_version.c - `weir version`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/context.h"

int cmd_version(struct cli *cli)
{
    context_out_text(args_has(&cli->args, "json") ? "{\"version\":\"" WEIR_VERSION "\"}\n"
                                                  : "weir " WEIR_VERSION "\n");
    return EXIT_OK;
}
