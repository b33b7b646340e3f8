/* box_view.h - a task's own view of the directories: /job for the pool's files, /job/NAME for the job directory.
 *
 * The task asks for it with words in its list of mounts:
 *
 *   job:/job            the job directory stands at /job
 *   job:/job/NAME       the job directory stands there, and
 *   pool:/job           the pool's directory on this node around it
 *   buckets:/qarnot     the server's interface that knows the task's buckets
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/box.h"

/* Is this entry of the list of mounts such a word? */
bool box_view_word(const char *mount);

/* Reads the words of the order into box->view. */
must_use enum err box_view_read(struct box *box, struct error *e);

/* Lets this process, and its children, see the directories in their places. False: this node cannot give a view;
 * the task then works in its job directory. */
bool box_view_enter(struct box *box);

/* Sets the variables that name the directories: as they stand in the view, or on the node. */
void box_view_name(struct box *box, bool entered);

/* The pool's directory on this node; "": the task wants none. It is there once files of the pool were fetched. */
const char *box_view_pool_dir(struct box *box);

/* Calls `mount` for each directory that a container of the task must have, with its place. */
typedef void (*box_view_fn)(void *ctx, const char *place, const char *source);
void box_view_mounts(struct box *box, box_view_fn mount, void *ctx);
