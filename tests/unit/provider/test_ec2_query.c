/* test_ec2_query.c - what is sent to EC2, the script of a new machine, and the file of credentials.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/object.h"
#include "provider/ec2/ec2_keys.h"
#include "provider/ec2/ec2_query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const zones[] = {"us-east-1a", "us-east-1b"};
static const char *const tags[] = {"team=a&b=c"};

static void pool_make(struct pool_spec *pool)
{
    object_init(&pool_object, pool);
    pool->name = "cloud";
    pool->ec2_image = "ami-1";
    pool->ec2_instance_type = "t3.micro";
    pool->ec2_zones = zones;
    pool->ec2_zone_count = 2;
    pool->ec2_tags = tags;
    pool->ec2_tag_count = 1;
    pool->ec2_max_price = "0.25";
}

static void has(const struct buf *form, const char *part)
{
    if (strstr(form->data, part) == NULL) {
        fail_msg("no '%s' in '%s'", part, form->data);
    }
}

static void a_request_has_one_token_for_each_place(void **state)
{
    struct pool_spec pool;
    struct buf form;
    struct ec2_run run = {.pool = &pool,
                          .key = "weir-1-7",
                          .server_uuid = "ab",
                          .node = "cloud-7",
                          .flavor = "",
                          .zone = "",
                          .script = "hi"};
    (void)state;
    pool_make(&pool);
    buf_init(&form, EC2_FORM_MAX);
    assert_int_equal(ec2_query_places(&pool, ""), 2);
    assert_int_equal(ec2_query_places(&pool, "us-east-1c"), 1);
    ec2_query_run(&run, &form);
    has(&form, "Action=RunInstances&Version=2016-11-15&ClientToken=weir-1-7&");
    has(&form, "&Placement.AvailabilityZone=us-east-1a&");
    has(&form, "&UserData=aGk%3D");
    has(&form, "&TagSpecification.1.Tag.5.Key=team&TagSpecification.1.Tag.5.Value=a%26b%3Dc");
    assert_null(strstr(form.data, "Market"));
    run.place = 1;
    run.spot = true;
    run.flavor = "t3.large";
    ec2_query_run(&run, &form);
    has(&form, "&ClientToken=weir-1-7.1&");
    has(&form, "&InstanceType=t3.large&");
    has(&form, "&Placement.AvailabilityZone=us-east-1b&");
    has(&form, "&InstanceMarketOptions.SpotOptions.MaxPrice=0.25&");
    run.place = 0;
    run.zone = "us-east-1c";
    ec2_query_run(&run, &form);
    has(&form, "&Placement.AvailabilityZone=us-east-1c&");
    static const char *const subnets[] = {"us-east-1a=subnet-1", "us-east-1c=subnet-3"};
    pool.ec2_subnets = subnets;
    pool.ec2_subnet_count = 2;
    ec2_query_run(&run, &form);
    has(&form, "&SubnetId=subnet-3&");
    assert_null(strstr(form.data, "Placement"));
    run.zone = "";
    ec2_query_run(&run, &form);
    has(&form, "&SubnetId=subnet-1&");
    buf_done(&form);
}

static void lists_go_on_where_they_stopped(void **state)
{
    struct buf form;
    (void)state;
    buf_init(&form, EC2_FORM_MAX);
    ec2_query_list("ab", "next/1", &form);
    has(&form, "&Filter.1.Name=tag%3Aweir%3Aserver&Filter.1.Value.1=ab&MaxResults=1000&NextToken="
               "next%2F1");
    ec2_query_terminate("i-1", &form);
    assert_string_equal(form.data, "Action=TerminateInstances&Version=2016-11-15&InstanceId.1=i-1");
    buf_done(&form);
}

/* The shell itself reads the script: an agent that is a script of ours shows its words. */
static void a_script_hands_every_word_to_the_agent(void **state)
{
    const struct provider_order order = {.pool = "it's",
                                         .node = "n$(x)`y`\"1",
                                         .slots = 3,
                                         .cpu_milli = 1500,
                                         .memory_bytes = 99,
                                         .server = "http://s",
                                         .join_token = "to'k"};
    char dir[] = "/tmp/weir-ec2-XXXXXX";
    char line[512] = "";
    struct buf script;
    (void)state;
    assert_non_null(mkdtemp(dir));
    buf_init(&script, EC2_SCRIPT_MAX);
    ec2_query_script(&order, "weir() { printf '<%s>' \"$@\"; cat \"$dir.token\"; }", &script);
    /* A function cannot be exec'd: the words are shown in its place. */
    char *exec = strstr(script.data, "exec weir");
    assert_non_null(exec);
    memset(exec, ' ', 4);
    (void)snprintf(line, sizeof line, "WEIR_AGENT_DIR=%s/agent sh -s > %s/out", dir, dir);
    FILE *shell = popen(line, "we");
    assert_non_null(shell);
    assert_int_equal(fwrite(script.data, 1, script.len, shell), script.len);
    assert_int_equal(pclose(shell), 0);
    char path[128];
    char want[512];
    struct stat info;
    (void)snprintf(path, sizeof path, "%s/agent.token", dir);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/out", dir);
    FILE *out = fopen(path, "re");
    assert_non_null(out);
    const size_t len = fread(line, 1, sizeof line - 1, out);
    line[len] = '\0';
    (void)fclose(out);
    (void)snprintf(
        want, sizeof want,
        "<agent><--dir><%s/agent><--join-token-file><%s/agent.token><--server><http://"
        "s><--pool><it's><--name><n$(x)`y`\"1><--slots><3><--resources><cpu=1.5 memory=99>to'k",
        dir, dir);
    assert_string_equal(line, want);
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s/agent", dir);
    (void)rmdir(path);
    (void)rmdir(dir);
    buf_done(&script);
}

static void file_make(const char *path, const char *text, mode_t mode)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
}

static void a_file_of_credentials_is_read_anew_and_is_nobody_else_s(void **state)
{
    char dir[] = "/tmp/weir-ec2-XXXXXX";
    char path[64];
    struct arena arena;
    struct sigv4_keys got;
    struct error e = {0};
    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/keys", dir);
    arena_init(&arena);
    struct ec2_keys *keys = ec2_keys_new(path);
    assert_int_equal(ec2_keys_get(keys, &arena, &got, &e), ERR_IO);
    file_make(path,
              "[default]\naws_access_key_id = "
              "AK\naws_secret_access_key=SE=C\n[other]\naws_access_key_id=NO\n",
              0600);
    assert_int_equal(ec2_keys_get(keys, &arena, &got, &e), ERR_OK);
    assert_string_equal(got.access_key, "AK");
    assert_string_equal(got.secret_key, "SE=C");
    assert_string_equal(got.session_token, "");
    file_make(path, "aws_access_key_id=AK2\naws_secret_access_key=S\naws_session_token=T\n", 0600);
    assert_int_equal(ec2_keys_get(keys, &arena, &got, &e), ERR_OK);
    assert_string_equal(got.access_key, "AK2");
    assert_string_equal(got.session_token, "T");
    file_make(path, "aws_access_key_id=AK\n", 0600);
    assert_int_equal(ec2_keys_get(keys, &arena, &got, &e), ERR_INVALID);
    file_make(path, "aws_access_key_id=AK\naws_secret_access_key=S\n", 0640);
    assert_int_equal(ec2_keys_get(keys, &arena, &got, &e), ERR_DENIED);
    assert_non_null(strstr(e.text, "chmod 600"));
    ec2_keys_free(keys);
    (void)unlink(path);
    (void)rmdir(dir);
    arena_done(&arena);
}

static void what_the_environment_has_is_taken_out_of_it(void **state)
{
    struct arena arena;
    struct sigv4_keys got;
    struct error e = {0};
    (void)state;
    arena_init(&arena);
    assert_int_equal(setenv("AWS_ACCESS_KEY_ID", "AK", 1), 0);
    assert_int_equal(setenv("AWS_SECRET_ACCESS_KEY", "SECRET", 1), 0);
    struct ec2_keys *keys = ec2_keys_new("");
    assert_int_equal(ec2_keys_get(keys, &arena, &got, &e), ERR_OK);
    assert_string_equal(got.secret_key, "SECRET");
    assert_null(getenv("AWS_SECRET_ACCESS_KEY"));
    assert_null(getenv("AWS_ACCESS_KEY_ID"));
    ec2_keys_free(keys);
    keys = ec2_keys_new("");
    assert_int_equal(ec2_keys_get(keys, &arena, &got, &e), ERR_NOT_FOUND);
    assert_non_null(strstr(e.text, "AWS_ACCESS_KEY_ID"));
    ec2_keys_free(keys);
    arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_has_one_token_for_each_place),
        cmocka_unit_test(lists_go_on_where_they_stopped),
        cmocka_unit_test(a_script_hands_every_word_to_the_agent),
        cmocka_unit_test(a_file_of_credentials_is_read_anew_and_is_nobody_else_s),
        cmocka_unit_test(what_the_environment_has_is_taken_out_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
