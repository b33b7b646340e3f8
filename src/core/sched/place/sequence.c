/* sequence.c - which group goes first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/sequence.h"

bool sequence_larger(const struct request *a, const struct request *b)
{
    if (a->slots_milli != b->slots_milli) {
        return a->slots_milli > b->slots_milli;
    }
    return a->cpu_milli != b->cpu_milli ? a->cpu_milli > b->cpu_milli
                                        : a->memory_bytes > b->memory_bytes;
}

static bool harder(const struct request *a, const struct request *b)
{
    return a->label_count != b->label_count ? a->label_count > b->label_count
                                            : sequence_larger(a, b);
}

bool sequence_before(enum sequence sequence, const struct request *later,
                     const struct request *other)
{
    switch (sequence) {
    case HARDEST_FIRST:
        return harder(later, other);
    case AS_LISTED:
        return false;
    case EASIEST_FIRST:
        return harder(other, later);
    case LISTED_LAST_FIRST:
        return true;
    }
    return false;
}
