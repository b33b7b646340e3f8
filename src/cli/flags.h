/* flags.h - groups of flags that several commands share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

extern const struct flag flags_json[];      /* --json */
extern const struct flag flags_list[];      /* what every list takes */
extern const struct flag flags_show[];      /* what every show takes */
extern const struct flag flags_yes[];       /* --yes */
extern const struct flag flags_asks[];      /* what an instance of a task asks for */
extern const struct flag flags_task[];      /* what a task asks for: run and submit */
extern const struct flag flags_dir[];       /* --dir of a `weir up` */
extern const struct flag flags_pool[];      /* what a pool is: create and edit */
extern const struct flag flags_task_edit[]; /* what of a task can change */
extern const struct flag flags_account[];   /* what an account is, beside its place in the tree */
extern const struct flag flags_quota[];     /* what a quota is, beside its amounts */

extern const struct command commands_first[];
extern const struct command commands_task[];
extern const struct command commands_pool[];
extern const struct command commands_account[];
extern const struct command commands_node[];
extern const struct command commands_admin[];
extern const struct command commands_self[];
