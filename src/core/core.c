/* core.c - the front of the core: each function is one of the rooms below.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "core/apply/apply.h"
#include "core/check.h"
#include "core/decide/decide.h"
#include "core/react/react.h"
#include "core/state/state.h"

struct core *core_new(void)
{
    return state_new();
}

void core_free(struct core *core)
{
    state_free(core);
}

struct core *core_copy(const struct core *core)
{
    return state_copy(core);
}

void core_caches_off(struct core *core)
{
    state_caches_off(core);
}

enum verdict core_decide(const struct core *core, const struct input *in, struct facts *out)
{
    return decide(core, in, out);
}

void core_apply(struct core *core, const struct fact *fact)
{
    apply(core, fact);
}

void core_react(const struct core *core, const struct fact *fact, struct effects *out)
{
    react(core, fact, out);
}

void core_orders_for(const struct core *core, node_id node, struct effects *out)
{
    react_orders(core, node, out);
}

void core_check(const struct core *core)
{
    check(core);
}

void core_check_rows(const struct core *core)
{
    check_rows(core);
}

void core_encode(const struct core *core, struct buf *out)
{
    state_encode(core, out);
}

enum err core_decode(struct str bytes, struct core **ret, struct error *e)
{
    return state_decode(bytes, ret, e);
}

void core_pass_idle(struct core *core, pool_id pool)
{
    apply_pool_idle(core, pool);
}
