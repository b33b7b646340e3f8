/* history_launch.c - nodes that a provider is asked for, and what it says of them.
 *
 * The dice are not those of the world, the pool is the one that cannot be deleted, and the facts do not count towards the length
 * of a history: so whatever else happens in a history does not depend on launches.
 * SPDX-License-Identifier: Apache-2.0 */
#include "history_launch.h"

enum { LAUNCH_ONCE_IN = 6, ASK_MAX = 3, ANSWERS_MAX = 4, NAMED_ONCE_IN = 2 };

static const char *const words[] = {"", "no capacity", "taken back"};

/* The number of some launch: of a live one mostly, else of one that ended or never was. */
static launch_id pick(struct world *world)
{
    const struct launch *found = NULL;
    uint32_t seen = 0;
    for (const struct launch *at = query_launch_next(world->core, (launch_id){0}); at != NULL;
         at = query_launch_next(world->core, at->id)) {
        if (dice_once_in(&world->launches, ++seen)) {
            found = at;
        }
    }
    return found != NULL && !dice_once_in(&world->launches, 8)
               ? found->id
               : (launch_id){dice_roll(&world->launches, 40)};
}

/* The name of some node, or of none. */
static const char *node_pick(struct world *world)
{
    const struct node *node =
        query_node_next(world->core, (node_id){dice_roll(&world->launches, 6)});
    return node != NULL && dice_once_in(&world->launches, NAMED_ONCE_IN)
               ? query_node_name(world->core, node->id)
               : "";
}

static void answers_give(struct world *world)
{
    struct provider_answer answers[ANSWERS_MAX];
    const uint32_t count = 1 + dice_roll(&world->launches, ANSWERS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        answers[i] = (struct provider_answer){
            .launch = pick(world),
            .says = (enum provider_says)dice_roll(&world->launches, PROVIDER_SAYS_COUNT),
            .name = dice_once_in(&world->launches, NAMED_ONCE_IN) ? "i-1" : "",
            .node = node_pick(world),
            .words = words[dice_roll(&world->launches, 3)],
        };
        if (i > 0 && dice_once_in(&world->launches, 4)) {
            answers[i] = answers[i - 1];
        }
    }
    struct input in = {.type = INPUT_PROVIDER, .provider = {.answers = answers, .count = count}};
    law(world_step(world, in) == VERDICT_OK, "a provider is never refused");
    in.provider.answers += count - 1;
    in.provider.count = 1;
    law(world_step(world, in) == VERDICT_OK, "a provider is never refused");
    law(world->facts.count == 0, "an answer that comes again changes nothing");
}

void launch_roll(struct world *world)
{
    if (!dice_once_in(&world->launches, LAUNCH_ONCE_IN)) {
        return;
    }
    arena_clear(&world->arena);
    struct input in = {.type = INPUT_LAUNCH_ASK};
    switch (dice_roll(&world->launches, 4)) {
    case 0:
        in.launch.pool = (pool_id){1};
        in.launch.count = 1 + dice_roll(&world->launches, ASK_MAX);
        law(world_step(world, in) == VERDICT_OK, "nodes can be asked for");
        break;
    case 1:
        in.type = INPUT_LAUNCH_STOP;
        in.launch.launch = pick(world);
        (void)world_step(world, in);
        break;
    default:
        answers_give(world);
        break;
    }
}
