# Jupyter as a task of Weir. It ends its kernels and itself when nothing has happened for the idle time. SPDX-License-Identifier: Apache-2.0
[ -d .venv/bin ] && PATH=$PWD/.venv/bin:$PATH
[ -w "$HOME" ] || export HOME="$WEIR_JOB_DIR"
if command -v jupyter-lab >/dev/null; then page=lab
elif command -v jupyter-notebook >/dev/null; then page=notebook
else echo 'weir: there is no Jupyter in the environment of this task: pip install jupyterlab, or --env PATH=… of an environment that has it' >&2; exit 127; fi
exec jupyter-$page --no-browser --ip=127.0.0.1 --port=$WEIR_PORT --ServerApp.port_retries=0 --ServerApp.base_url=/proxy/$WEIR_TASK_ID/ \
  --ServerApp.allow_remote_access=True --ServerApp.open_browser=False --ServerApp.shutdown_no_activity_timeout=$WEIR_IDLE_S \
  --MappingKernelManager.cull_idle_timeout=$WEIR_IDLE_S --MappingKernelManager.cull_interval=$((WEIR_IDLE_S < 120 ? WEIR_IDLE_S / 2 + 1 : 60))
