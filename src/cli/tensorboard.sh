# TensorBoard as a task of Weir. SPDX-License-Identifier: Apache-2.0
[ -d .venv/bin ] && PATH=$PWD/.venv/bin:$PATH
[ -w "$HOME" ] || export HOME="$WEIR_JOB_DIR"
command -v tensorboard >/dev/null || { echo 'weir: there is no TensorBoard in the environment of this task: pip install tensorboard, or --env PATH=… of an environment that has it' >&2; exit 127; }
exec tensorboard --host 127.0.0.1 --port $WEIR_PORT --path_prefix /proxy/$WEIR_TASK_ID --logdir "$WEIR_LOGDIR"
