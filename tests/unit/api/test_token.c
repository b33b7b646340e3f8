/* test_token.c - tokens: made, found, expired, revoked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/token.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void a_token_is_found_by_its_secret_alone(void **state)
{
    (void)state;
    struct tokens *tokens = token_set_new();
    struct store_token token;
    char secret[TOKEN_SECRET_MAX];
    token_make(SCOPE_READ, "ann", 1000, &token, secret);
    assert_memory_equal(secret, "weir_read_", 10);
    assert_int_equal(strlen(secret), 10 + 64);
    assert_null(token_set_find(tokens, secret, 1000));
    token_set_put(tokens, &token);
    const struct store_token *found = token_set_find(tokens, secret, 1000);
    assert_non_null(found);
    assert_string_equal(found->name, "ann");
    assert_string_equal(found->scope, "read");
    secret[20] = secret[20] == '0' ? '1' : '0';
    assert_null(token_set_find(tokens, secret, 1000));
    assert_null(token_set_find(tokens, "", 1000));
    assert_null(token_set_find(tokens, token.id, 1000));
    token_set_free(tokens);
}

static void what_is_kept_does_not_hold_the_secret(void **state)
{
    (void)state;
    struct store_token token;
    char secret[TOKEN_SECRET_MAX];
    token_make(SCOPE_ADMIN, "root", 1, &token, secret);
    assert_null(memmem(&token, sizeof token, secret + 11, 16));
    assert_null(strstr(secret, token.id));
}

static void two_tokens_are_never_alike(void **state)
{
    (void)state;
    struct store_token a;
    struct store_token b;
    char first[TOKEN_SECRET_MAX];
    char second[TOKEN_SECRET_MAX];
    token_make(SCOPE_ADMIN, "root", 1, &a, first);
    token_make(SCOPE_ADMIN, "root", 1, &b, second);
    assert_string_not_equal(first, second);
    assert_string_not_equal(a.id, b.id);
    assert_memory_not_equal(a.hash, b.hash, sizeof a.hash);
}

static void an_expired_or_revoked_token_is_none(void **state)
{
    (void)state;
    struct tokens *tokens = token_set_new();
    struct store_token token;
    char secret[TOKEN_SECRET_MAX];
    token_make(SCOPE_ADMIN, "root", 1000, &token, secret);
    token.expires_ms = 2000;
    token_set_put(tokens, &token);
    assert_non_null(token_set_find(tokens, secret, 1999));
    assert_null(token_set_find(tokens, secret, 2000));
    token.revoked = true;
    token_set_put(tokens, &token);
    assert_null(token_set_find(tokens, secret, 1500));
    assert_int_equal(token_set_count(tokens), 0);
    token_set_put(tokens, &token); /* revoked twice: nothing happens */
    token_set_free(tokens);
}

static void tokens_are_looked_up_by_id_and_name(void **state)
{
    (void)state;
    struct tokens *tokens = token_set_new();
    struct store_token node;
    struct store_token user;
    char secret[TOKEN_SECRET_MAX];
    token_make(SCOPE_NODE, "n1", 1, &node, secret);
    token_make(SCOPE_ADMIN, "n1", 1, &user, secret);
    token_set_put(tokens, &node);
    token_set_put(tokens, &user);
    assert_string_equal(token_set_named(tokens, SCOPE_NODE, "n1")->id, node.id);
    assert_null(token_set_named(tokens, SCOPE_NODE, "n2"));
    assert_string_equal(token_set_by_id(tokens, user.id)->scope, "admin");
    assert_null(token_set_by_id(tokens, ""));
    token_set_free(tokens);
}

static void scopes_have_names(void **state)
{
    (void)state;
    enum token_scope scope;
    for (unsigned i = 0; i < TOKEN_SCOPE_COUNT; i++) {
        assert_true(token_scope_parse(token_scope_name((enum token_scope)i), &scope));
        assert_int_equal(scope, i);
    }
    assert_false(token_scope_parse("root", &scope));
}

static void revoked_note(void *ctx, const struct store_token *token)
{
    assert_true(token->revoked);
    token_set_put(ctx, token);
}

static void tokens_that_expired_long_ago_go(void **state)
{
    (void)state;
    static const int64_t expires[] = {0, 100, 200, 300};
    struct tokens *tokens = token_set_new();
    char secret[TOKEN_SECRET_MAX];
    for (size_t i = 0; i < sizeof expires / sizeof expires[0]; i++) {
        struct store_token token;
        token_make(SCOPE_JOIN, "default", 1, &token, secret);
        token.expires_ms = expires[i];
        token_set_put(tokens, &token);
    }
    token_set_revoke_expired(tokens, 250, revoked_note, tokens);
    assert_int_equal(token_set_count(tokens),
                     2); /* one that never expires, and one that is still young */
    token_set_free(tokens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_that_expired_long_ago_go),
        cmocka_unit_test(a_token_is_found_by_its_secret_alone),
        cmocka_unit_test(what_is_kept_does_not_hold_the_secret),
        cmocka_unit_test(two_tokens_are_never_alike),
        cmocka_unit_test(an_expired_or_revoked_token_is_none),
        cmocka_unit_test(tokens_are_looked_up_by_id_and_name),
        cmocka_unit_test(scopes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
