/* health.c - see health.h.
 *
 * The program runs as the agent's user, so only root and that user may be able to write it. Exit code 0: the node is well. Anything
 * else, and a program that cannot be run or takes longer than HEALTH_TIMEOUT_MS, is trouble; the last line of its standard error
 * says which. Tasks that run on the node go on. SPDX-License-Identifier: Apache-2.0 */
#include "agent/health.h"

#include "agent/agent_internal.h"
#include "agent/session.h"
#include "base/mem.h"
#include "base/str.h"
#include "provider/programs.h"

#include <stdio.h>

enum { HEALTH_EVERY_MS = 60 * 1000, HEALTH_EVERY_MS_MIN = 1000, HEALTH_TIMEOUT_MS = 30 * 1000 };

struct health {
    struct agent *agent;
    struct programs *programs;
    struct loop_timer *timer;
    int64_t every_ms;
    bool known; /* the program has run once */
    char trouble[TEXT_LEN_MAX + 1];
};

static void checked(void *ctx, const struct programs_result *result)
{
    struct health *health = ctx;
    char trouble[sizeof health->trouble] = "";
    if (result->problem[0] != '\0') {
        (void)snprintf(trouble, sizeof trouble, "health check: %.200s", result->problem);
    }
    (void)str_copy(health->trouble, sizeof health->trouble, trouble);
    loop_timer_set(health->timer, loop_now_ms(health->agent->loop) + health->every_ms);
    if (!health->known) {
        health->known = true;
        session_restart(health->agent);
    }
    session_trouble(health->agent);
}

static void due(void *ctx)
{
    struct health *health = ctx;
    const char *const argv[] = {health->agent->options.health_check, NULL};
    programs_run(health->programs, &(struct programs_order){.argv = argv,
                                                            .timeout_ms = HEALTH_TIMEOUT_MS,
                                                            .own_only = true,
                                                            .owner = health,
                                                            .done = checked,
                                                            .ctx = health});
}

struct health *health_new(struct agent *agent)
{
    const int64_t every_ms = agent->options.health_every_ms;
    if (agent->options.health_check == NULL) {
        return NULL;
    }
    struct health *health = xcalloc(1, sizeof *health);
    health->agent = agent;
    health->programs = programs_new(agent->loop);
    health->timer = loop_timer_new(agent->loop, due, health);
    health->every_ms = every_ms == 0                    ? HEALTH_EVERY_MS
                       : every_ms < HEALTH_EVERY_MS_MIN ? HEALTH_EVERY_MS_MIN
                                                        : every_ms;
    due(health);
    return health;
}

void health_free(struct health *health)
{
    if (health != NULL) {
        programs_free(health->programs);
        loop_timer_free(health->timer);
        free(health);
    }
}

bool health_unknown(const struct health *health)
{
    return health != NULL && !health->known;
}

const char *health_trouble(const struct health *health)
{
    return health == NULL ? "" : health->trouble;
}
