/* form_grow.c - choices of a gang that grows or shrinks.
 *
 * Surprising: of groups that are alike only the first is a choice; where it finds no place the others do not either.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/form_grow.h"

#include "base/must.h"

#include <string.h>

/* Which groups have what they need, and how many of those directly below each. */
struct met {
    bool group[TASK_GROUPS_MAX + 1];
    uint32_t below[TASK_GROUPS_MAX + 1];
    uint32_t have[TASK_GROUPS_MAX + 1]; /* instances there are, of it or below it */
};

static void met_count(const struct form *form, const struct form_have *have, struct met *ret)
{
    *ret = (struct met){0};
    for (uint32_t i = form->group_count; i > 0; i--) {
        const struct form_group *group = &form->groups[i - 1];
        const uint32_t at = i - 1;
        ret->have[at] += group->below > 0 ? 0 : have->at[at];
        ret->group[at] = (group->below > 0 ? ret->below[at] : ret->have[at]) >= group->min;
        if (at > 0) {
            ret->below[group->parent] += ret->group[at];
            ret->have[group->parent] += ret->have[at];
        }
    }
}

bool form_grow_elastic(const struct form *form)
{
    for (uint32_t i = 0; form_grouped(form) && i < form->group_count; i++) {
        const struct form_group *group = &form->groups[i];
        if (group->min < (group->below > 0 ? group->below : group->count)) {
            return true;
        }
    }
    return false;
}

bool form_grow_whole(const struct form *form, const struct form_have *have)
{
    struct met met;
    met_count(form, have, &met);
    return met.group[0];
}

/* The next group from `group` on that lacks something while those around it do not; group_count: none. */
static uint32_t partial_from(const struct form *form, const struct met *met, uint32_t group)
{
    while (group < form->group_count && met->group[group]) {
        group++;
    }
    return group;
}

/* Do two groups ask for the same, all below them included? */
static bool alike(const struct form *form, uint32_t a, uint32_t b)
{
    const uint32_t size = form->groups[a].end - a;
    if (form->groups[b].end - b != size) {
        return false;
    }
    for (uint32_t i = 0; i < size; i++) {
        const struct form_group *one = &form->groups[a + i];
        const struct form_group *other = &form->groups[b + i];
        if (one->end - a != other->end - b || one->count != other->count ||
            one->min != other->min || strcmp(one->required, other->required) != 0 ||
            strcmp(one->preferred, other->preferred) != 0 ||
            memcmp(&one->request, &other->request, sizeof one->request) != 0) {
            return false;
        }
    }
    return true;
}

/* ---- up to the minimum ---- */

/* The groups directly below one that lack something: those that have begun, then the others, the `turn`-th of them first. Returns how
 * many; `*ret_fresh` of them are others. */
static uint32_t lacking(const struct form *form, const struct met *met, uint32_t group,
                        uint32_t turn, uint32_t *ret, uint32_t *ret_fresh)
{
    uint32_t fresh[TASK_GROUPS_MAX];
    uint32_t fresh_count = 0;
    uint32_t count = 0;
    for (uint32_t child = group + 1; child < form->groups[group].end;
         child = form->groups[child].end) {
        if (!met->group[child] && met->have[child] > 0) {
            ret[count++] = child;
        } else if (!met->group[child]) {
            fresh[fresh_count++] = child;
        }
    }
    for (uint32_t i = 0; i < fresh_count; i++) {
        ret[count++] = fresh[(i + turn) % fresh_count];
    }
    *ret_fresh = fresh_count;
    return count;
}

/* What a group lacks. Recursion is as deep as the tree of groups. */
static void complete(const struct form *form, const struct met *met, uint32_t group, uint32_t turn,
                     struct form_have *ret)
{
    const struct form_group *own = &form->groups[group];
    uint32_t children[TASK_GROUPS_MAX];
    uint32_t fresh;
    if (met->group[group]) {
        return;
    }
    if (own->below == 0) {
        ret->at[group] = own->min - met->have[group];
        return;
    }
    const uint32_t count = lacking(form, met, group, turn, children, &fresh);
    const uint32_t needed = own->min - met->below[group];
    must(needed <= count);
    for (uint32_t i = 0; i < needed; i++) {
        complete(form, met, children[i], turn, ret);
    }
}

/* In how many orders the groups that lack something are worth trying. */
static uint32_t turns_of(const struct form *form, const struct met *met)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < form->group_count; i++) {
        uint32_t children[TASK_GROUPS_MAX];
        uint32_t fresh;
        if (form->groups[i].below == 0 || met->group[i]) {
            continue;
        }
        const uint32_t count = lacking(form, met, i, 0, children, &fresh);
        bool differ = false;
        for (uint32_t j = count - fresh + 1; j < count; j++) {
            differ |= !alike(form, children[j - 1], children[j]);
        }
        if (differ && form->groups[i].min - met->below[i] < count && fresh > most) {
            most = fresh;
        }
    }
    return most < FORM_CHOICES_MAX ? most : FORM_CHOICES_MAX;
}

/* ---- above it ---- */

/* Is a group alike to one before it, of the same parent, that has not begun either? */
static bool repeats(const struct form *form, const struct met *met, uint32_t group)
{
    for (uint32_t i = form->groups[group].parent + 1; i < group; i = form->groups[i].end) {
        if (!met->group[i] && met->have[i] == 0 && alike(form, i, group)) {
            return met->have[group] == 0;
        }
    }
    return false;
}

/* The choice-th of the groups that lack something: those that have begun first. False: there are fewer; `*choice` is less by them. */
static bool next_group(const struct form *form, const struct met *met, uint32_t *choice,
                       uint32_t *ret)
{
    for (unsigned fresh = 0; fresh <= 1; fresh++) {
        for (uint32_t at = partial_from(form, met, 0); at < form->group_count;
             at = partial_from(form, met, form->groups[at].end)) {
            if ((met->have[at] == 0) != (fresh == 1) || repeats(form, met, at)) {
                continue;
            }
            if (*choice == 0) {
                *ret = at;
                return true;
            }
            --*choice;
        }
    }
    return false;
}

/* Is it in a group that lacks something? */
static bool around_lacks(const struct form *form, const struct met *met, uint32_t group)
{
    while (met->group[group] && group != 0) {
        group = form->groups[group].parent;
    }
    return !met->group[group];
}

/* Has `a` less above its minimum than `b`, in proportion to it? */
static bool less_filled(const struct form *form, const struct met *met, uint32_t a, uint32_t b)
{
    return (uint64_t)met->have[a] * form->groups[b].min <
           (uint64_t)met->have[b] * form->groups[a].min;
}

/* The leaf that comes behind `after` in the order of how full they are (group_count: the first); group_count: none does. */
static uint32_t next_leaf(const struct form *form, const struct met *met, uint32_t after)
{
    uint32_t best = form->group_count;
    for (uint32_t leaf = form_leaf_next(form, 0); leaf < form->group_count;
         leaf = form_leaf_next(form, leaf + 1)) {
        const bool behind = after == form->group_count || less_filled(form, met, after, leaf) ||
                            (!less_filled(form, met, leaf, after) && leaf > after);
        if (met->have[leaf] < form->groups[leaf].count && behind &&
            !around_lacks(form, met, leaf) &&
            (best == form->group_count || less_filled(form, met, leaf, best))) {
            best = leaf;
        }
    }
    return best;
}

bool form_grow_next(const struct form *form, const struct form_have *have, uint32_t choice,
                    struct form_have *ret)
{
    struct met met;
    uint32_t group;
    met_count(form, have, &met);
    *ret = (struct form_have){{0}};
    if (!met.group[0]) {
        if (choice < turns_of(form, &met)) {
            complete(form, &met, 0, choice, ret);
            return true;
        }
        return false;
    }
    if (next_group(form, &met, &choice, &group)) {
        complete(form, &met, group, 0, ret);
        return true;
    }
    uint32_t leaf = form->group_count;
    do {
        leaf = next_leaf(form, &met, leaf);
    } while (choice-- > 0 && leaf < form->group_count);
    if (leaf == form->group_count) {
        return false;
    }
    ret->at[leaf] = 1;
    return true;
}

/* ---- down ---- */

static void all_of(const struct form *form, const struct form_have *stays, uint32_t group,
                   struct form_have *ret)
{
    for (uint32_t i = group; i < form->groups[group].end; i++) {
        ret->at[i] = form->groups[i].below > 0 ? 0 : stays->at[i];
    }
}

static bool stays_any(const struct form *form, const struct form_have *stays, uint32_t group)
{
    struct form_have all = {{0}};
    all_of(form, stays, group, &all);
    for (uint32_t i = group; i < form->groups[group].end; i++) {
        if (all.at[i] > 0) {
            return true;
        }
    }
    return false;
}

/* The leaf that has most above its minimum, the last of equal ones; group_count: none has. */
static uint32_t fullest(const struct form *form, const struct met *met,
                        const struct form_have *stays)
{
    uint32_t best = form->group_count;
    for (uint32_t leaf = form_leaf_next(form, 0); leaf < form->group_count;
         leaf = form_leaf_next(form, leaf + 1)) {
        if (stays->at[leaf] > 0 && met->have[leaf] > form->groups[leaf].min &&
            (best == form->group_count || !less_filled(form, met, leaf, best))) {
            best = leaf;
        }
    }
    return best;
}

uint32_t form_grow_broken(const struct form *form, const struct form_have *have,
                          const struct form_have *stays, uint32_t after)
{
    struct met met;
    met_count(form, have, &met);
    uint32_t at = after == form->group_count ? 0 : form->groups[after].end;
    while ((at = partial_from(form, &met, at)) < form->group_count && !stays_any(form, stays, at)) {
        at = form->groups[at].end;
    }
    return at;
}

bool form_grow_shrink(const struct form *form, const struct form_have *have,
                      const struct form_have *stays, struct form_have *ret, uint32_t *ret_group)
{
    struct met met;
    met_count(form, have, &met);
    *ret = (struct form_have){{0}};
    if (!met.group[0]) {
        return false;
    }
    const uint32_t broken = form_grow_broken(form, have, stays, form->group_count);
    if (broken < form->group_count) { /* of use to nobody */
        all_of(form, stays, broken, ret);
        *ret_group = broken;
        return true;
    }
    const uint32_t leaf = fullest(form, &met, stays);
    if (leaf < form->group_count) {
        ret->at[leaf] = 1;
        *ret_group = leaf;
        return true;
    }
    for (uint32_t at = form->group_count - 1; at > 0; at--) {
        const uint32_t parent = form->groups[at].parent;
        if (met.group[at] && met.below[parent] > form->groups[parent].min &&
            stays_any(form, stays, at)) {
            all_of(form, stays, at, ret);
            *ret_group = at;
            return true;
        }
    }
    return false;
}
