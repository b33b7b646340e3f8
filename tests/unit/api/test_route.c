/* test_route.c - the route table: what is found, what is refused, who may.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/route.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct route *found(const char *method, const char *path, const char **params,
                                 const char **allow)
{
    static struct arena arena;
    arena_clear(&arena);
    return route_find(&(struct route_mounts){0}, method, path, &arena, params, allow);
}

static void a_path_with_a_row_of_its_own_is_nobody_elses_parameter(void **state)
{
    (void)state;
    const char *params[CALL_PARAMS_MAX] = {NULL};
    const char *allow;
    const struct route *route = found("POST", "/api/v1/tasks/kill", params, &allow);
    assert_non_null(route);
    assert_string_equal(route->pattern, "/api/v1/tasks/kill");
    assert_null(found("PATCH", "/api/v1/tasks/kill", params, &allow));
    assert_string_equal(allow, "POST");
}

static void a_path_finds_its_row_and_parameters(void **state)
{
    (void)state;
    const char *params[CALL_PARAMS_MAX] = {NULL};
    const char *allow;
    const struct route *route = found("POST", "/api/v1/tasks/12/kill", params, &allow);
    assert_non_null(route);
    assert_string_equal(route->pattern, "/api/v1/tasks/{id}/kill");
    assert_string_equal(params[0], "12");
    route = found("GET", "/api/v1/pools/a b.c", params, &allow);
    assert_non_null(route);
    assert_string_equal(params[0], "a b.c");
}

static void near_misses_find_nothing(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "",
        "//",
        "/assets",
        "/assets/",
        "/assets/a/b",
        "/api/v1/tasks/",
        "/api/v1/tasks//kill",
        "/api/v1",
        "/API/v1/tasks",
        "/api/v1/tasks/1/kill/",
        "/api/v1/tasks/1/2",
        "//healthz",
        "/healthz/",
        "/api/v1/tasks/{id}/x",
    };
    const char *params[CALL_PARAMS_MAX];
    const char *allow;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_null(found("GET", paths[i], params, &allow));
        assert_null(allow);
    }
}

static void another_method_is_told_which_there_are(void **state)
{
    (void)state;
    const char *params[CALL_PARAMS_MAX];
    const char *allow;
    assert_null(found("PUT", "/api/v1/pools/x", params, &allow));
    assert_string_equal(allow, "GET, PATCH, DELETE");
    assert_null(found("get", "/healthz", params, &allow));
    assert_string_equal(allow, "GET");
}

/* Only health and the files of web/ are open; whatever changes something needs more than a reader's token. */
static void every_row_has_a_fitting_permission(void **state)
{
    (void)state;
    for (size_t i = 0; i < routes_count; i++) {
        const struct route *route = &routes[i];
        bool health =
            strcmp(route->pattern, "/healthz") == 0 || strcmp(route->pattern, "/readyz") == 0;
        assert_true((route->permission == PERMIT_NONE) == health);
        bool asset =
            strcmp(route->pattern, "/") == 0 || strcmp(route->pattern, "/assets/{name}") == 0;
        assert_true((route->permission == PERMIT_ASSET) == asset);
        assert_true(route_is_open(route) == (health || asset));
        bool agents = strncmp(route->pattern, "/api/v1/agent/", 14) == 0;
        assert_true((route->permission == PERMIT_NODE || route->permission == PERMIT_JOIN) ==
                    agents);
        bool session = strncmp(route->pattern, "/api/v1/session", 15) == 0;
        assert_true((route->permission == PERMIT_SIGNIN) ==
                    (session && strcmp(route->method, "GET") != 0));
        if (strcmp(route->method, "GET") != 0 && !session) {
            assert_false(route_permits(route->permission, SCOPE_READ));
        } else {
            assert_int_equal(route->body_max, 0);
        }
        assert_non_null(route->handler);
    }
}

static void no_row_stands_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < routes_count; i++) {
        for (size_t k = i + 1; k < routes_count; k++) {
            assert_false(strcmp(routes[i].method, routes[k].method) == 0 &&
                         strcmp(routes[i].pattern, routes[k].pattern) == 0);
        }
    }
}

/* A facade's table answers below its prefix, and nowhere else. */
static void a_mounted_table_answers_below_its_prefix_alone(void **state)
{
    (void)state;
    static const struct route rows[] = {
        {.method = "GET", .pattern = "/pools/{uuid}", .pattern_len = sizeof("/pools/{uuid}") - 1},
        {.method = "POST", .pattern = "/healthz", .pattern_len = sizeof("/healthz") - 1},
        {.method = "GET", .pattern = "/data/{key...}", .pattern_len = sizeof("/data/{key...}") - 1},
    };
    static const struct route_mount mount = {
        .prefix = "/other", .rows = rows, .count = sizeof rows / sizeof rows[0]};
    static const struct route_mounts mounts = {&mount, 1};
    struct arena arena = {0};
    const char *params[CALL_PARAMS_MAX] = {NULL};
    const char *allow;
    assert_ptr_equal(route_find(&mounts, "GET", "/other/pools/7", &arena, params, &allow), rows);
    assert_string_equal(params[0], "7");
    /* A path of the server is not found below the prefix, nor a path of the mount without it. */
    assert_null(route_find(&mounts, "GET", "/other/readyz", &arena, params, &allow));
    assert_null(route_find(&mounts, "GET", "/pools/7", &arena, params, &allow));
    assert_null(route_find(&mounts, "GET", "/other", &arena, params, &allow));
    assert_null(route_find(&mounts, "GET", "/othe/pools/7", &arena, params, &allow));
    assert_null(route_find(&mounts, "GET", "/otherpools/7", &arena, params, &allow));
    assert_null(allow);
    /* A parameter that takes the rest of the path. */
    assert_ptr_equal(route_find(&mounts, "GET", "/other/data/a/b/c", &arena, params, &allow),
                     rows + 2);
    assert_string_equal(params[0], "a/b/c");
    assert_null(route_find(&mounts, "GET", "/other/data/", &arena, params, &allow));
    /* The same path in both tables: each has its own methods. */
    assert_null(route_find(&mounts, "GET", "/other/healthz", &arena, params, &allow));
    assert_string_equal(allow, "POST");
    const struct route *own = route_find(&mounts, "GET", "/healthz", &arena, params, &allow);
    assert_non_null(own);
    assert_true(own >= routes && own < routes + routes_count);
    arena_done(&arena);
}

/* What call_run() takes for granted: an object of a user that a path names is a task. */
static void every_row_says_whose_object_it_is_about(void **state)
{
    (void)state;
    for (size_t i = 0; i < routes_count; i++) {
        const struct route *route = &routes[i];
        bool named = strchr(route->pattern, '{') != NULL;
        bool task = strncmp(route->pattern, "/api/v1/tasks/{", 15) == 0;
        assert_true((route->whose == ACCESS_OWN && named) == task);
        bool project = strncmp(route->pattern, "/api/v1/projects/{", 18) == 0;
        assert_true((route->whose == ACCESS_PROJECT && named) == project);
        bool department = strncmp(route->pattern, "/api/v1/departments/{", 21) == 0;
        assert_true((route->whose == ACCESS_DEPARTMENT && named) == department);
        /* Without a token there is no principal: such a row shows nobody's objects. */
        assert_true(!route_is_open(route) || route->whose == ACCESS_NOBODY);
        /* Nodes reach their own objects alone. */
        bool agents = route->permission == PERMIT_NODE || route->permission == PERMIT_JOIN;
        assert_true(!agents || (route->whose == ACCESS_OWN && !named));
    }
}

static void scopes_open_what_is_theirs(void **state)
{
    (void)state;
    static const bool want[][TOKEN_SCOPE_COUNT] = {
        [PERMIT_NONE] = {true, true, true, true, true},
        [PERMIT_ASSET] = {true, true, true, true, true},
        [PERMIT_READ] = {[SCOPE_ADMIN] = true, [SCOPE_READ] = true},
        [PERMIT_SIGNIN] = {[SCOPE_ADMIN] = true, [SCOPE_READ] = true},
        [PERMIT_WRITE] = {[SCOPE_ADMIN] = true},
        [PERMIT_ADMIN] = {[SCOPE_ADMIN] = true},
        [PERMIT_NODE] = {[SCOPE_NODE] = true},
        [PERMIT_JOIN] = {[SCOPE_JOIN] = true},
    };
    for (unsigned permission = 0; permission < sizeof want / sizeof want[0]; permission++) {
        for (unsigned scope = 0; scope < TOKEN_SCOPE_COUNT; scope++) {
            assert_true(route_permits((enum route_permission)permission, (enum token_scope)scope) ==
                        want[permission][scope]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_finds_its_row_and_parameters),
        cmocka_unit_test(a_path_with_a_row_of_its_own_is_nobody_elses_parameter),
        cmocka_unit_test(near_misses_find_nothing),
        cmocka_unit_test(another_method_is_told_which_there_are),
        cmocka_unit_test(every_row_has_a_fitting_permission),
        cmocka_unit_test(no_row_stands_twice),
        cmocka_unit_test(a_mounted_table_answers_below_its_prefix_alone),
        cmocka_unit_test(every_row_says_whose_object_it_is_about),
        cmocka_unit_test(scopes_open_what_is_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
