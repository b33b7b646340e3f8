/* level.h - the division of fairshare.h, kept as it changes: the children of one account, or the top accounts, in one dimension.
 *
 * Siblings of one rank and weight that want more get the same in every round. So a class of such siblings is a list sorted by what
 * they want, and a round looks up how many of them it satisfies. A change of one sibling costs a few look-ups, however many siblings
 * there are. The results are the integers of fairshare_divide(). Usage history (k above 0) is not known here.
 *
 *   wants of a class, ascending      | satisfied: share = base + want | share = base + gift, some of the oldest: one unit more |
 *                                                                  reach
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/ranked.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a sibling has a claim to: the inputs of struct fairshare. */
struct level_claim {
    int64_t guaranteed; /* or SHARE_UNLIMITED */
    int64_t limit;      /* or SHARE_UNLIMITED */
    int64_t demand;
    uint32_t order; /* lower for older siblings */
    uint32_t weight;
    uint32_t rank;
};

/* A sibling in a level. All bytes 0: not in a level. */
struct level_seat {
    bool taken;
    bool open;    /* the guarantee is unlimited: `most` is the cap, at most the total is promised */
    int64_t base; /* what the guarantee gives */
    int64_t most; /* what the sibling can get beside `base` */
    uint32_t order;
    uint32_t weight;
    uint32_t rank;
};

/* The siblings of one rank and weight that want more than their guarantees give. */
struct level_class {
    uint32_t rank;
    uint32_t weight;
    struct ranked wants; /* all siblings of the class, sorted by what each wants */
    struct ranked poor;  /* the siblings of the class that want more than `reach`, sorted by age */
    int64_t reach;       /* a sibling that wants at most this amount gets it */
    int64_t gift;        /* what a sibling that wants more than `reach` gets */
    uint64_t oldest;     /* siblings whose order is below this get one unit more */
    int64_t last;        /* what the sibling whose order is `oldest` gets more: less than a unit */
    /* of the division under way */
    int64_t next_reach;
    int64_t next_gift;
    struct ranked_sum met; /* the wants up to next_reach */
    uint64_t
        over; /* rounding lost the fraction over / under of a unit; `under` is 0: rounding lost nothing */
    uint64_t under;
};

typedef VEC(uint32_t) level_list;

struct level {
    int64_t unit;
    int64_t total;
    __int128 promised; /* all guarantees together, each at most the cap */
    struct ranked open;
    level_list set;                   /* seats that level_set() changed since the last division */
    VEC(struct level_class) classes;  /* by falling rank, then by weight */
    VEC(struct level_class *) sorted; /* scratch: classes of a band by falling remainder */
};

void level_init(struct level *level, int64_t unit);
void level_done(struct level *level);

/* Gives the seat `index` a new claim; NULL: the sibling leaves. False: that changes nothing. After true level_divide() must follow
 * before a share is read. */
bool level_set(struct level *level, struct level_seat *seats, uint32_t index,
               const struct level_claim *claim);

/* Divides `total` anew. Adds to `changed` the indices of all seats whose shares may differ from those before. A seat that was left may
 * be among them. */
void level_divide(struct level *level, const struct level_seat *seats, int64_t total,
                  level_list *changed);

/* The share of a sibling. */
int64_t level_share(const struct level *level, const struct level_seat *seat);
