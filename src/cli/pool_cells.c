/* pool_cells.c - see pool_cells.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/pool_cells.h"

#include "cli/cells.h"
#include "cli/item.h"

#include <inttypes.h>
#include <string.h>

void pool_cells_access(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *guests = item_at(item, "for");
    const bool dedicated = strcmp(item_text(item, "access"), "dedicated") == 0;
    buf_add_str(out, dedicated ? "only " : "everyone");
    for (const struct doc *d = guests == NULL || !dedicated ? NULL : guests->first; d != NULL;
         d = d->next) {
        buf_addf(out, "%s%s", d == guests->first ? "" : ", ", d->text.p);
    }
}

void pool_cells_selector(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    cells_labels_text(out, item_at(item, "selector"));
}

void pool_cells_contested(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const int64_t count = item_number(item, "contested.count", 0);
    const struct doc *nodes = item_at(item, "contested.nodes");
    if (count == 0) {
        return;
    }
    buf_addf(out, "%" PRId64 " node%s the selectors of other pools, too: ", count,
             count == 1 ? " matches" : "s match");
    for (const struct doc *d = nodes == NULL ? NULL : nodes->first; d != NULL; d = d->next) {
        buf_addf(out, "%s%s", d == nodes->first ? "" : ", ", d->text.p);
    }
    if (nodes != NULL && count > nodes->count) {
        buf_add_str(out, ", …");
    }
}
