#!/usr/bin/env bash
# A Slurm of one node below one empty directory, on the loopback and on free ports, so that
# several can stand side by side. Needs root and Debian's slurm-wlm and munge; no systemd, and
# nothing outside of the directory is written.
#
#   tests/slurm/up.sh DIR && export SLURM_CONF=DIR/slurm.conf
#   tests/slurm/down.sh DIR
set -euo pipefail
dir=$(cd "$1" && pwd)
max_array_size=${MAX_ARRAY_SIZE:-1001}
node=$(hostname -s)

for program in munged slurmctld slurmd sbatch; do
  command -v "$program" >/dev/null || { echo "$program is not installed (Debian: slurm-wlm, munge)" >&2; exit 1; }
done
[ "$(id -u)" = 0 ] || { echo "slurmd must be started by root" >&2; exit 1; }

mkdir -p "$dir"/{munge,state,spool,log,run}
chmod 700 "$dir/munge"
(umask 077 && head -c 1024 /dev/urandom >"$dir/munge/key")
munged --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" \
  --pid-file="$dir/run/munged.pid" --log-file="$dir/log/munged.log" --seed-file="$dir/munge/seed"

# Two free ports below those that the system gives to connections.
ports() {
  python3 - <<'PYTHON'
import random, socket
free = []
while len(free) < 2:
    port = random.randrange(20000, 32000)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            continue
    free.append(port)
print(*free)
PYTHON
}

# cred_expire is also the least time before a requeued job may start again: two minutes unless
# it is said. Without cgroups, --mem is bookkeeping only.
configure() {
  cat >"$dir/slurm.conf" <<CONF
ClusterName=skyfall
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$1
SlurmdPort=$2
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
ReturnToService=2
JobRequeue=1
KillWait=2
SlurmdTimeout=30
MinJobAge=3600
MaxArraySize=$max_array_size
NodeName=$node NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:2
CONF
}
export SLURM_CONF="$dir/slurm.conf"
# Where somebody else took a port meanwhile, others are tried.
for _ in 1 2 3 4 5; do
  read -r controller worker < <(ports)
  configure "$controller" "$worker"
  : >"$dir/log/slurmctld.log"
  slurmctld -f "$SLURM_CONF"
  slurmd -f "$SLURM_CONF" || { kill "$(cat "$dir/run/slurmctld.pid")" && sleep 1 && continue; }
  for _ in $(seq 1 600); do
    grep -q fatal "$dir/log/slurmctld.log" && break
    timeout 2 sinfo -h -o %T 2>/dev/null | grep -qxE 'idle|mixed|allocated' && exit 0
    sleep 0.1
  done
  kill "$(cat "$dir/run/slurmd.pid")" || true
  sleep 1
done
echo "the node does not come up:" >&2
tail -n 5 "$dir/log/slurmctld.log" "$dir/log/slurmd.log" >&2
exit 1
