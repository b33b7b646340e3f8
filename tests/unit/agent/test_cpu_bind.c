/* test_cpu_bind.c - which hardware threads a task gets, on machines that hwloc makes up.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/cpu_bind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CORE = 1000 };

/* Two NUMA nodes of two cores with two threads each: 0 1 | 2 3 || 4 5 | 6 7. GPU 0 is near the second node, of GPU 1 nothing is known. */
static struct cpu_layout two_nodes(void)
{
    hwloc_topology_t topology;
    struct cpu_layout layout;
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, "package:2 [numa] core:2 pu:2"), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    cpu_bind_layout_read(topology, &layout);
    hwloc_topology_destroy(topology);
    assert_int_equal(layout.device_numa[0], CPU_NUMA_UNKNOWN);
    layout.device_numa[0] = 1;
    return layout;
}

/* The threads of the hold, one bit each. */
static unsigned threads_of(const struct cpu_hold *hold)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < 32; i++) {
        bits |= CPU_ISSET(i, &hold->threads) ? 1U << i : 0;
    }
    return bits;
}

static unsigned take(struct cpu_bind *bind, uint64_t cpu_milli, uint64_t devices,
                     struct cpu_hold *hold)
{
    cpu_bind_take(bind, cpu_milli, devices, hold);
    assert_int_equal(hold->bound, threads_of(hold) != 0);
    return threads_of(hold);
}

static void the_layout_has_each_thread_and_its_node(void **state)
{
    (void)state;
    const struct cpu_layout layout = two_nodes();
    assert_int_equal(layout.count, 8);
    assert_int_equal(layout.numa_count, 2);
    for (uint32_t i = 0; i < layout.count; i++) {
        assert_int_equal(layout.thread[i], i);
        assert_int_equal(layout.numa[i], i / 4);
    }
}

static void threads_are_given_once(void **state)
{
    (void)state;
    const struct cpu_layout layout = two_nodes();
    struct cpu_bind *bind = cpu_bind_of(&layout, false);
    struct cpu_hold a;
    struct cpu_hold b;
    struct cpu_hold c;
    assert_int_equal(take(bind, 3 * CORE, 0, &a), 0x07);
    assert_int_equal(take(bind, 4 * CORE, 0, &b), 0x78);
    assert_int_equal(take(bind, 2 * CORE, 0, &c), 0); /* one is free */
    assert_int_equal(take(bind, 1 * CORE, 0, &c), 0x80);
    cpu_bind_give(bind, &a);
    cpu_bind_give(bind, &a); /* a second time gives nothing */
    assert_int_equal(take(bind, 2 * CORE, 0, &a), 0x03);
    cpu_bind_free(bind);
}

static void parts_of_a_processor_are_not_bound(void **state)
{
    (void)state;
    const struct cpu_layout layout = two_nodes();
    struct cpu_bind *bind = cpu_bind_of(&layout, true);
    struct cpu_hold hold;
    assert_int_equal(take(bind, 0, 1, &hold), 0);
    assert_int_equal(take(bind, 500, 0, &hold), 0);
    assert_int_equal(take(bind, 1500, 0, &hold), 0);
    assert_int_equal(take(NULL, CORE, 0, &hold), 0);
    cpu_bind_give(NULL, &hold);
    cpu_bind_free(bind);
}

static void a_task_is_near_its_gpu(void **state)
{
    (void)state;
    const struct cpu_layout layout = two_nodes();
    struct cpu_bind *bind = cpu_bind_of(&layout, true);
    struct cpu_hold a;
    struct cpu_hold b;
    struct cpu_hold c;
    struct cpu_hold d;
    assert_int_equal(take(bind, 2 * CORE, 1, &a), 0x30);
    assert_int_equal(take(bind, 2 * CORE, 0, &b), 0xc0); /* where it fits most closely */
    assert_int_equal(take(bind, 2 * CORE, 1, &c), 0x03); /* its node is full */
    assert_int_equal(take(bind, CORE, 2, &d), 0x04);     /* a GPU of which nothing is known */
    cpu_bind_give(bind, &a);
    cpu_bind_give(bind, &d);
    assert_int_equal(take(bind, 4 * CORE, 0, &a), 0x3c); /* in no single node: across both */
    cpu_bind_free(bind);
}

static void this_machine_can_be_read(void **state)
{
    (void)state;
    struct error e;
    struct cpu_hold hold;
    cpu_set_t mine;
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    struct cpu_bind *bind = cpu_bind_new("numa");
    assert_non_null(bind);
    cpu_bind_take(bind, CORE, 0, &hold);
    assert_true(hold.bound);
    assert_int_equal(CPU_COUNT(&hold.threads), 1);
    CPU_AND(&hold.threads, &hold.threads, &mine);
    assert_int_equal(CPU_COUNT(&hold.threads), 1);
    cpu_bind_free(bind);
    assert_null(cpu_bind_new(NULL));
    assert_null(cpu_bind_new("none"));
    assert_int_equal(cpu_bind_check("cores", &e), ERR_OK);
    assert_int_equal(cpu_bind_check("all", &e), ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_has_each_thread_and_its_node),
        cmocka_unit_test(threads_are_given_once),
        cmocka_unit_test(parts_of_a_processor_are_not_bound),
        cmocka_unit_test(a_task_is_near_its_gpu),
        cmocka_unit_test(this_machine_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
