/* test_access.c - whose object, and who reaches it: principals that no token gives yet, and the one
 * place that asks before a handler runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../core/core_rig.h"
#include "api/access.h"
#include "api/api_internal.h"
#include "api/call.h"
#include "api/route.h"
#include "io/http_internal.h"

#include <string.h>

/* ---- made-up principals ---- */

static const struct access_principal admin = {.reach = ACCESS_SERVER, .user = "root"};
static const struct access_principal ann = {.reach = ACCESS_OWN, .user = "ann"};
static const struct access_principal member = {
    .reach = ACCESS_PROJECT, .user = "eve", .project = "vision"};
static const struct access_principal lead = {
    .reach = ACCESS_DEPARTMENT, .user = "leo", .department = "research"};
static const struct access_principal stranger = {.reach = ACCESS_NOBODY};

static account_id account(struct rig *rig, enum account_kind kind, const char *name,
                          const char *parent)
{
    struct account_spec spec = {.kind = kind, .name = name, .parent = parent};
    struct input in = {.type = INPUT_ACCOUNT_SET};
    in.account.spec = &spec;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    return query_account_named(rig->core, kind, name)->id;
}

static task_id task(struct rig *rig, const char *user, const char *project)
{
    struct task_spec spec = rig_spec();
    spec.user = user;
    spec.project = project;
    return rig_submit(rig, spec);
}

/* research: vision, speech; sales: shop. Task 1 is ann's in vision, 2 eve's in speech, 3 bob's in
 * vision, 4 bob's in shop. */
static int begin(void **state)
{
    static struct rig rig;
    rig_init(&rig);
    (void)account(&rig, ACCOUNT_DEPARTMENT, "research", "");
    (void)account(&rig, ACCOUNT_DEPARTMENT, "sales", "");
    (void)account(&rig, ACCOUNT_PROJECT, "vision", "research");
    (void)account(&rig, ACCOUNT_PROJECT, "speech", "research");
    (void)account(&rig, ACCOUNT_PROJECT, "shop", "sales");
    assert_int_equal(task(&rig, "ann", "vision").v, 1);
    assert_int_equal(task(&rig, "eve", "speech").v, 2);
    assert_int_equal(task(&rig, "bob", "vision").v, 3);
    assert_int_equal(task(&rig, "bob", "shop").v, 4);
    *state = &rig;
    return 0;
}

static int end(void **state)
{
    rig_done(*state);
    return 0;
}

static bool reaches(const struct rig *rig, const struct access_principal *principal,
                    enum access_whose whose, const char *param)
{
    struct access_object object = access_object_of(rig->core, whose, param, principal);
    return access_reaches(principal, &object);
}

struct want {
    enum access_whose whose;
    const char *param;
    bool ann, member, lead;
};

static void each_reaches_what_is_theirs_and_no_more(void **state)
{
    static const struct want wants[] = {
        {ACCESS_OWN, "1", true, true, true},     /* ann's, in vision */
        {ACCESS_OWN, "2", false, true, true},    /* eve's own, in another project of research */
        {ACCESS_OWN, "3", false, true, true},    /* bob's, in vision */
        {ACCESS_OWN, "4", false, false, false},  /* bob's, in shop */
        {ACCESS_OWN, "99", false, false, false}, /* none */
        {ACCESS_OWN, "1x", false, false, false},
        {ACCESS_OWN, NULL, true, true, true}, /* about the caller: whoami */
        {ACCESS_PROJECT, "vision", false, true, true},
        {ACCESS_PROJECT, "speech", false, false, true},
        {ACCESS_PROJECT, "shop", false, false, false},
        {ACCESS_PROJECT, "nix", false, false, false},
        {ACCESS_PROJECT, NULL, false, false, false}, /* named in the body alone */
        {ACCESS_DEPARTMENT, "research", false, false, true},
        {ACCESS_DEPARTMENT, "sales", false, false, false},
        {ACCESS_DEPARTMENT, "vision", false, false, false}, /* a project's name */
        {ACCESS_DEPARTMENT, NULL, false, false, false},
        {ACCESS_SERVER, "1", false, false, false},
        {ACCESS_SERVER, NULL, false, false, false},
        {ACCESS_NOBODY, NULL, true, true, true},
    };
    const struct rig *rig = *state;
    for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++) {
        const struct want *want = &wants[i];
        assert_int_equal(reaches(rig, &ann, want->whose, want->param), want->ann);
        assert_int_equal(reaches(rig, &member, want->whose, want->param), want->member);
        assert_int_equal(reaches(rig, &lead, want->whose, want->param), want->lead);
        assert_true(reaches(rig, &admin, want->whose, want->param));
        assert_int_equal(reaches(rig, &stranger, want->whose, want->param),
                         want->whose == ACCESS_NOBODY);
    }
}

/* A text that is not known, or empty, makes nobody an owner. */
static void what_is_not_known_is_nobodys(void **state)
{
    (void)state;
    static const struct access_object tasks[] = {
        {.whose = ACCESS_OWN},
        {.whose = ACCESS_OWN, .user = "", .project = "", .department = ""},
    };
    for (int reach = ACCESS_OWN; reach < ACCESS_SERVER; reach++) {
        struct access_principal principal = {.reach = (enum access_whose)reach};
        for (size_t i = 0; i < 2; i++) {
            assert_false(access_reaches(&principal, &tasks[i]));
            principal.user = principal.project = principal.department = "";
            assert_false(access_reaches(&principal, &tasks[i]));
        }
    }
}

/* Until there are roles: a user's token reaches everything, a node's itself. */
static void todays_tokens_are_refused_nothing_they_had(void **state)
{
    const struct rig *rig = *state;
    for (size_t i = 0; i < routes_count; i++) {
        for (int scope = 0; scope < TOKEN_SCOPE_COUNT; scope++) {
            if (!route_permits(routes[i].permission, (enum token_scope)scope)) {
                continue;
            }
            struct access_principal principal =
                access_principal_of((enum token_scope)scope, "name");
            bool named = strchr(routes[i].pattern, '{') != NULL;
            assert_true(reaches(rig, &principal, routes[i].whose, named ? "99" : NULL));
        }
    }
}

/* ---- the one place ---- */

static unsigned handled;
static struct call *answered;

static void handler(struct call *call)
{
    (void)call;
    handled++;
}

static const struct core *host_core(void *ctx)
{
    return ((struct rig *)ctx)->core;
}

static void host_hold(void *ctx, struct parked_answer *hold)
{
    (void)ctx;
    answered = (struct call *)hold;
}

/* Runs a call; true when the handler was run, false when it was refused with 403. */
static bool run(struct rig *rig, const struct access_principal *principal, enum access_whose whose,
                const char *param, struct buf *ret_answer)
{
    struct api_host host = {.ctx = rig, .core = host_core, .hold = host_hold};
    struct api api = {.o = {.host = &host}};
    struct route route = {.method = "GET", .whose = whose, .handler = handler};
    struct http_request request = {.url = {.path = "/x"}};
    struct call call = {.api = &api,
                        .request = &request,
                        .route = &route,
                        .params = {param},
                        .principal = *principal,
                        .actor = "user:x"};
    buf_init(&call.out, ANSWER_BYTES_MAX);
    handled = 0;
    answered = NULL;
    call_run(&call);
    assert_true((handled == 1) == (answered == NULL));
    if (answered != NULL) {
        assert_int_equal(call.status, 403);
        buf_add(ret_answer, buf_text(&call.out), call.out.len);
    }
    buf_done(&call.out);
    return handled == 1;
}

static void a_handler_runs_only_for_those_who_reach_the_object(void **state)
{
    struct rig *rig = *state;
    struct buf out;
    buf_init(&out, 4096);
    assert_true(run(rig, &admin, ACCESS_OWN, "4", &out));
    assert_true(run(rig, &ann, ACCESS_OWN, "1", &out));
    assert_true(run(rig, &member, ACCESS_PROJECT, "vision", &out));
    assert_true(run(rig, &stranger, ACCESS_NOBODY, NULL, &out));
    assert_int_equal(out.len, 0);

    assert_false(run(rig, &ann, ACCESS_OWN, "4", &out));
    assert_non_null(strstr(buf_text(&out), "'user:x' may not GET /x"));
    struct buf absent;
    buf_init(&absent, 4096);
    assert_false(run(rig, &ann, ACCESS_OWN, "99", &absent));
    assert_string_equal(buf_text(&out), buf_text(&absent)); /* nothing is learnt from it */
    assert_false(run(rig, &member, ACCESS_PROJECT, "speech", &out));
    assert_false(run(rig, &stranger, ACCESS_SERVER, NULL, &out));
    buf_done(&absent);
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reaches_what_is_theirs_and_no_more),
        cmocka_unit_test(what_is_not_known_is_nobodys),
        cmocka_unit_test(todays_tokens_are_refused_nothing_they_had),
        cmocka_unit_test(a_handler_runs_only_for_those_who_reach_the_object),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
