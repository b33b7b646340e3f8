/* change_network.c - the rows of named networks. SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/network.h"
#include "core/model/spec_codec.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/query.h"

#include <string.h>

void change_network_set(struct core *core, const struct fact *fact)
{
    const struct network_spec *spec = fact->network_set.spec;
    const network_id id = fact->network_set.network;
    struct network *network = table_edit(&core->networks, id.v);
    struct buf text;
    if (network == NULL) {
        network = table_put(&core->networks, id.v);
        network->id = id;
    }
    buf_init(&text, TASK_SPEC_BYTES_MAX);
    buf_add(&text, spec->name, strlen(spec->name) + 1);
    spec_codec_network_encode(spec, &text);
    must(!text.full);
    blob_unref(network->text);
    network->text = blob_new(text.data, text.len);
    buf_done(&text);
}

void change_network_delete(struct core *core, const struct fact *fact)
{
    must(query_network(core, fact->network_deleted.network) != NULL);
    table_remove(&core->networks, fact->network_deleted.network.v);
}
