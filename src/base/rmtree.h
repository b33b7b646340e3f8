/* rmtree.h - removes directory trees that others can write to.
 *
 * Whoever owns files of a tree may exchange a directory for a link while the tree is being removed, and may
 * nest directories deeper than a path or a stack can be. So nothing here follows a link, and no path has more
 * than one part below the directory that was opened. SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Removes everything below a directory; the directory stays. What cannot be removed stays, too. Nobody else
 * may be able to write to the directory itself. Mounts are not entered. */
void rmtree_below(const char *path);

/* Removes a directory with all that is below it, or a file. */
void rmtree(const char *path);
