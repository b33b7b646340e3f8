/* private_proc.h - a /proc in which a task sees the processes of its own user only.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Gives the calling process, and every process that it makes, a /proc that hides the processes of
 * other users. Only root can do so. False: /proc stays as it is. */
bool private_proc_mount(void);
