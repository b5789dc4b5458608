#!/usr/bin/env bash
# Ends what up.sh started below a directory: its jobs, and the processes that it noted there.
dir=$1
[ -d "$dir/run" ] || exit 0
export SLURM_CONF="$dir/slurm.conf"
alive() { case "$(ps -o stat= -p "$1" 2>/dev/null)" in '' | Z*) return 1 ;; esac; }
controller=$(cat "$dir/run/slurmctld.pid" 2>/dev/null)
if [ -n "$controller" ] && alive "$controller" && [ -n "$(squeue -h)" ]; then
  scancel --me
  for _ in $(seq 1 100); do [ -z "$(squeue -h)" ] && break; sleep 0.1; done
fi
for daemon in slurmd slurmctld munged; do
  pid=$(cat "$dir/run/$daemon.pid" 2>/dev/null) || continue
  kill "$pid" 2>/dev/null
  for _ in $(seq 1 30); do alive "$pid" || break; sleep 0.1; done
  kill -9 "$pid" 2>/dev/null
done
# Tasks that the controller lost: they bear this Slurm's name.
for process in /proc/[0-9]*; do
  named=$(tr '\0' '\n' 2>/dev/null <"$process/environ" | grep -cxE "SLURM_CONF=$dir/slurm.conf|SLURM_JOB_ID=.*")
  [ "$named" = 2 ] && kill -9 "${process#/proc/}" 2>/dev/null
done
exit 0
