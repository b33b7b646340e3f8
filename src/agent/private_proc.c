/* private_proc.c - see private_proc.h. Environments and arguments of other users' tasks, and of
 * agent and server, can be read in a shared /proc. Mounts of the machine still reach the new mount
 * namespace; mounts made in it do not leave it. SPDX-License-Identifier: Apache-2.0 */
#include "agent/private_proc.h"

#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <unistd.h>

bool private_proc_mount(void)
{
    const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
           mount("proc", "/proc", "proc", flags, "hidepid=2") == 0;
}
