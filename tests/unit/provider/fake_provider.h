/* fake_provider.h - a provider whose machines exist on paper. Machines move when the test says so,
 * and reports can be repeated, held back or made up.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "provider/provider.h"

#include <stdint.h>

enum { FAKE_MACHINES_MAX = 16 };

struct fake_machine {
    char key[PROVIDER_KEY_MAX];
    char name[32];            /* "m-1" */
    const char *node;         /* as which its agent has joined; "": it has not */
    enum provider_says state; /* PROVIDER_GONE: the machine is no more, its key stays known */
};

struct fake_provider {
    struct provider provider; /* first */
    struct fake_machine machines[FAKE_MACHINES_MAX];
    unsigned count;
    unsigned launch_calls; /* more than machines made: orders were repeated */
    unsigned terminate_calls;
    const char *refuses; /* why no further machine can be had; NULL: they can */
};

void fake_provider_init(struct fake_provider *fake, struct provider_sink sink);

/* A machine comes up; its agent joins under this name ("": not yet). Reports it. */
void fake_provider_up(struct fake_provider *fake, unsigned index, const char *node);

/* A machine goes by itself. Reports it. */
void fake_provider_lose(struct fake_provider *fake, unsigned index);

/* Machines that have not gone. */
unsigned fake_provider_alive(const struct fake_provider *fake);
