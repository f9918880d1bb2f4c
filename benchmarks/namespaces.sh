#!/usr/bin/env bash
# The steps of "Twenty machines" in docs/scale.md, as root on one machine of Linux: every machine of the cluster is a
# network namespace with an address, a home and a cache of its own.
#   benchmarks/namespaces.sh ray|dask [MACHINES]
set -euo pipefail
backend=${1:?ray or dask} machines=${2:-3}
place=$(mktemp -d)
katachi=$(command -v katachi)

clean() {
  for number in $(seq "$machines"); do
    ip netns pids "katachi-$number" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    ip netns delete "katachi-$number" 2>/dev/null || true
  done
  ip link delete katachi-bridge 2>/dev/null || true
  rm -rf "$place"
}
trap clean EXIT

on() {  # on NUMBER COMMAND...: run it on that machine
  local number=$1
  shift
  ip netns exec "katachi-$number" env HOME="$place/$number" NUMBA_CACHE_DIR="$place/$number/kernels" \
    RAY_TMPDIR="$place/$number" "$@"
}

ip link add katachi-bridge type bridge
ip link set katachi-bridge up
for number in $(seq "$machines"); do
  ip netns add "katachi-$number"
  ip link add "katachi-v$number" type veth peer name eth0 netns "katachi-$number"
  ip link set "katachi-v$number" master katachi-bridge up
  ip -n "katachi-$number" address add "10.77.0.$number/24" dev eth0
  ip -n "katachi-$number" link set eth0 up
  ip -n "katachi-$number" link set lo up
  mkdir "$place/$number"
  cp -r "${NUMBA_CACHE_DIR:-$HOME/.cache/katachi/kernels}" "$place/$number/kernels"  # what katachi warmup would compile
done

if [ "$backend" = ray ]; then
  address=10.77.0.1:6379
  on 1 ray start --head --port 6379 --node-ip-address 10.77.0.1 --num-cpus 1 --include-dashboard false >/dev/null
  for number in $(seq 2 "$machines"); do
    on "$number" ray start --address "$address" --node-ip-address "10.77.0.$number" --num-cpus 1 >/dev/null
  done
else
  address=tcp://10.77.0.1:8786
  on 1 dask scheduler --no-dashboard --no-show >/dev/null 2>&1 &
  for number in $(seq "$machines"); do
    on "$number" dask worker "$address" --nworkers 1 --nthreads 1 --no-dashboard >/dev/null 2>&1 &
  done
  sleep 10
fi

cd "$place/1"
printf 'size = 5\ngames = 40\n[players]\na = "alp"\nb = "influence"\nc = "random"\n' > players.toml
on 1 "$katachi" cluster doctor --backend "$backend" --cluster "$address"
on 1 "$katachi" tournament players.toml --run there --backend "$backend" --cluster "$address" --jobs 0 >/dev/null
"$katachi" tournament players.toml --run here >/dev/null
diff -r there/games here/games
echo "$(find there/games -name '*.sgf' | wc -l) games on $machines machines, the same bytes as on one"
for number in $(seq "$machines"); do
  echo "machine $number received $(ip -n "katachi-$number" -s -j link show eth0 | python3 -c \
    'import json, sys; print(json.load(sys.stdin)[0]["stats64"]["rx"]["bytes"])') bytes"
done
