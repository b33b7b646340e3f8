/* cmd_ui.c - `weir ui`: a one-time link into the web interface.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/item.h"
#include "cli/show.h"

#include <spawn.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static bool has_desktop(void)
{
    const char *x11 = getenv("DISPLAY");
    const char *wayland = getenv("WAYLAND_DISPLAY");
    return (x11 != NULL && x11[0] != '\0') || (wayland != NULL && wayland[0] != '\0');
}

/* Hands the link to the desktop. The link stands on a command line for a moment; it is good once, so that
 * the page itself uses it up. False: there is no such program. */
static bool browser_open(const char *url)
{
    char *const argv[] = {(char[]){"xdg-open"}, strdup(url), NULL};
    pid_t pid;
    const bool started = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) == 0;
    free(argv[1]);
    return started;
}

int cmd_ui(struct cli *cli)
{
    struct error e;
    struct api_reply reply;
    if (api_change(cli, &cli->arena, "POST", "/session/link", (struct str){0}, &reply, &e) !=
        ERR_OK) {
        return context_fail(cli, &e);
    }
    if (strncmp(cli->login.url, "unix:", 5) == 0) {
        (void)fail(&e, ERR_USAGE,
                   "a browser cannot open '%.100s'; name the server's address with --server",
                   cli->login.url);
        return context_fail(cli, &e);
    }
    if (show_json(cli, &reply)) {
        return EXIT_OK;
    }
    const char *url = arena_fmt(&cli->arena, "%s%s", cli->login.url, item_text(reply.doc, "path"));
    if (!args_has(&cli->args, "print") && has_desktop() && browser_open(url)) {
        context_say("the browser opens %s, signed in", cli->login.url);
        return EXIT_OK;
    }
    context_out_text(url);
    context_out_text("\n");
    if (cli->err_tty) {
        context_say("the link signs in once, within two minutes");
    }
    return EXIT_OK;
}
