/* crash.c - see crash.h. Only the loop's thread passes crash points.
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/crash.h"

#include "base/str.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* The crash that the environment asks for, read once. */
struct plan {
    bool known;
    struct str point;
    uint64_t left; /* passes of the point until the process kills itself; 0: never */
};

static struct plan plan;

static void plan_read(void)
{
    plan.known = true;
    const char *text = getenv("WEIR_CRASH_AT");
    if (text != NULL) {
        struct str number;
        plan.point = str_cut(str_of(text), ':', &number);
        if (number.p == NULL || !str_to_u64(number, &plan.left)) {
            plan.left = 1;
        }
    }
}

void crash_point(const char *name)
{
    if (!plan.known) {
        plan_read();
    }
    if (plan.left == 0 || !str_is(plan.point, name)) {
        return;
    }
    plan.left--;
    if (plan.left == 0) {
        (void)kill(getpid(), SIGKILL);
    }
}

void crash_point_submit(const char *name, const struct batch *batch)
{
    for (size_t i = 0; i < batch->facts.count; i++) {
        if (batch->facts.at[i].type == FACT_TASK_SUBMITTED) {
            crash_point(name);
            return;
        }
    }
}

void crash_point_order(const char *name, const struct batch *batch)
{
    for (size_t i = 0; i < batch->effects.count; i++) {
        if (batch->effects.at[i].type == EFFECT_START) {
            crash_point(name);
            return;
        }
    }
}
