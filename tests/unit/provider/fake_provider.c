/* fake_provider.c - see fake_provider.h. SPDX-License-Identifier: Apache-2.0 */
#include "fake_provider.h"

#include "base/must.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

static void report(const struct fake_provider *fake, const char *key,
                   const struct fake_machine *machine, const char *words)
{
    struct provider_report report = {
        .key = key,
        .says = machine != NULL ? machine->state : PROVIDER_GONE,
        .name = machine != NULL ? machine->name : "",
        .node = machine != NULL && machine->state == PROVIDER_RUNNING ? machine->node : "",
        .words = words,
    };
    fake->provider.sink.report(fake->provider.sink.ctx, &report);
}

static struct fake_machine *find(struct fake_provider *fake, const char *key)
{
    for (unsigned i = 0; i < fake->count; i++) {
        if (strcmp(fake->machines[i].key, key) == 0) {
            return &fake->machines[i];
        }
    }
    return NULL;
}

static void fake_launch(struct provider *provider, const struct provider_order *order)
{
    struct fake_provider *fake = (struct fake_provider *)provider;
    struct fake_machine *machine = find(fake, order->key);
    fake->launch_calls++;
    if (machine == NULL && fake->refuses != NULL) {
        struct provider_report no = {.key = order->key,
                                     .says = PROVIDER_FAILED,
                                     .name = "",
                                     .node = "",
                                     .words = fake->refuses};
        provider->sink.report(provider->sink.ctx, &no);
        return;
    }
    if (machine == NULL) {
        must(fake->count < FAKE_MACHINES_MAX);
        machine = &fake->machines[fake->count++];
        (void)str_copy(machine->key, sizeof machine->key, order->key);
        (void)snprintf(machine->name, sizeof machine->name, "m-%u", fake->count);
        machine->node = "";
        machine->state = PROVIDER_REQUESTED;
    }
    report(fake, machine->key, machine, "");
}

static void fake_list(struct provider *provider, void (*done)(void *ctx, const char *problem),
                      void *ctx)
{
    struct fake_provider *fake = (struct fake_provider *)provider;
    for (unsigned i = 0; i < fake->count; i++) {
        report(fake, fake->machines[i].key, &fake->machines[i], "");
    }
    done(ctx, "");
}

static void fake_terminate(struct provider *provider, const char *key)
{
    struct fake_provider *fake = (struct fake_provider *)provider;
    struct fake_machine *machine = find(fake, key);
    fake->terminate_calls++;
    if (machine != NULL) {
        machine->state = PROVIDER_GONE;
    }
    report(fake, key, machine, "");
}

static void fake_free(struct provider *provider)
{
    (void)provider; /* the test's own */
}

void fake_provider_init(struct fake_provider *fake, struct provider_sink sink)
{
    static const struct provider_ops ops = {fake_launch, fake_list, fake_terminate, fake_free};
    *fake = (struct fake_provider){.provider = {.ops = &ops, .sink = sink}};
}

void fake_provider_up(struct fake_provider *fake, unsigned index, const char *node)
{
    struct fake_machine *machine = &fake->machines[index];
    machine->state = PROVIDER_RUNNING;
    machine->node = node;
    report(fake, machine->key, machine, "");
}

void fake_provider_lose(struct fake_provider *fake, unsigned index)
{
    fake->machines[index].state = PROVIDER_GONE;
    report(fake, fake->machines[index].key, &fake->machines[index], "taken back");
}

unsigned fake_provider_alive(const struct fake_provider *fake)
{
    unsigned count = 0;
    for (unsigned i = 0; i < fake->count; i++) {
        count += fake->machines[i].state != PROVIDER_GONE;
    }
    return count;
}
