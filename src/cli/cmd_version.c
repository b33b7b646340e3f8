/* cmd_version.c - `weir version`: the program, and the versions of every format that it writes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "cli/cmd.h"
#include "cli/context.h"
#include "core/state/fact.h"
#include "core/state/state_codec.h"
#include "store/store.h"
#include "wire/agent.h"

enum { VERSION_BYTES_MAX = 4096 };

int cmd_version(struct cli *cli)
{
    const struct {
        const char *name;
        uint64_t version;
    } formats[] = {
        {"schema", (uint64_t)store_schema_version()},
        {"facts", FACT_TYPE_MAX},
        {"state", STATE_VERSION},
        {"segment", STORE_SEGMENT_FORMAT},
        {"snapshot", STORE_SNAPSHOT_FORMAT},
        {"acknowledged", STORE_ACK_FORMAT},
        {"protocol", AGENT_PROTOCOL_MAX},
    };
    const size_t count = sizeof formats / sizeof formats[0];
    struct buf out;
    buf_init(&out, VERSION_BYTES_MAX);
    if (args_has(&cli->args, "json")) {
        struct json_out j;
        json_out_init(&j, &out);
        json_out_object(&j);
        json_out_kv_text(&j, "version", WEIR_VERSION);
        json_out_key(&j, "formats");
        json_out_object(&j);
        for (size_t i = 0; i < count; i++) {
            json_out_kv_u64(&j, formats[i].name, formats[i].version);
        }
        json_out_end(&j);
        json_out_end(&j);
    } else {
        buf_add_str(&out, "weir " WEIR_VERSION "\nformats:");
        for (size_t i = 0; i < count; i++) {
            buf_addf(&out, "%s %s %llu", i > 0 ? "," : "", formats[i].name,
                     (unsigned long long)formats[i].version);
        }
    }
    buf_add_char(&out, '\n');
    context_out_text(buf_text(&out));
    buf_done(&out);
    return EXIT_OK;
}
