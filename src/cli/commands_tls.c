/* commands_tls.c - the command table: the server's certificate.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/flags.h"

static const struct flag flags_tls_init[] = {
    {"renew", 0, FLAG_BOOL, NULL, "make the next certificate, with the same authority",
     COMPLETE_NONE, NULL},
    {"life", 0, FLAG_DURATION, "D", "how long the certificate is valid (default 365d)",
     COMPLETE_NONE, NULL},
    {0},
};

const struct command commands_tls[] = {
    {.name = "tls init",
     .args = "[NAME…]",
     .help = "make an authority and a certificate, so that the server speaks TLS",
     .more = "NAME is a host name or an IP address under which other machines reach the server; "
             "without\n"
             "a NAME, the name of this machine. Tokens of a server with a certificate carry the\n"
             "fingerprint of its authority: nodes and people who log in trust no other server. "
             "--renew\n"
             "keeps the authority and the names; no token has to be made anew.",
     .examples = "weir tls init 10.0.0.1 weir.example\nweir tls init --renew",
     .groups = {flags_dir, flags_tls_init, flags_json},
     .args_max = ARGS_ANY,
     .run = cmd_tls_init},
    {.name = "tls show",
     .args = "",
     .help = "names, end and fingerprint of the server's certificate",
     .examples = "weir tls show --dir /var/lib/weir",
     .groups = {flags_dir, flags_json},
     .run = cmd_tls_show},
    {0},
};
