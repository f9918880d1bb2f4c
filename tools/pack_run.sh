#!/usr/bin/env bash
# Pack a run folder so that it resumes on another machine: tools/pack_run.sh runs/gnugo measurements/gnugo.tar.xz
# Left out are reports, which every run writes anew, and the place where the folder lay. `tar xf FILE -C runs` unpacks it.
set -euo pipefail
run=$(readlink -f "$1") file=$(readlink -m "$2") copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$run" "$copy/"
cd "$copy"
find . \( -name report.html -o -name .lock \) -delete
above=$(dirname "$(dirname "$run")")
{ grep -rlF "$above/" . || true; } | xargs -r sed -i "s#$above/#/#g"
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - "$(basename "$run")" | xz -9 >"$file"
