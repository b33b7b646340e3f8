/* market_cells.h - the text of prices, of flavors that are sold out, and of what could be had instead.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/doc.h"

#include <stdint.h>

/* Writes "3.06 USD" from `price` and `currency`; nothing where the price is unknown. */
void market_cells_price(struct buf *out, const struct doc *item, int64_t now_ms);

/* Of a flavor: writes "a since 5m, asked again in 25s". */
void market_cells_sold_out(struct buf *out, const struct doc *item, int64_t now_ms);

/* Of a pool with a flavor: its flavor, the same for the flavor, its place in line, and other flavors. */
void market_cells_flavor(struct buf *out, const struct doc *item, int64_t now_ms);
void market_cells_sold_out_of_pool(struct buf *out, const struct doc *item, int64_t now_ms);
void market_cells_line_of_pool(struct buf *out, const struct doc *item, int64_t now_ms);
void market_cells_alternatives(struct buf *out, const struct doc *item, int64_t now_ms);
