/* cmd_checkpoint.c - `weir checkpoint`, called by a task on its node. The command touches a file
 * and asks no server. The node's supervisor looks at the file, so that no checkpoint is lost
 * while the server or the agent is away.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/context.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Touches a file. O_NONBLOCK keeps a pipe or device of this name from blocking the task. */
static enum err file_touch(const char *path, struct error *e)
{
    const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const int fd = open(path, flags, S_IRUSR | S_IWUSR);
    if (fd < 0) {
        return fail_errno(e, ERR_IO, errno, "cannot open '%s'", path);
    }
    const int touched = futimens(fd, NULL);
    const int why = errno;
    (void)close(fd);
    return touched == 0 ? ERR_OK : fail_errno(e, ERR_IO, why, "cannot touch '%s'", path);
}

int cmd_checkpoint(struct cli *cli)
{
    const char *path = getenv("WEIR_CHECKPOINT_FILE");
    struct error e;
    enum err r = ERR_OK;
    if (path == NULL || path[0] == '\0') {
        r = fail(&e, ERR_USAGE,
                 "this is not inside a task of Weir: WEIR_CHECKPOINT_FILE is not set; a task calls "
                 "`weir "
                 "checkpoint` when it has saved its work, so that less is lost when it is stopped");
    } else {
        r = file_touch(path, &e);
    }
    return r == ERR_OK ? 0 : context_fail(cli, &e);
}
