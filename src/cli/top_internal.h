/* top_internal.h - what the pages of `weir top` share. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/top_doc.h"
#include "cli/top_view.h"

enum { HEAD_ROWS = 2 }; /* rows above a page: the title, and the state of the connection */

/* Draws the page of the map. */
void top_map_draw(struct top_screen *screen, struct top_state *state);
