/* join.c - see join.h. SPDX-License-Identifier: Apache-2.0 */
#include "api/join.h"

#include "api/api_internal.h"
#include "io/http_request.h"

static bool from_here(struct call *call)
{
    const char *peer = http_request_peer(call->request);
    return strncmp(peer, "127.", 4) == 0 || strcmp(peer, "::1") == 0;
}

/* True: the token was used up by this very join, whose answer the agent has not got. */
static bool is_repeated(const struct store_token *token, const struct agent_join *join)
{
    return join->machine[0] != '\0' && strcmp(token->machine, join->machine) == 0 &&
           strcmp(token->node, join->name) == 0;
}

static bool token_fits(struct call *call, const struct store_token *token,
                       const struct agent_join *join)
{
    if (token->uses == 0 && !from_here(call)) {
        call_failf(call, ERR_DENIED, "",
                   "this join token is for nodes on the server's own machine; `weir token create "
                   "--scope join` makes a token for others");
        return false;
    }
    if (token->uses < 0 && !is_repeated(token, join)) {
        call_failf(call, ERR_DENIED, "",
                   "this join token is used up; `weir token create --scope join` makes another");
        return false;
    }
    if (token->pool[0] != '\0' && join->pool[0] != '\0' && strcmp(token->pool, join->pool) != 0) {
        call_failf(call, ERR_DENIED, "pool", "this join token is for pool '%s', not '%s'",
                   token->pool, join->pool);
        return false;
    }
    if (token->node[0] != '\0' && strcmp(token->node, join->name) != 0) {
        call_failf(call, ERR_DENIED, "name", "this join token is for node '%s', not '%s'",
                   token->node, join->name);
        return false;
    }
    return true;
}

/* True: the name is free, or the machine that has it asks. A node without a credential may have
 * been any machine. */
static bool name_is_own(struct call *call, const struct agent_join *join)
{
    const struct store_token *old = token_set_named(call->api->o.tokens, SCOPE_NODE, join->name);
    const struct node *node = query_node_named(call_core(call), join->name);
    if (old == NULL) {
        return node == NULL || node->state == NODE_REMOVED;
    }
    return old->machine[0] != '\0' && strcmp(old->machine, join->machine) == 0;
}

bool join_allowed(struct call *call, const struct agent_join *join, struct store_token *ret)
{
    const struct store_token *token = token_set_by_id(call->api->o.tokens, call->token);
    if (token == NULL) {
        call_failf(call, ERR_DENIED, "", "this join token is no longer valid");
        return false;
    }
    if (!token_fits(call, token, join)) {
        return false;
    }
    const bool word = token->uses == 0 || token->node[0] != '\0';
    if (!word && !name_is_own(call, join)) {
        call_failf(call, ERR_CONFLICT, "name",
                   "the name '%s' belongs to another machine; take another name, or let an "
                   "administrator say `weir node rejoin %s`",
                   join->name, join->name);
        return false;
    }
    *ret = *token;
    if (ret->uses > 1) {
        ret->uses--;
    } else if (ret->uses == 1) {
        ret->uses = -1;
        must(str_copy(ret->node, sizeof ret->node, join->name));
        must(str_copy(ret->machine, sizeof ret->machine, join->machine));
    }
    return true;
}

void join_limit(struct store_token *token, const char *pool, int64_t uses)
{
    token->uses = uses > 0 ? uses : JOIN_USES_DEFAULT;
    must(str_copy(token->pool, sizeof token->pool, pool));
}
