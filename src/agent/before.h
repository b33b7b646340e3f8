/* before.h - an agent that comes back to tasks which began before compares the node with what the node was then. While
 * such tasks run on a node with other devices or of another pool, the node takes no new work.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct agent;
struct before;

struct before *before_new(struct agent *agent);
void before_free(struct before *before); /* NULL is allowed */

/* The supervisor has listed its attempts. Where none runs, the node is from now on what it is. */
void before_listed(struct before *before);

/* Why the node is out of service; "": it is not. */
const char *before_trouble(const struct before *before);
