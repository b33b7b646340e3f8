/* test_node.c - environment, accounts, job directories, options: what a task finds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/confine.h"
#include "agent/identity.h"
#include "agent/jobdir.h"
#include "agent/landlock.h"
#include "agent/agent_options.h"
#include "agent/taskenv.h"

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct runas_account nobody = {
    .uid = 65534, .gid = 65534, .name = "nobody", .home = "/n"};

static void the_environment_is_built_from_nothing(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    const char *const env[] = {"A=1", "PATH=/opt/bin", "WEIR_TASK_ID=999", "broken", "=x", "A=2"};
    const uint32_t devices[] = {1, 3};
    struct start_order order = {.key = {{12}, 0, 2},
                                .instance = 5,
                                .env = env,
                                .env_count = 6,
                                .pool = "p",
                                .node = "n1",
                                .slots_milli = 2500,
                                .devices = devices,
                                .device_count = 2,
                                .rank = 1,
                                .world_size = 4,
                                .master_addr = "10.0.0.1",
                                .master_port = 29500};
    struct taskenv_input input = {
        .order = &order, .account = &nobody, .supervisor = "ab", .job_dir = "/d/job/12/5"};
    assert_int_equal(setenv("LEAKED", "secret", 1), 0);
    char **got = taskenv_build(&arena, &input);
    const char *const want[][2] = {{"PATH", "/opt/bin"},
                                   {"HOME", "/n"},
                                   {"USER", "nobody"},
                                   {"LANG", "C.UTF-8"},
                                   {"A", "2"},
                                   {"WEIR_TASK_ID", "12"},
                                   {"WEIR_INSTANCE_ID", "5"},
                                   {"INSTANCE_ID", "5"},
                                   {"WEIR_ATTEMPT", "2"},
                                   {"WEIR_NODE", "n1"},
                                   {"WEIR_POOL", "p"},
                                   {"WEIR_SLOTS", "2.5"},
                                   {"WEIR_RANK", "1"},
                                   {"WEIR_WORLD_SIZE", "4"},
                                   {"MASTER_PORT", "29500"},
                                   {"MASTER_ADDR", "10.0.0.1"},
                                   {"WEIR_SUPERVISOR", "ab"},
                                   {"CUDA_VISIBLE_DEVICES", "1,3"},
                                   {"WEIR_JOB_DIR", "/d/job/12/5"},
                                   {"WEIR_CHECKPOINT_FILE", "/d/job/12/5/checkpoint"}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        const char *value = taskenv_get(got, want[i][0]);
        assert_non_null(value);
        assert_string_equal(value, want[i][1]);
    }
    assert_null(taskenv_get(got, "LEAKED"));
    for (char **entry = got; *entry != NULL; entry++) {
        assert_non_null(strchr(*entry + 1, '='));
    }
    order.world_size = 1;
    order.device_count = 0;
    got = taskenv_build(&arena, &input);
    assert_null(taskenv_get(got, "WEIR_RANK"));
    assert_string_equal(taskenv_get(got, "CUDA_VISIBLE_DEVICES"), "");
    arena_done(&arena);
}

static void programs_are_looked_for_in_absolute_directories(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    const char **paths = taskenv_candidates(&arena, "sh", "/a:relative::.:/b");
    assert_string_equal(paths[0], "/a/sh");
    assert_string_equal(paths[1], "/b/sh");
    assert_null(paths[2]);
    paths = taskenv_candidates(&arena, "./run", "/a");
    assert_string_equal(paths[0], "./run");
    assert_null(paths[1]);
    arena_done(&arena);
}

static const char *known; /* the one name fake_by_name knows, beside root and nobody */

static bool fake_by_name(const char *name, struct runas_account *ret)
{
    if (strcmp(name, "root") == 0) {
        *ret = (struct runas_account){.uid = 0, .gid = 0, .name = "root"};
        return true;
    }
    if (strcmp(name, "nobody") == 0) {
        *ret = nobody;
        return true;
    }
    *ret = (struct runas_account){.uid = 1000, .gid = 1000};
    (void)snprintf(ret->name, sizeof ret->name, "%s", name);
    return known != NULL && strcmp(name, known) == 0;
}

static bool fake_by_uid(uid_t uid, struct runas_account *ret)
{
    *ret = (struct runas_account){.uid = uid, .gid = uid, .name = "me"};
    return true;
}

static const char *chosen(const char *wanted, const char *sudo_user, uid_t uid)
{
    static struct runas_account account;
    struct error e;
    struct runas_input input = {.wanted = wanted,
                                .sudo_user = sudo_user,
                                .uid = uid,
                                .by_name = fake_by_name,
                                .by_uid = fake_by_uid};
    if (runas_choose(&input, &account, &e) != ERR_OK) {
        return "refused";
    }
    assert_true(account.uid != 0);
    assert_int_equal(account.switch_user, uid == 0);
    return account.name;
}

static void tasks_never_run_as_root(void **state)
{
    (void)state;
    known = "ann";
    assert_string_equal(chosen("ann", "bob", 0), "ann");
    assert_string_equal(chosen(NULL, "ann", 0), "ann");
    assert_string_equal(chosen(NULL, "root", 0), "nobody");
    assert_string_equal(chosen("root", NULL, 0), "refused");
    assert_string_equal(chosen("who", NULL, 0), "refused");
    assert_string_equal(chosen(NULL, NULL, 0), "nobody");
    known = "weir";
    assert_string_equal(chosen(NULL, NULL, 0), "weir");
    assert_string_equal(chosen(NULL, NULL, 1000), "me");
    assert_string_equal(chosen("me", NULL, 1000), "me");
    assert_string_equal(chosen("weir", NULL, 1000), "refused");
}

static char dir[64];
static struct runas_account self;

static int dir_up(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/weir-test-XXXXXX");
    self = (struct runas_account){.uid = geteuid(), .gid = getegid()};
    return mkdtemp(dir) == NULL;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

static int dir_down(void **state)
{
    (void)state;
    return nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static bool exists(const char *name)
{
    char path[256];
    struct stat info;
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return stat(path, &info) == 0;
}

static void job_directories_come_from_the_pool_and_go_back(void **state)
{
    (void)state;
    struct jobdirs *dirs;
    assert_int_equal(jobdir_new(dir, &self, &dirs, NULL), ERR_OK);
    size_t ready = jobdir_ready(dirs);
    assert_int_equal(jobdir_take(dirs, 7, 0, NULL), ERR_OK);
    assert_true(exists("job/7/0"));
    assert_int_equal(jobdir_take(dirs, 8, 41, NULL), ERR_OK); /* of an array */
    assert_int_equal(jobdir_take(dirs, 8, 42, NULL), ERR_OK);
    assert_true(exists("job/8/41"));
    assert_true(exists("job/8/42"));
    assert_false(exists("job/8/0"));
    assert_int_equal(jobdir_ready(dirs), ready - 3);
    jobdir_give(dirs, 7, 0);
    jobdir_give(dirs, 8, 41);
    jobdir_give(dirs, 8, 42);
    assert_false(exists("job/7"));
    assert_false(exists("job/8"));
    assert_int_equal(jobdir_ready(dirs), ready);
    jobdir_free(dirs);
    assert_int_equal(jobdir_new(dir, &self, &dirs, NULL), ERR_OK); /* the next one finds them */
    assert_int_equal(jobdir_ready(dirs), ready);
    jobdir_free(dirs);
}

static void what_a_task_wrote_stays_for_its_next_attempt(void **state)
{
    (void)state;
    struct jobdirs *dirs;
    char path[AGENT_PATH_MAX];
    assert_int_equal(jobdir_new(dir, &self, &dirs, NULL), ERR_OK);
    assert_int_equal(jobdir_take(dirs, 7, 0, NULL), ERR_OK);
    jobdir_path(dirs, 7, 0, path);
    int at = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(at >= 0);
    int file = openat(at, "checkpoint", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    (void)close(file);
    jobdir_give(dirs, 7, 0);
    assert_true(exists("job/7/0/checkpoint"));
    assert_int_equal(jobdir_take(dirs, 7, 0, NULL), ERR_OK);
    assert_true(exists("job/7/0/checkpoint"));
    assert_int_equal(unlinkat(at, "checkpoint", 0), 0);
    (void)close(at);
    assert_int_equal(chmod(path, 0777), 0);
    jobdir_give(dirs, 7, 0);
    assert_false(exists("job/7"));
    assert_int_equal(jobdir_take(dirs, 9, 0, NULL), ERR_OK); /* the newest returned one */
    struct stat info;
    jobdir_path(dirs, 9, 0, path);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0700);
    jobdir_free(dirs);
}

static void the_pool_never_runs_dry(void **state)
{
    (void)state;
    struct jobdirs *dirs;
    assert_int_equal(jobdir_new(dir, &self, &dirs, NULL), ERR_OK);
    for (uint64_t task = 1; task <= 3 * JOBDIR_READY; task++) {
        assert_int_equal(jobdir_take(dirs, task, 0, NULL), ERR_OK);
    }
    assert_true(exists("job/192/0"));
    size_t made = 0;
    while (jobdir_refill(dirs)) {
        made++;
    }
    assert_int_equal(made, JOBDIR_READY / 2);
    jobdir_free(dirs);
}

static enum err parsed(struct arena *arena, struct agent_options *ret, const char *a, const char *b)
{
    char *argv[] = {arena_str(arena, "agent"), arena_str(arena, a),
                    b == NULL ? NULL : arena_str(arena, b), NULL};
    struct error e;
    const char *report;
    return agent_options_parse(b == NULL ? 2 : 3, argv, arena, ret, &report, &e);
}

static void options_are_read_and_wrong_ones_refused(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct agent_options options;
    assert_int_equal(parsed(&arena, &options, "--slots=4", NULL), ERR_OK);
    assert_int_equal(options.slots, 4);
    assert_int_equal(options.fake_gpus, -1);
    assert_int_equal(parsed(&arena, &options, "--stop-after", "2m"), ERR_OK);
    assert_int_equal(options.stop_after_ms, 120000);
    assert_int_equal(parsed(&arena, &options, "--label", "zone=a"), ERR_OK);
    assert_string_equal(options.labels[0], "zone=a");
    assert_int_equal(parsed(&arena, &options, "--label", "zone"), ERR_USAGE);
    assert_int_equal(parsed(&arena, &options, "--slots", "-1"), ERR_USAGE);
    assert_int_equal(parsed(&arena, &options, "--fake-gpus", "65"), ERR_USAGE);
    assert_int_equal(parsed(&arena, &options, "--pool", NULL), ERR_USAGE);
    assert_int_equal(parsed(&arena, &options, "--frob", "1"), ERR_USAGE);
    assert_int_equal(parsed(&arena, &options, "stray", NULL), ERR_USAGE);
    arena_done(&arena);
}

/* Runs in a domain: 0 where it keeps a process from tracing its parent, and from signalling it where Landlock can. */
static int domain_child(pid_t parent)
{
    struct error e;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || landlock_enter(true, &e) != ERR_OK) {
        return 2;
    }
    const bool traced = ptrace(PTRACE_SEIZE, parent, NULL, NULL) == 0;
    const bool reached = kill(parent, 0) == 0;
    return traced || (reached && landlock_abi() >= LANDLOCK_ABI_SCOPES) ? 1 : 0;
}

static void a_domain_keeps_processes_apart(void **state)
{
    (void)state;
    int status;
    if (landlock_abi() == 0) {
        skip(); /* this kernel has none */
    }
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
        _exit(domain_child(parent));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void what_confines_tasks_is_wanted_by_name(void **state)
{
    (void)state;
    struct error e;
    static const char *const good[] = {NULL, "auto", "view", "landlock", "no"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(confine_check(good[i], &e), ERR_OK);
    }
    assert_int_equal(confine_check("", &e), ERR_USAGE);
    assert_int_equal(confine_check("View", &e), ERR_USAGE);
    assert_int_equal(confine_able("no"), 0);
    assert_int_equal(confine_able("landlock") & CONFINE_VIEW, 0);
    assert_int_equal(confine_able("view") & (CONFINE_LANDLOCK | CONFINE_SIGNALS), 0);
    assert_int_equal(confine_able(NULL), confine_able("view") | confine_able("landlock"));
    assert_int_equal((confine_able("landlock") & CONFINE_LANDLOCK) != 0, landlock_abi() > 0);
}

static void the_file_and_the_line_over_it(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct agent_options options;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/agent.yaml", dir);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    (void)fputs("server: http://127.0.0.1:1\nslots: 3\njoin_token_file: /t\nlabels: {zone: b}\n",
                file);
    (void)fclose(file);
    const char *report;
    char *argv[] = {arena_str(&arena, "agent"), arena_str(&arena, "--config"), path,
                    arena_str(&arena, "--slots=5"), NULL};
    assert_int_equal(agent_options_parse(4, argv, &arena, &options, &report, NULL), ERR_OK);
    assert_string_equal(options.server, "http://127.0.0.1:1");
    assert_string_equal(options.join_token_file, "/t");
    assert_int_equal(options.slots, 5);
    assert_string_equal(options.labels[0], "zone=b");
    file = fopen(path, "we");
    assert_non_null(file);
    (void)fputs("frob: 1\n", file);
    (void)fclose(file);
    struct error e;
    assert_int_equal(agent_options_parse(4, argv, &arena, &options, &report, &e), ERR_INVALID);
    assert_non_null(strstr(report, "agent.yaml:1:1: frob: there is no such setting"));
    arena_done(&arena);
}

static void a_node_says_what_it_has(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    struct node_spec node;
    const char *serials = NULL;
    struct error e;
    struct agent_options options = {
        .slots = 6, .fake_gpus = 0, .name = "n1", .resources = "foo=7 memory=1Gi"};
    assert_int_equal(identity_read(&options, &arena, &node, &serials, &e), ERR_OK);
    assert_int_equal(node.slots_milli, 6000);
    assert_int_equal(node.memory_bytes, 1 << 30);
    assert_true(node.cpu_milli >= 1000);
    assert_int_equal(node.resource_count, 1);
    assert_string_equal(node.resources[0].name, "foo");
    assert_int_equal(node.resources[0].milli, 7000);
    assert_int_equal(strlen(node.boot_id), 36);
    options.fake_gpus = 3;
    assert_int_equal(identity_read(&options, &arena, &node, &serials, &e), ERR_OK);
    assert_int_equal(node.slots_milli, 3000);
    assert_int_equal(node.device_count, 3);
    options.resources = "foo";
    assert_int_equal(identity_read(&options, &arena, &node, &serials, &e), ERR_INVALID);
    options.resources = NULL;
    options.name = "not a name";
    assert_int_equal(identity_read(&options, &arena, &node, &serials, &e), ERR_INVALID);
    char address[64];
    identity_address("http://127.0.0.1:8080", address, sizeof address);
    assert_string_equal(address, "127.0.0.1");
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_is_built_from_nothing),
        cmocka_unit_test(programs_are_looked_for_in_absolute_directories),
        cmocka_unit_test(tasks_never_run_as_root),
#define IN_DIR(name) cmocka_unit_test_setup_teardown(name, dir_up, dir_down)
        IN_DIR(job_directories_come_from_the_pool_and_go_back),
        IN_DIR(what_a_task_wrote_stays_for_its_next_attempt),
        IN_DIR(the_pool_never_runs_dry),
        cmocka_unit_test(options_are_read_and_wrong_ones_refused),
        cmocka_unit_test(a_domain_keeps_processes_apart),
        cmocka_unit_test(what_confines_tasks_is_wanted_by_name),
        IN_DIR(the_file_and_the_line_over_it),
        cmocka_unit_test(a_node_says_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
