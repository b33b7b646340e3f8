"""A private Slurm (Debian's slurm-wlm) on loopback: several slurmd on one host, its own munged, nothing system-wide touched.

Settings follow Slurm's high-throughput guide. Used as the peer of `make bench`, and by the tests of the provider slurm, where Slurm and munge are installed.
"""
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

NODES, CPUS = 8, 32

CONF = """ClusterName=bench
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/munge.sock
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool/%n
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.%n.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.%n.log
SlurmctldDebug=error
SlurmdDebug=error
SlurmdParameters=config_overrides
ReturnToService=2
MaxJobCount=50000
MaxArraySize=20001
MinJobAge=10
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SchedulerParameters=defer,batch_sched_delay=0,sched_min_interval=20000,sched_interval=2,default_queue_depth=1000,partition_job_depth=0,sched_max_job_start=0,max_rpc_cnt=150,bf_interval=2,bf_max_job_test=1000,bf_continue
NodeName=n[1-{nodes}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs={cpus} RealMemory=4000 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def installed():
    return all(shutil.which(p) for p in ("slurmctld", "slurmd", "sbatch", "sinfo", "munged"))


def free_ports(count):
    """The first of `count` neighbouring free ports, below the range that the system hands out by itself."""
    for _ in range(100):
        first = random.randrange(10000, 30000)
        try:
            for port in range(first, first + count):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise RuntimeError("no free ports for slurm")


class Slurm:
    def __init__(self, nodes=NODES, cpus=CPUS):
        self.dir = tempfile.mkdtemp(prefix="weir-slurm-")
        self.nodes = nodes
        port = free_ports(nodes + 1)
        for name in ("state", "spool"):
            os.mkdir(os.path.join(self.dir, name))
        with open(self.path("slurm.conf"), "w", encoding="ascii") as conf:
            conf.write(CONF.format(dir=self.dir, port=port, nodes=nodes, cpus=cpus, first=port + 1, last=port + nodes))
        with open(self.path("munge.key"), "wb") as key:
            key.write(os.urandom(128))
        os.chmod(self.path("munge.key"), 0o600)
        self.env = {**os.environ, "SLURM_CONF": self.path("slurm.conf")}
        self.run("munged", "--force", "--key-file", self.path("munge.key"), "--socket", self.path("munge.sock"), "--pid-file",
                 self.path("munged.pid"), "--log-file", self.path("munged.log"), "--seed-file", self.path("munge.seed"))
        self.run("slurmctld", "-c", "-f", self.path("slurm.conf"))
        for number in range(1, nodes + 1):
            os.mkdir(self.path("spool", f"n{number}"))
            self.run("slurmd", "-f", self.path("slurm.conf"), "-N", f"n{number}")
        deadline = time.monotonic() + 30
        while self.idle_nodes() < nodes:
            if time.monotonic() > deadline:
                self.stop()
                raise RuntimeError("slurm did not come up")
            time.sleep(0.2)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def run(self, *command):
        return subprocess.run(command, env=self.env, check=True, capture_output=True, text=True, cwd=self.dir).stdout

    def idle_nodes(self):
        try:
            rows = self.run("sinfo", "-h", "-o", "%D %t").split("\n")
        except subprocess.CalledProcessError:
            return 0
        return sum(int(r.split()[0]) for r in rows if r.endswith(" idle"))

    def array_rate(self, count):
        """Jobs per second, end to end, for one array of no-op jobs."""
        script = self.path("noop")
        with open(script, "w", encoding="ascii") as file:
            file.write("#!/bin/true\n")
        begun = time.monotonic()
        self.run("sbatch", "--parsable", f"--array=1-{count}", "-o", os.devnull, "-e", os.devnull, script)
        while self.run("squeue", "-h", "-o", "%i").strip():
            time.sleep(0.1)
        return count / (time.monotonic() - begun)

    def stop(self):
        for name in sorted(os.listdir(self.dir)):
            if name.endswith(".pid"):
                with open(self.path(name), encoding="ascii") as file:
                    try:
                        os.kill(int(file.read()), signal.SIGTERM)
                    except (OSError, ValueError):
                        pass
        deadline = time.monotonic() + 10
        while any(n.endswith(".pid") for n in os.listdir(self.dir)) and time.monotonic() < deadline:
            time.sleep(0.1)
        shutil.rmtree(self.dir, ignore_errors=True)
