/* test_ranked.c - the sorted list that counts and adds up, beside a plain array.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "base/ranked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { IDS = 300, STEPS = 3000, KEYS = 50 };

struct model {
    bool there[IDS];
    int64_t key[IDS];
};

static bool before(const struct model *model, uint32_t a, uint32_t b)
{
    return model->key[a] != model->key[b] ? model->key[a] < model->key[b] : a < b;
}

static void compare(const struct ranked *list, const struct model *model, int64_t key)
{
    struct ranked_sum sum = {0, 0};
    uint32_t above = IDS;
    for (uint32_t i = 0; i < IDS; i++) {
        if (model->there[i] && model->key[i] <= key) {
            sum.count++;
            sum.sum += (uint64_t)model->key[i];
        }
        if (model->there[i] && model->key[i] > key && (above == IDS || before(model, i, above))) {
            above = i;
        }
    }
    const struct ranked_sum found = ranked_upto(list, key);
    assert_int_equal(found.count, sum.count);
    assert_int_equal(found.sum, sum.sum);
    const uint32_t place = ranked_above(list, key);
    assert_true((place == RANKED_NONE) == (above == IDS));
    if (place != RANKED_NONE) {
        assert_int_equal(list->at[place].id, above);
        assert_int_equal(ranked_nth(list, sum.count), place);
    }
    assert_int_equal(ranked_nth(list, list->count), RANKED_NONE);
}

static void counts_and_sums_are_those_of_an_array(void **state)
{
    (void)state;
    struct ranked list = {0};
    static struct model model;
    compare(&list, &model, 7);
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint64_t dice = hash_u64(step + 1);
        const uint32_t id = (uint32_t)(dice % IDS);
        if (model.there[id]) {
            ranked_remove(&list, model.key[id], id);
        } else {
            model.key[id] = (int64_t)(dice >> 32) % KEYS - 5;
            ranked_add(&list, model.key[id], id);
        }
        model.there[id] = !model.there[id];
        compare(&list, &model, (int64_t)(dice >> 40) % (KEYS + 2) - 6);
    }
    uint32_t count = 0;
    for (uint32_t at = ranked_nth(&list, 0); at != RANKED_NONE; at = list.at[at].links[0].to) {
        assert_int_equal(ranked_nth(&list, count), at);
        count++;
    }
    assert_int_equal(count, list.count);
    ranked_done(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_sums_are_those_of_an_array),
    };
    return cmocka_run_group_tests_name("ranked", tests, NULL, NULL);
}
