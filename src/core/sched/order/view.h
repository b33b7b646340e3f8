/* view.h - the two moments at which a step looks at nodes and accounts: now, and later.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

enum view { VIEW_NOW, VIEW_LATER };
enum { VIEW_COUNT = VIEW_LATER + 1 };
