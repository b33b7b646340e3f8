/* flags.h - groups of flags that several commands share.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

extern const struct flag flags_json[];    /* --json */
extern const struct flag flags_list[];    /* flags of every list */
extern const struct flag flags_show[];    /* flags of every `show` */
extern const struct flag flags_at[];      /* --at of commands that can show an earlier moment */
extern const struct flag flags_yes[];     /* --yes */
extern const struct flag flags_dry_run[]; /* --dry-run of commands that change something */
extern const struct flag flags_asks[];    /* the request of an instance */
extern const struct flag flags_task[];    /* the other fields of a task: `run` and `submit` */
extern const struct flag flags_dir[];     /* --dir of a `weir up` */
extern const struct flag flags_pool[];    /* the fields of a pool: `create` and `edit` */
extern const struct flag flags_drain[];   /* what becomes of the tasks on a node that is drained */
extern const struct flag flags_task_edit[]; /* the fields of a task that can change */
extern const struct flag flags_flavor[];    /* the fields of a flavor: `create` and `edit` */
extern const struct flag flags_network[];   /* the fields of a network: `create` and `edit` */
/* The fields of an account, except its place in the tree. */
extern const struct flag flags_account[];
extern const struct flag flags_quota[]; /* the fields of a quota, except its amounts */

extern const struct command commands_first[];
extern const struct command commands_task[];
extern const struct command commands_files[]; /* behind commands_task */
extern const struct command commands_pool[];
extern const struct command
    commands_scale[]; /* behind commands_pool: completion wants a group together */
extern const struct command commands_lock[]; /* behind commands_node */
extern const struct command commands_flavor[];
extern const struct command commands_network[];
extern const struct command commands_account[];
extern const struct command commands_node[];
extern const struct command commands_config[];
extern const struct command commands_admin[];
extern const struct command commands_tls[];
extern const struct command commands_interactive[];
extern const struct flag flags_spread[];
extern const struct command commands_screen[];
extern const struct command commands_guild[];
extern const struct command commands_self[];

/* Of the simulator (flags_sim.c). */
extern const struct flag flags_sim[];
extern const struct flag flags_sim_inputs[];
extern const struct flag flags_sim_compare[];
extern const struct flag flags_sim_openb[];
