/* typical_use.h - typical requests against one node: how many instances of each typical request would the
 * node take?
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/resource.h"
#include "core/model/typical.h"

#include <stdbool.h>
#include <stdint.h>

struct space;

/* A typical request, prepared for asking many nodes. Borrows the request from the row in the state. */
struct typical_use {
    const struct request *request;
    uint64_t weight;
    int64_t slots_milli;
    int64_t cpu_milli;
    int64_t memory_bytes;
    /* how often the request's part of a device goes into a whole device; 0: the request is for whole devices */
    uint32_t of_device;
    /* only slots of devices and given amounts of cpu and memory bound the request */
    bool plain;
    /* the request needs special nodes: labels, named resources or memory of devices */
    bool picky;
};

/* All typical requests of a pool. */
struct typical_uses {
    struct typical_use at[TYPICAL_MAX];
    uint32_t count;
    bool labelled;    /* some requests require labels */
    uint64_t version; /* typical_version of the pool when these requests were read */
};

/* Prepares the request of a row. */
void typical_use_of(const struct request *request, uint64_t weight, struct typical_use *ret);

/* The idle devices of a space: the number of wholly free devices, and the free parts of the others. */
struct idle {
    const struct space *place;
    uint32_t whole;
    uint32_t part_count;
    uint16_t parts[NODE_DEVICES_MAX];
};
void typical_use_idle(const struct space *place, struct idle *ret);

/* Does the node have what the request needs, apart from free amounts: labels, named resources, memory of
 * devices? */
bool typical_use_suits(const struct typical_use *use, const struct node *node);

/* How many instances the space takes, as fit_count() without a bound. */
uint32_t typical_use_fits(const struct typical_use *use, const struct idle *idle);

/* The largest whole number whose square is at most `value`. */
uint64_t typical_use_root(uint64_t value);
