/* test_asset.c - the files of web/: how they are found, and what the client's headers mean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/asset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void a_page_refers_to_its_assets_by_their_hashed_names(void **state)
{
    (void)state;
    const struct asset *page = asset_find("/");
    assert_non_null(page);
    assert_true(page->page);
    for (size_t i = 0; i < assets_count; i++) {
        const struct asset *asset = &assets[i];
        assert_ptr_equal(asset_find(asset->path), asset);
        assert_true(asset->page == (strncmp(asset->path, "/assets/", 8) != 0));
        if (!asset->page) {
            assert_non_null(strstr(asset->path, asset->hash));
            assert_non_null(memmem(page->plain, page->plain_len, asset->path, strlen(asset->path)));
        }
        assert_memory_equal(asset->packed, "\x1f\x8b", 2);
    }
}

static void only_whole_paths_are_found(void **state)
{
    (void)state;
    static const char *const paths[] = {
        "",           "/index.html", "/assets/", "/assets/weir.css", "/assets/../index.html",
        "/assets/..", "//",
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_null(asset_find(paths[i]));
    }
}

static void gzip_is_given_to_those_who_take_it(void **state)
{
    (void)state;
    static const char *const yes[] = {
        "gzip",        "deflate, gzip, br", "GZIP", " gzip ;q=0.5", "gzip;q=0.001", "*",
        "br, *;q=0.1", "gzip;q=1, *;q=0",
    };
    static const char *const no[] = {
        "",      "br",          "identity", "gzip;q=0", "gzip; q=0.000",
        "*;q=0", "*, gzip;q=0", "xgzip",    "gzipx",    ",",
    };
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        assert_true(asset_takes_gzip(yes[i]));
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        assert_false(asset_takes_gzip(no[i]));
    }
    assert_false(asset_takes_gzip(NULL));
}

static void a_known_tag_is_recognised(void **state)
{
    (void)state;
    assert_true(asset_is_known("\"a1\"", "\"a1\""));
    assert_true(asset_is_known("\"b\" , W/\"a1\"", "\"a1\""));
    assert_true(asset_is_known("*", "\"a1\""));
    assert_false(asset_is_known(NULL, "\"a1\""));
    assert_false(asset_is_known("", "\"a1\""));
    assert_false(asset_is_known("a1", "\"a1\""));
    assert_false(asset_is_known("\"a1-gzip\"", "\"a1\""));
    assert_false(asset_is_known("W/", "\"a1\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_refers_to_its_assets_by_their_hashed_names),
        cmocka_unit_test(only_whole_paths_are_found),
        cmocka_unit_test(gzip_is_given_to_those_who_take_it),
        cmocka_unit_test(a_known_tag_is_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
