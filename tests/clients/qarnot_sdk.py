"""Programs that use Qarnot's own Python SDK, unmodified, against a Weir. SPDX-License-Identifier: Apache-2.0"""

import json
import os
import shutil
import subprocess
import textwrap

from conftest import environment

NEWEST = "newest"
# 2.5.0 was taken off the index; 2.5.2 is the oldest 2.5 there is.
VERSIONS = ["2.5.2", "2.12.0", "2.17.0", NEWEST]
PROGRAM_S = 120

# The two programs of Qarnot's documentation, word for word. TOKEN is what a user puts in its place.
TOKEN = "<<<MY_SECRET_TOKEN>>>"
HELLO = """
import qarnot
# Connect to Qarnot
conn = qarnot.connection.Connection(client_token="<<<MY_SECRET_TOKEN>>>")
# Create a pool with 4 instances
pool = conn.create_pool("Hello world - pool", "docker-batch", 4)
# Submit the pool and wait 3 minutes for the nodes to start
pool.submit()
# Create a Hello World task of instances associated
# with the previously submitted pool
task = conn.create_task('helloworld', pool, 4)
# Print Hello World from each instance
task.constants['DOCKER_CMD'] = 'echo Hello World from node ${INSTANCE_ID}!'
# Run the task
task.run()
# Close the pool
pool.close()
"""

ELASTIC = '''
import qarnot
# Connect to Qarnot
conn = qarnot.connection.Connection(client_token="<<<MY_SECRET_TOKEN>>>")
# Create a pool with 1 instance
elastic_pool = conn.create_pool("Hello world - elastic pool", "docker-batch", 1)
"""
Setup the elasticity of the pool
Ranging from 0 to 5 instances
Updated every 90 seconds
"""
elastic_pool.setup_elastic(
minimum_total_slots=0,
maximum_total_slots=5,
resize_period=90
)
# Submit the pool
elastic_pool.submit()
"""
Create a Hello World task associated
with the previously submitted pool
This task will be running only on 1 instance
"""
task_1 = conn.create_task('helloworld - 1', elastic_pool, 1)
# Print Hello World
task_1.constants['DOCKER_CMD'] = 'echo Hello World from node ${INSTANCE_ID}!'
# Run the task
task_1.run()
"""
Create a second Hello World task
with 5 instances this time
"""
task_2 = conn.create_task('helloworld - 5', elastic_pool, 5)
# Print Hello World from each instance
task_2.constants['DOCKER_CMD'] = 'echo Hello World from node ${INSTANCE_ID}!'
# Run the task
task_2.run()
'''
ELASTIC_CLOSE = "# Close the pool\nelastic_pool.close()\n"

# What the checks share: short waits, because the SDK's own wait looks every ten seconds.
PRELUDE = """
import json, sys, time
import qarnot
from qarnot.exceptions import *

def ended(task, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        task.update(True)
        if task.state in ('Success', 'Failure', 'Cancelled'):
            return task
        time.sleep(0.05)
    raise AssertionError(f'{task.uuid} is {task.state}')

def reaches(thing, *states, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        thing.update(True)
        if thing.state in states:
            return thing
        time.sleep(0.05)
    raise AssertionError(f'{thing.uuid} is {thing.state}, not {states}')

def task_of(conn, where, count, command, name='t'):
    task = conn.create_task(name, where, count)
    task.constants['DOCKER_CMD'] = command
    return task

def raises(kind, call):
    try:
        call()
    except kind as e:
        return str(e)
    raise AssertionError(f'no {kind.__name__}')
"""


def environment_of(weir, token=None):
    """The environment of a program that talks to this Weir."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("QARNOT_") and not k.lower().endswith("_proxy")}
    token = weir.token if token is None else token
    return dict(kept, QARNOT_CLUSTER_URL=f"{weir.url}/qarnot", QARNOT_CLIENT_TOKEN=token, NO_PROXY="*", PYTHONWARNINGS="ignore")


def start(weir, program, version=NEWEST, token=None, env=None):
    """Starts a program in the environment of one version of the SDK."""
    package = "qarnot" if version == NEWEST else f"qarnot=={version}"
    python = environment(f"qarnot-{version}", package, "setuptools")
    program = program.replace(TOKEN, weir.token if token is None else token)
    return subprocess.Popen([python, "-c", program], env={**environment_of(weir, token), **(env or {})}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process, seconds=PROGRAM_S):
    """The output of a program that must end well."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == 0, err[-4000:]
    return out


def run(weir, program, version=NEWEST, **options):
    return finish(start(weir, program, version, **options))


def check(weir, body, version=NEWEST, **options):
    """Runs `body` after the prelude, with a connection `conn`; the last line that it prints is JSON."""
    program = PRELUDE + "conn = qarnot.connection.Connection()\n" + textwrap.dedent(body)
    out = run(weir, program, version, **options)
    return json.loads(out.splitlines()[-1]) if out.strip() else None


def busybox_image(directory):
    """The root of an image with a shell, below a directory that agents may read."""
    directory.chmod(0o755)
    root = directory / "rootfs"
    for name in ["bin", "etc", "proc", "dev", "sys", "tmp"]:
        (root / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), root / "bin/busybox")
    for name in ["sh", "cat", "echo", "tr"]:
        (root / "bin" / name).symlink_to("busybox")
    (root / "etc/image").write_text("the image\n")
    return root
