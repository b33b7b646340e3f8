/* view.h - the two views in which a step sees nodes and accounts. "Now" is the state as it is. "Later" is the moment when every
 * leaving instance has left and every claim has started.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

enum view { VIEW_NOW, VIEW_LATER };
enum { VIEW_COUNT = VIEW_LATER + 1 };
