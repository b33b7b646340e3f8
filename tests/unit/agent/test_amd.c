/* test_amd.c - AMD GPUs in a tree like /sys, made by hand from the kernel's documentation: what is found, what tasks see of it, and
 * a GPU that goes and comes back. SPDX-License-Identifier: Apache-2.0 */
#include "agent/amd.h"
#include "agent/gpu_nodes.h"
#include "agent/gpu_watch.h"
#include "agent/hardware.h"
#include "agent/taskenv.h"
#include "base/fail.h"
#include "base/must.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NODES "sys/class/kfd/kfd/topology/nodes"
#define GIB (1LL << 30)

static char root[64];
static struct arena arena;

/* Makes the directories of the path below the root, and the file with this text. */
static void put(const char *path, const char *text)
{
    char *full = arena_fmt(&arena, "%s/%s", root, path);
    for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void)mkdir(full, 0755);
        *p = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void gpu_put(unsigned node, unsigned minor, const char *product, long long memory)
{
    put(arena_fmt(&arena, NODES "/%u/gpu_id", node), arena_fmt(&arena, "%u\n", 51000 + node));
    put(arena_fmt(&arena, NODES "/%u/name", node), "aldebaran\n");
    put(arena_fmt(&arena, NODES "/%u/properties", node),
        arena_fmt(&arena, "cpu_cores_count 0\nsimd_count 440\ndrm_render_minor %u\nunique_id %u\n",
                  minor, 4096 + node));
    const char *device = arena_fmt(&arena, "sys/class/drm/renderD%u/device", minor);
    if (product != NULL) {
        put(arena_fmt(&arena, "%s/product_name", device), arena_fmt(&arena, "%s\n", product));
    }
    put(arena_fmt(&arena, "%s/mem_info_vram_total", device), arena_fmt(&arena, "%lld\n", memory));
    put(arena_fmt(&arena, "%s/mem_info_vram_used", device), "10997760\n");
    put(arena_fmt(&arena, "%s/gpu_busy_percent", device), "0\n");
}

/* Two processors, then two GPUs, whose device nodes are in another order. */
static int setup(void **state)
{
    (void)state;
    (void)snprintf(root, sizeof root, "/tmp/weir-amd-XXXXXX");
    assert_non_null(mkdtemp(root));
    arena_init(&arena);
    for (unsigned node = 0; node < 2; node++) {
        put(arena_fmt(&arena, NODES "/%u/gpu_id", node), "0\n");
        put(arena_fmt(&arena, NODES "/%u/properties", node),
            "cpu_cores_count 64\ndrm_render_minor 0\n");
    }
    gpu_put(2, 129, "AMD Instinct MI210", 64 * GIB);
    gpu_put(3, 128, NULL, 32 * GIB);
    return setenv(AMD_ROOT_ENV, root, 1);
}

static int teardown(void **state)
{
    (void)state;
    const int code = system(arena_fmt(&arena, "rm -rf %s", root));
    arena_done(&arena);
    return code != 0 || unsetenv(AMD_ROOT_ENV) != 0;
}

static void gpus_are_those_of_the_topology_in_its_order(void **state)
{
    (void)state;
    struct amd_gpus gpus;
    amd_list(&arena, &gpus);
    assert_int_equal(gpus.count, 2);
    assert_int_equal(gpus.at[0].minor, 129);
    assert_string_equal(gpus.at[0].name, "AMD Instinct MI210");
    assert_string_equal(gpus.at[0].serial, "GPU-0000000000001002");
    assert_int_equal(gpus.at[0].memory_bytes, 64 * GIB);
    assert_string_equal(gpus.at[1].name, "aldebaran"); /* the driver does not know the product */
    struct hardware hardware = {.device_model = "", .device_serials = ""};
    amd_read(&arena, &hardware);
    assert_int_equal(hardware.device_count, 2);
    assert_int_equal(hardware.device_memory_bytes, 32 * GIB); /* of the smallest */
    assert_string_equal(hardware.device_model, "AMD Instinct MI210");
    assert_string_equal(hardware.device_serials, "GPU-0000000000001002 GPU-0000000000001003");
}

static void a_machine_of_nvidia_has_none(void **state)
{
    (void)state;
    struct amd_gpus gpus;
    put("sys/module/nvidia/version", "550.54\n");
    amd_list(&arena, &gpus);
    assert_int_equal(gpus.count, 0);
}

static void broken_files_are_passed_over(void **state)
{
    (void)state;
    struct amd_gpus gpus;
    put(NODES "/2/properties",
        "drm_render_minor\ndrm_render_minor x\nunique_id 18446744073709551616\n");
    put("sys/class/drm/renderD128/device/mem_info_vram_total", "-1\n");
    amd_list(&arena, &gpus);
    assert_int_equal(gpus.count, 1);
    assert_int_equal(gpus.at[0].minor, 128);
    assert_int_equal(gpus.at[0].memory_bytes, 0); /* unknown */
}

static char **env_of(uint32_t *devices, uint32_t count)
{
    static const struct runas_account account = {.name = "u", .home = "/"};
    const struct start_order order = {.devices = devices,
                                      .device_count = count,
                                      .node = "n1",
                                      .pool = "default",
                                      .master_addr = ""};
    return taskenv_build(
        &arena, &(struct taskenv_input){
                    .order = &order, .account = &account, .supervisor = "0", .job_dir = "/tmp"});
}

static void a_task_sees_its_gpus_and_its_container_their_nodes(void **state)
{
    (void)state;
    uint32_t second[] = {1};
    char **env = env_of(second, 1);
    assert_string_equal(taskenv_get(env, "ROCR_VISIBLE_DEVICES"), "1");
    assert_string_equal(taskenv_get(env, "HIP_VISIBLE_DEVICES"),
                        "0"); /* the first of what ROCR left */
    assert_string_equal(taskenv_get(env, "CUDA_VISIBLE_DEVICES"), "0");
    const char *const *paths = gpu_nodes(&arena, env);
    assert_string_equal(paths[0], "/dev/dri/renderD128");
    assert_string_equal(paths[1], "/dev/kfd");
    assert_null(paths[2]);
    uint32_t both[] = {0, 1};
    paths = gpu_nodes(&arena, env_of(both, 2));
    assert_string_equal(paths[0], "/dev/dri/renderD129");
    assert_string_equal(paths[1], "/dev/dri/renderD128");
    assert_string_equal(paths[2], "/dev/kfd");
}

static void a_task_without_gpus_sees_none(void **state)
{
    (void)state;
    char **env = env_of(NULL, 0);
    assert_string_equal(taskenv_get(env, "ROCR_VISIBLE_DEVICES"), "-1");
    assert_string_equal(taskenv_get(env, "HIP_VISIBLE_DEVICES"), "-1");
    assert_null(gpu_nodes(&arena, env)[0]);
}

static void nodes_of_nvidia_are_named_where_there_is_no_amd(void **state)
{
    (void)state;
    uint32_t some[] = {0, 3};
    put("sys/module/nvidia/version", "550.54\n");
    char **env = env_of(some, 2);
    assert_string_equal(taskenv_get(env, "CUDA_VISIBLE_DEVICES"), "0,3");
    assert_null(taskenv_get(env, "ROCR_VISIBLE_DEVICES"));
    const char *const *paths = gpu_nodes(&arena, env);
    assert_string_equal(paths[0], "/dev/nvidia0");
    assert_string_equal(paths[1], "/dev/nvidia3");
    assert_string_equal(paths[2], "/dev/nvidiactl");
    assert_null(paths[5]);
}

static void use_is_read_and_a_gpu_that_is_gone_is_said(void **state)
{
    (void)state;
    struct amd_gpus gpus;
    struct gpu_sample sample;
    amd_list(&arena, &gpus);
    put("sys/class/drm/renderD128/device/gpu_busy_percent", "37\n");
    put("sys/class/drm/renderD128/device/mem_info_vram_used", "4294967296\n");
    assert_true(amd_sample(&gpus.at[1], &sample));
    assert_true(sample.known);
    assert_int_equal(sample.busy_percent, 37);
    assert_int_equal(sample.memory_bytes, 4 * GIB);
    const char *device = arena_fmt(&arena, "%s/sys/class/drm/renderD128/device", root);
    assert_int_equal(unlink(arena_fmt(&arena, "%s/gpu_busy_percent", device)), 0);
    assert_true(amd_sample(&gpus.at[1], &sample)); /* some chips have no such file */
    assert_false(sample.known);
    assert_int_equal(rename(device, arena_fmt(&arena, "%s/away", root)), 0);
    assert_false(amd_sample(&gpus.at[1], &sample));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gpus_are_those_of_the_topology_in_its_order),
        TEST(a_machine_of_nvidia_has_none),
        TEST(broken_files_are_passed_over),
        TEST(a_task_sees_its_gpus_and_its_container_their_nodes),
        TEST(a_task_without_gpus_sees_none),
        TEST(nodes_of_nvidia_are_named_where_there_is_no_amd),
        TEST(use_is_read_and_a_gpu_that_is_gone_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
