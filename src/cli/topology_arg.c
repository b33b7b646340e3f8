/* topology_arg.c - reads the value of --topology.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/topology_arg.h"

#include "base/json_out.h"
#include "base/str.h"

enum { TOPOLOGY_JSON_MAX = 4096 };

enum err topology_arg_json(const char *text, struct arena *arena, const char **ret, struct error *e)
{
    struct buf json;
    buf_init(&json, TOPOLOGY_JSON_MAX);
    struct json_out j;
    json_out_init(&j, &json);
    json_out_object(&j);
    struct str rest = str_of(text);
    bool known = true;
    bool seen[2] = {false, false};
    while (known && rest.p != NULL) {
        struct str level;
        struct str key = str_trim(str_cut(str_cut(rest, ',', &rest), '=', &level));
        const unsigned which = str_is(key, "preferred");
        known = level.p != NULL && level.len > 0 && !seen[which] &&
                (which == 1 || str_is(key, "required"));
        seen[which] = true;
        if (known) {
            json_out_key(&j, which == 1 ? "preferred" : "required");
            json_out_str(&j, str_trim(level));
        }
    }
    json_out_end(&j);
    known = known && !json.full;
    if (known) {
        *ret = arena_strn(arena, buf_text(&json), json.len);
    }
    buf_done(&json);
    return known ? ERR_OK
                 : fail(e, ERR_USAGE,
                        "--topology is '%.60s'; levels of the pool's topology, like required=zone "
                        "or required=zone,preferred=rack, would do",
                        text);
}
