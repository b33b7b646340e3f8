/* change_shape.c - rows of shapes: one for all tasks that ask for the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/form.h"
#include "core/model/oindex.h"
#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

/* The hash of what makes two shapes one. */
static uint64_t shape_hash(pool_id pool, uint32_t gang_size, const struct request *request,
                           const struct form *form)
{
    uint64_t seed = hash_u64((uint64_t)pool.v << 32 | gang_size);
    if (form != NULL) {
        seed ^= hash_bytes(form, form_size(form));
    }
    return hash_u64(seed ^ hash_words(request, sizeof *request));
}

static bool same_form(const struct form *a, const struct form *b)
{
    return a == NULL || b == NULL ? a == b
                                  : form_size(a) == form_size(b) && memcmp(a, b, form_size(a)) == 0;
}

shape_id change_shape_take(struct core *core, pool_id pool, uint32_t gang_size,
                           const struct request *request, const struct form *form)
{
    uint64_t hash = shape_hash(pool, gang_size, request, form);
    const struct oindex *order = &core->orders[ORDER_SHAPE_HASH];
    struct okey key = {{hash}};
    for (bool more = oindex_from(order, key, &key); more && key.at[0] == hash;
         more = oindex_next(order, key, &key)) {
        const struct shape *found = query_task_shape(core, (shape_id){(uint32_t)key.at[1]});
        must(found != NULL);
        if (found->pool.v == pool.v && found->gang_size == gang_size &&
            memcmp(&found->request, request, sizeof *request) == 0 &&
            same_form(shape_form(found), form)) {
            struct shape *shape = table_edit(&core->shapes, found->id.v);
            shape->task_count++;
            return shape->id;
        }
    }
    must(core->shapes.last < UINT32_MAX);
    struct shape *shape = table_add(&core->shapes);
    shape->id = (shape_id){(uint32_t)core->shapes.last};
    shape->task_count = 1;
    shape->gang_size = gang_size;
    shape->pool = pool;
    shape->hash = hash;
    shape->request = *request;
    shape->form = form == NULL ? NULL : blob_new(form, form_size(form));
    must(oindex_insert(&core->orders[ORDER_SHAPE_HASH], (struct okey){{hash, shape->id.v}}));
    return shape->id;
}

void change_shape_drop(struct core *core, shape_id id)
{
    struct shape *shape = table_edit(&core->shapes, id.v);
    must(shape != NULL);
    must(shape->task_count > 0);
    if (--shape->task_count == 0) {
        must(oindex_remove(&core->orders[ORDER_SHAPE_HASH], (struct okey){{shape->hash, id.v}}));
        table_remove(&core->shapes, id.v);
    }
}
