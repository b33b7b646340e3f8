/* guild_devices.c - see guild_devices.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/guild_devices.h"

#include "core/model/resource.h"

#include <string.h>

const char guild_devices_resource[] = "gpu";

enum err guild_devices_read(const char *text, struct arena *arena, struct guild_devices *ret,
                            struct error *e)
{
    *ret = (struct guild_devices){0};
    struct str rest = str_of(text);
    while (rest.p != NULL) {
        const struct str word = str_trim(str_cut(rest, ',', &rest));
        if (word.len == 0) {
            return fail(e, ERR_USAGE, "devices is '%.60s'; names with commas would do: 0,1", text);
        }
        if (ret->count == GUILD_DEVICES_MAX) {
            return fail(e, ERR_USAGE, "devices has more than %d names", GUILD_DEVICES_MAX);
        }
        for (size_t i = 0; i < ret->count; i++) {
            if (str_is(word, ret->names[i])) {
                return fail(e, ERR_USAGE, "devices names '%.60s' twice", ret->names[i]);
            }
        }
        ret->names[ret->count++] = arena_strn(arena, word.p, word.len);
    }
    return ERR_OK;
}

/* How many thousandths of devices the run needs. */
static int64_t need_of(const struct guild_devices *devices, const struct guild_needs *needs)
{
    const struct guild_need *need = guild_needs_find(needs, guild_devices_resource);
    return devices->count == 0 || need == NULL ? 0 : need->milli;
}

enum err guild_devices_check(const struct guild_devices *devices, const struct guild_needs *needs,
                             struct error *e)
{
    return need_of(devices, needs) % SLOT_MILLI == 0
               ? ERR_OK
               : fail(e, ERR_INVALID, "requires %s=%s; with devices= a whole number would do",
                      guild_devices_resource,
                      guild_needs_find(needs, guild_devices_resource)->shown);
}

const char *guild_devices_take(struct guild_devices *devices, const struct guild_needs *needs,
                               uint32_t holder, struct arena *arena)
{
    const char *names = NULL;
    int64_t wanted = need_of(devices, needs) / SLOT_MILLI;
    for (size_t i = 0; i < devices->count && wanted > 0; i++) {
        if (devices->holders[i] == 0) {
            devices->holders[i] = holder;
            names = names == NULL ? devices->names[i]
                                  : arena_fmt(arena, "%s,%s", names, devices->names[i]);
            wanted--;
        }
    }
    must(wanted == 0);
    return names;
}

void guild_devices_give(struct guild_devices *devices, uint32_t holder)
{
    for (size_t i = 0; i < devices->count; i++) {
        if (devices->holders[i] == holder) {
            devices->holders[i] = 0;
        }
    }
}
