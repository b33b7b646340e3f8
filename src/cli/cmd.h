/* cmd.h - the functions of the commands, one for each row of the command table.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"

#include <stddef.h>

struct buf;
struct cli;

int cmd_up(struct cli *cli);
int cmd_down(struct cli *cli);
int cmd_view_status(struct cli *cli);
int cmd_doctor(struct cli *cli);
/* Writes what `weir doctor` finds, as text and as JSON. Returns the number of troubles. */
size_t cmd_doctor_look(struct cli *cli, struct buf *text, struct buf *json);
int cmd_support(struct cli *cli);

int cmd_run(struct cli *cli);
int cmd_submit(struct cli *cli);
/* `weir explain -f FILE`: what would become of the tasks of a file. */
int cmd_submit_explain(struct cli *cli);

int cmd_task_list(struct cli *cli);
int cmd_task_show(struct cli *cli);
int cmd_task_logs(struct cli *cli);
int cmd_task_change_kill(struct cli *cli);
int cmd_task_change_start(struct cli *cli);
int cmd_task_change_pause(struct cli *cli);
int cmd_task_change_activate(struct cli *cli);
int cmd_task_change_edit(struct cli *cli);
int cmd_task_change_move(struct cli *cli);
int cmd_task_change_retry(struct cli *cli);
int cmd_update(struct cli *cli);
int cmd_task_wait(struct cli *cli);
int cmd_checkpoint(struct cli *cli);
int cmd_files_list(struct cli *cli);
int cmd_files_get(struct cli *cli);

int cmd_shell_start(struct cli *cli);
int cmd_shell_attach(struct cli *cli);
int cmd_shell_exec(struct cli *cli);
int cmd_notebook_start(struct cli *cli);
int cmd_notebook_tensorboard(struct cli *cli);
int cmd_notebook_open(struct cli *cli);

/* The commands for departments, projects, flavors and networks. The `object` of the command's row
 * says which of them is meant. */
int cmd_object_list(struct cli *cli);
int cmd_object_show(struct cli *cli);
int cmd_object_create(struct cli *cli);
int cmd_object_edit(struct cli *cli);
int cmd_object_delete(struct cli *cli);
int cmd_pool_list(struct cli *cli);
int cmd_pool_show(struct cli *cli);
int cmd_pool_create(struct cli *cli);
int cmd_pool_edit(struct cli *cli);
int cmd_pool_life_close(struct cli *cli);
int cmd_pool_life_delete(struct cli *cli);
int cmd_pool_life_restore(struct cli *cli);
int cmd_events_pool(struct cli *cli);
int cmd_pool_pause(struct cli *cli);
int cmd_pool_resume(struct cli *cli);

int cmd_node_list(struct cli *cli);
int cmd_node_show(struct cli *cli);
int cmd_node_drain(struct cli *cli);
int cmd_node_resume(struct cli *cli);
int cmd_node_lock(struct cli *cli);
int cmd_node_unlock(struct cli *cli);
int cmd_scale_pool(struct cli *cli);
int cmd_scale_replace(struct cli *cli);
int cmd_node_label(struct cli *cli);
int cmd_node_rejoin(struct cli *cli);
int cmd_node_remove(struct cli *cli);

int cmd_quota_list(struct cli *cli);
int cmd_quota_set(struct cli *cli);
int cmd_usage(struct cli *cli);
int cmd_audit_list(struct cli *cli);
int cmd_audit_verify(struct cli *cli);
int cmd_budget(struct cli *cli);

int cmd_pool_try(struct cli *cli);
int cmd_whatif(struct cli *cli);
/* `weir whatif pool edit P --max 8` becomes `weir pool edit --dry-run P --max 8`. Other calls stay. Fails for a command that
 * has no --dry-run. */
must_use enum err cmd_whatif_move(int argc, char **argv, struct error *e);

int cmd_view_queue(struct cli *cli);
int cmd_view_explain(struct cli *cli);
int cmd_events_all(struct cli *cli);

int cmd_auth_login(struct cli *cli);
int cmd_context_list(struct cli *cli);
int cmd_context_use(struct cli *cli);
int cmd_auth_whoami(struct cli *cli);
int cmd_auth_token_list(struct cli *cli);
int cmd_auth_token_create(struct cli *cli);
/* Prints the secret of a new token, which is shown only once. */
struct api_reply;
int cmd_auth_secret_show(struct cli *cli, const struct api_reply *reply);
int cmd_auth_token_delete(struct cli *cli);

int cmd_data_config_check(struct cli *cli);
int cmd_data_config_init(struct cli *cli);
/* Reads a file of at most 4 MiB. */
enum err cmd_data_config_text(const char *path, struct buf *out, struct error *e);
/* Reads a server file into `text`. Returns 0, or the exit status of the command: then the problems of the file are on standard error. */
int cmd_data_config_load(struct cli *cli, const char *path, struct buf *text);
int cmd_config_diff(struct cli *cli);
int cmd_config_apply(struct cli *cli);
int cmd_config_show(struct cli *cli);
int cmd_config_import(struct cli *cli);
/* returns the directory that --dir names, or the default */
const char *cmd_data_dir(struct cli *cli);
int cmd_data_state_export(struct cli *cli);
int cmd_data_db_backup(struct cli *cli);
int cmd_data_db_restore(struct cli *cli);
int cmd_data_db_adopt(struct cli *cli);
int cmd_data_db_check(struct cli *cli);
int cmd_top(struct cli *cli);
int cmd_guild_once(struct cli *cli);
int cmd_guild_watch(struct cli *cli);
int cmd_guild_start(struct cli *cli);
int cmd_ui(struct cli *cli);
int cmd_tls_init(struct cli *cli);
int cmd_tls_show(struct cli *cli);

int cmd_complete_script(struct cli *cli);
int cmd_complete(struct cli *cli);
int cmd_help(struct cli *cli);
int cmd_version(struct cli *cli);
