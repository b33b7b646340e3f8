/* commands_admin.c - the command table: nodes, tokens, data, help.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/flags.h"

static const struct flag flags_busy[] = {
    {"busy", 0, FLAG_TEXT, "B",
     "the tasks on a node that changes its pool: wait (the default), requeue, kill, or refuse the "
     "change",
     COMPLETE_WORDS, "wait,requeue,kill,refuse"},
    {0},
};

static const struct flag flags_node_list[] = {
    {"pool", 'p', FLAG_TEXT, "P", "only of this pool", COMPLETE_POOLS, NULL},
    {0},
};

const struct command commands_node[] = {
    {.name = "node list",
     .args = "[flags]",
     .help = "list nodes",
     .examples = "weir node list\nweir node list --pool gpu --watch\nweir node list --at 1h",
     .groups = {flags_list, flags_node_list, flags_at},
     .run = cmd_node_list},
    {.name = "node show",
     .args = "NODE",
     .help = "everything about one node",
     .examples = "weir node show n1",
     .groups = {flags_show, flags_at},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_NODES,
     .run = cmd_node_show},
    {.name = "node drain",
     .args = "NODE…",
     .help = "start nothing more on nodes; running tasks go on to their end",
     .examples = "weir node drain n1\nweir node drain n1 --within 2h",
     .groups = {flags_drain, flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_NODES,
     .run = cmd_node_drain},
    {.name = "node resume",
     .args = "NODE…",
     .help = "use drained nodes again",
     .examples = "weir node resume n1",
     .groups = {flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_NODES,
     .run = cmd_node_resume},
    {.name = "node label",
     .args = "NODE KEY=VALUE… KEY-…",
     .help = "set labels of a node; KEY- removes a label",
     .examples = "weir node label n1 zone=a rack-\n"
                 "weir node label n1 gpu=a100 --busy requeue",
     .more = "Labels may say that the node belongs to another pool (weir pool create --selector). "
             "Then\n"
             "the node takes no more starts and moves as soon as nothing runs there.",
     .groups = {flags_busy, flags_dry_run, flags_yes, flags_json},
     .args_min = 2,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_NODES,
     .run = cmd_node_label},
    {.name = "node remove",
     .args = "NODE…",
     .help = "forget nodes on which nothing runs",
     .examples = "weir node drain n1\nweir node remove n1",
     .more =
         "A node on which tasks run is not removed: drain the node and let the tasks end, or kill\n"
         "them. Its credential, its certificate and the join token that it has used up are no "
         "longer\n"
         "accepted. An agent whose join token has uses left joins again: end the agent first.",
     .groups = {flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_NODES,
     .run = cmd_node_remove},
    {.name = "node rejoin",
     .args = "NODE",
     .help = "print a token with which another machine may take the name of a node",
     .examples = "weir node rejoin n1",
     .more =
         "Needed when the machine of a node was replaced, or the directory of its agent is lost.\n"
         "The token is valid once and for an hour.",
     .groups = {flags_dry_run, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_NODES,
     .run = cmd_node_rejoin},
    {0},
};

static const struct flag flags_login[] = {
    {"as", 0, FLAG_TEXT, "NAME", "save the login under this name, beside others", COMPLETE_NONE,
     NULL},
    {"token-file", 0, FLAG_TEXT, "FILE", "read the token from this file; - is stdin",
     COMPLETE_FILES, NULL},
    {0},
};

static const struct flag flags_last[] = {
    {"last", 0, FLAG_TEXT, "HASH", "a hash of an earlier check, which must be in the record",
     COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_token[] = {
    {"scope", 0, FLAG_TEXT, "S", "admin, read (the default), or join: for new nodes",
     COMPLETE_WORDS, "admin,read,join"},
    {"name", 0, FLAG_TEXT, "S", "who or what uses the token", COMPLETE_NONE, NULL},
    {"pool", 'p', FLAG_TEXT, "P", "of a join token: the pool that its nodes join", COMPLETE_POOLS,
     NULL},
    {"expires", 0, FLAG_DURATION, "30d",
     "how long the token is valid (default: without end; a join token: an hour)", COMPLETE_NONE,
     NULL},
    {"reusable", 0, FLAG_NUMBER, "N", "so many nodes may join with the join token (default: one)",
     COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_output[] = {
    {"output", 'o', FLAG_TEXT, "FILE", "write to this file (default: standard output)",
     COMPLETE_FILES, NULL},
    {0},
};

static const struct flag flags_help[] = {
    {"man", 0, FLAG_BOOL, NULL, "print a manual page", COMPLETE_NONE, NULL},
    {"commands", 0, FLAG_BOOL, NULL, "print the names of all commands", COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_server[] = {
    {"config", 0, FLAG_TEXT, "FILE", "the server file; see weir config init", COMPLETE_FILES, NULL},
    {"dir", 0, FLAG_TEXT, "D", "the data directory, if there is no server file", COMPLETE_DIRS,
     NULL},
    {"listen", 0, FLAG_TEXT, "A:P", "address and port (default 127.0.0.1:8080)", COMPLETE_NONE,
     NULL},
    {"tls-cert", 0, FLAG_TEXT, "FILE", "the certificate (default: that of `weir tls init`)",
     COMPLETE_FILES, NULL},
    {"tls-key", 0, FLAG_TEXT, "FILE", "the key of the certificate", COMPLETE_FILES, NULL},
    {"insecure-listen", 0, FLAG_BOOL, NULL, "allow plain HTTP beyond loopback", COMPLETE_NONE,
     NULL},
    {"socket", 0, FLAG_TEXT, "FILE",
     "as root and its own account, commands need no token here (root: D/weir.sock)", COMPLETE_FILES,
     NULL},
    {"ready-fd", 0, FLAG_NUMBER, "N",
     "write the address to this descriptor once the server is ready", COMPLETE_NONE, NULL},
    {"help", 'h', FLAG_BOOL, NULL, "this text", COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_agent[] = {
    {"server", 0, FLAG_TEXT, "URL", "the server to join", COMPLETE_NONE, NULL},
    {"pool", 0, FLAG_TEXT, "P", "the pool to join (default: the join token's)", COMPLETE_POOLS,
     NULL},
    {"join-token", 0, FLAG_TEXT, "T", "the join token", COMPLETE_NONE, NULL},
    {"join-token-file", 0, FLAG_TEXT, "FILE", "a file that holds the join token", COMPLETE_FILES,
     NULL},
    {"ca", 0, FLAG_TEXT, "FILE",
     "the authority that the server must have (default: as the join token says)", COMPLETE_FILES,
     NULL},
    {"config", 0, FLAG_TEXT, "FILE", "read these settings from a file: join_token_file: …",
     COMPLETE_FILES, NULL},
    {"dir", 0, FLAG_TEXT, "D", "the node's own directory", COMPLETE_DIRS, NULL},
    {"name", 0, FLAG_TEXT, "S", "the node's name (default: the host's)", COMPLETE_NONE, NULL},
    {"address", 0, FLAG_TEXT, "A", "the address at which other nodes reach this node",
     COMPLETE_NONE, NULL},
    {"label", 0, FLAG_LIST, "K=V", "a label of the node", COMPLETE_NONE, NULL},
    {"slots", 0, FLAG_NUMBER, "N", "slots (default: its cores); a node with GPUs has one for each",
     COMPLETE_NONE, NULL},
    {"resources", 0, FLAG_TEXT, "'A=X B=Y'", "named resources of the node", COMPLETE_NONE, NULL},
    {"fake-gpus", 0, FLAG_NUMBER, "N", "pretend that the node has N GPUs", COMPLETE_NONE, NULL},
    {"run-as", 0, FLAG_TEXT, "USER", "as root: run tasks as this user", COMPLETE_NONE, NULL},
    {"task-uids", 0, FLAG_TEXT, "A-B",
     "as root: a user of its own for each task, out of these uids", COMPLETE_NONE, NULL},
    {"isolate-by", 0, FLAG_TEXT, "project|user",
     "whose tasks share an isolated network (default project)", COMPLETE_WORDS, "project,user"},
    {"runtime", 0, FLAG_TEXT, "R",
     "as root: run containers with crun, runc or a path; none: no containers", COMPLETE_NONE, NULL},
    {"image-dirs", 0, FLAG_TEXT, "A:B", "directories from which tasks may take images",
     COMPLETE_NONE, NULL},
    {"allow-binds", 0, FLAG_TEXT, "A:B:rw",
     "directories that containers may mount; :rw behind one: also for writing", COMPLETE_NONE,
     NULL},
    {"plain-registries", 0, FLAG_TEXT, "H:P,…", "registries that speak no TLS", COMPLETE_NONE,
     NULL},
    {"keep-files", 0, FLAG_DURATION, "D",
     "remove the files of a task from the node so long after its end (default: never)",
     COMPLETE_NONE, NULL},
    {"image-cache", 0, FLAG_TEXT, "50Gi", "most disk for unpacked images", COMPLETE_NONE, NULL},
    {"health-check", 0, FLAG_TEXT, "FILE",
     "a program that says whether the node is well: exit code 0, else words on standard error",
     COMPLETE_FILES, NULL},
    {"health-every", 0, FLAG_DURATION, "D", "how often the health check runs (default 1m)",
     COMPLETE_NONE, NULL},
    {"task-pids", 0, FLAG_NUMBER, "N", "most processes and threads of one task (default 8192)",
     COMPLETE_NONE, NULL},
    {"task-disk", 0, FLAG_TEXT, "10Gi", "most disk for the files of one task (default: no limit)",
     COMPLETE_NONE, NULL},
    {"cpu-binding", 0, FLAG_TEXT, "W",
     "hardware threads for tasks with whole processors: none, cores or numa", COMPLETE_NONE, NULL},
    {"confine", 0, FLAG_TEXT, "W",
     "not as root: keep tasks apart by auto, view, landlock or no (default auto)", COMPLETE_NONE,
     NULL},
    {"hide", 0, FLAG_TEXT, "A:B",
     "not as root: directories that tasks must not see, beside Weir's own", COMPLETE_DIRS, NULL},
    {"stop-after", 0, FLAG_DURATION, "D",
     "stop all tasks when the server is unreachable for so long (default: never)", COMPLETE_NONE,
     NULL},
    {"replace", 0, FLAG_BOOL, NULL, "take over from an agent that already uses the directory",
     COMPLETE_NONE, NULL},
    {"ready-fd", 0, FLAG_NUMBER, "N", "write a line to this descriptor once the node has joined",
     COMPLETE_NONE, NULL},
    {"help", 'h', FLAG_BOOL, NULL, "this text", COMPLETE_NONE, NULL},
    {0},
};

static const struct flag flags_support[] = {
    {"output", 'o', FLAG_TEXT, "FILE", "write this new file (default: weir-support-TIME.tar here)",
     COMPLETE_FILES, NULL},
    {"dir", 0, FLAG_TEXT, "D", "the server's data directory (default: that of the saved login)",
     COMPLETE_DIRS, NULL},
    {0},
};

const struct command commands_admin[] = {
    {.name = "login",
     .args = "URL",
     .help = "save a server and a token for the next commands",
     .more =
         "Asks for the token on a terminal. The token is tried before it is saved. --as saves it\n"
         "under a name beside other logins and uses it from now on; `weir context use` switches\n"
         "back. WEIR_CONTEXT=NAME uses another login for one command.",
     .examples = "weir login http://127.0.0.1:8080\nweir login https://weir.example --as "
                 "prod\nweir login URL --token-file secret\n"
                 "weir login unix:/var/lib/weir/weir.sock",
     .groups = {flags_login, flags_json},
     .args_min = 1,
     .args_max = 1,
     .run = cmd_auth_login},
    {.name = "context list",
     .args = "",
     .help = "the saved logins; * marks the one in use",
     .examples = "weir context list\nWEIR_CONTEXT=prod weir status",
     .groups = {flags_json},
     .run = cmd_context_list},
    {.name = "context use",
     .args = "NAME",
     .help = "let the next commands talk to the server of another saved login",
     .examples = "weir context use prod",
     .args_min = 1,
     .args_max = 1,
     .run = cmd_context_use},
    {.name = "whoami",
     .args = "",
     .help = "who you are, where, and what you may do",
     .examples = "weir whoami",
     .groups = {flags_show},
     .run = cmd_auth_whoami},
    {.name = "audit list",
     .args = "[flags]",
     .help = "what administrators did and what was refused to them, newest first",
     .more = "SEQ is the number of the last fact before the answer: `weir events --after` shows "
             "what an act\nchanged. HASH binds a line to the line before (`weir audit verify`).",
     .examples = "weir audit list\nweir audit list --filter 'actor=user:ann method!=POST'\n"
                 "weir audit list --filter 'status>=400' --json=lines",
     .groups = {flags_list},
     .run = cmd_audit_list},
    {.name = "audit verify",
     .args = "",
     .help = "check on the server's machine that the record of acts is whole",
     .more = "Prints the last hash. Keep it elsewhere: with --last a later check finds also that "
             "lines were\ntaken away from the end, or that the whole record was made anew. Exits "
             "with 1 where\nsomething is wrong, and names the line.",
     .examples = "weir audit verify --dir /var/lib/weir",
     .groups = {flags_dir, flags_last, flags_json},
     .run = cmd_audit_verify},
    {.name = "token list",
     .args = "[flags]",
     .help = "list tokens",
     .examples = "weir token list",
     .groups = {flags_list},
     .run = cmd_auth_token_list},
    {.name = "token create",
     .args = "[flags]",
     .help = "make a token and print its secret; the secret is shown only once",
     .examples = "weir token create --name dashboard --scope read --expires 90d\n"
                 "weir token create --scope join --pool gpu --reusable 20 --expires 1d",
     .groups = {flags_token, flags_dry_run, flags_json},
     .run = cmd_auth_token_create},
    {.name = "token delete",
     .args = "TOKEN…",
     .help = "make tokens invalid",
     .examples = "weir token delete 5a6b055e9c896b3d",
     .groups = {flags_dry_run, flags_yes, flags_json},
     .args_min = 1,
     .args_max = ARGS_ANY,
     .complete = COMPLETE_TOKENS,
     .run = cmd_auth_token_delete},
    {.name = "state export",
     .args = "[flags]",
     .help = "write the whole state as JSON",
     .examples = "weir state export -o state.json\nweir state export --at 1h -o then.json",
     .groups = {flags_output, flags_at},
     .run = cmd_data_state_export},
    {.name = "support",
     .args = "[flags]",
     .help = "write a file for the people who help you, without secrets",
     .more = "A tar archive with versions, what `weir doctor` finds, the status, pools, nodes, "
             "accounts,\n"
             "quotas, metrics and the reasons of tasks, the names and sizes of files in the data "
             "directory\n"
             "and the ends of its logs. Tokens, commands, environments, names and output of tasks "
             "are left\n"
             "out. It is written without a server too.",
     .examples = "weir support\nweir support -o ticket-4711.tar --dir /var/lib/weir",
     .groups = {flags_support},
     .run = cmd_support},
    {.name = "db backup",
     .args = "TO",
     .help = "copy a data directory, also while it is in use",
     .examples = "weir db backup --dir /var/lib/weir /backup/weir-monday",
     .groups = {flags_dir, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_DIRS,
     .run = cmd_data_db_backup},
    {.name = "db restore",
     .args = "FROM",
     .help = "put a backup into an empty data directory",
     .more = "FROM may be a damaged data directory: then the state goes to the newest point that "
             "can be\n"
             "proven by checksums, and damaged rows are left out and counted. FROM stays as it is.",
     .examples = "weir db restore --dir /var/lib/weir /backup/weir-monday\n"
                 "weir db restore --dir /var/lib/weir-new /var/lib/weir",
     .groups = {flags_dir, flags_json},
     .args_min = 1,
     .args_max = 1,
     .complete = COMPLETE_DIRS,
     .run = cmd_data_db_restore},
    {.name = "db adopt",
     .args = "",
     .help = "go on with what is left of a data directory whose parts do not belong together",
     .more =
         "Where the database is missing, the state goes on from the newest snapshot: what "
         "happened\n"
         "after it, ended tasks, tokens and the index of the output are lost. log/ is kept beside\n"
         "as log.left-N/. Else the other parts are taken as parts of the database.",
     .examples = "weir db adopt --dir /var/lib/weir",
     .groups = {flags_dir, flags_yes, flags_json},
     .run = cmd_data_db_adopt},
    {.name = "db check",
     .args = "",
     .help = "check a data directory for damage",
     .more = "Reads everything and compares every checksum; a server may be running. Each finding "
             "names\n"
             "the file and the fact, task or place. Exits with 1 where something was found.",
     .examples = "weir db check --dir /var/lib/weir",
     .groups = {flags_dir, flags_json},
     .run = cmd_data_db_check},
    {.name = "server",
     .args = "--config FILE | --dir D",
     .help = "run a server without a node",
     .examples = "weir server --config /etc/weir/server.yaml",
     .groups = {flags_server},
     .role = true},
    {.name = "agent",
     .args = "--server URL --join-token-file FILE",
     .help = "run a node: join a server and run its tasks",
     .examples =
         "weir agent --server http://127.0.0.1:8080 --pool gpu --join-token-file join.token",
     .groups = {flags_agent},
     .role = true},
    {.name = "sim",
     .args = "SCENARIO | --trace FILE --nodes NxG",
     .help = "try a cluster and a workload in virtual time",
     .more = "Runs the scheduler of the server, unchanged, on nodes and tasks that are only "
             "described in\n"
             "a scenario file, a trace, or both. The same seed gives the same output.",
     .examples = "weir sim two-teams.yaml --report two-teams.html\n"
                 "weir sim cluster.yaml --trace jobs.csv --format philly\n"
                 "weir sim small.yaml --events --why",
     .groups = {flags_sim, flags_sim_inputs},
     .role = true,
     .complete = COMPLETE_FILES},
    {.name = "sim compare",
     .args = "A B…",
     .help = "compare the same workload under other rules or on other nodes",
     .more = "Differences are taken seed by seed. --state or --trace is combined with each of the "
             "files.",
     .examples = "weir sim compare today.yaml more-nodes.yaml --seeds 42-51 --report page.html\n"
                 "weir sim compare as-it-is.yaml more-nodes.yaml --state state.json",
     .groups = {flags_sim_compare, flags_sim_inputs},
     .role = true,
     .complete = COMPLETE_FILES},
    {.name = "sim openb",
     .args = "--nodes FILE --tasks FILE",
     .help = "measure placement: the experiment of the openb trace",
     .more = "Tasks arrive one by one and never leave; a task that fits nowhere is dropped. The "
             "slots that\n"
             "stay unallocated show how much the placement breaks free capacity into pieces.",
     .examples = "weir sim openb --nodes nodes.csv --tasks tasks.csv --seeds 42-51",
     .groups = {flags_sim_openb},
     .role = true},
    {.name = "help",
     .args = "[COMMAND | TOPIC]",
     .help = "help on a command or a topic",
     .examples = "weir help run\nweir help exit-codes\nweir help --man task list",
     .groups = {flags_help},
     .args_max = 2,
     .complete = COMPLETE_TOPICS,
     .run = cmd_help},
    {.name = "version",
     .args = "",
     .help = "print the version of this program",
     .examples = "weir version",
     .groups = {flags_json},
     .run = cmd_version},
    {0},
};
