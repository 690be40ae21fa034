#!/usr/bin/env bash
# How soon the window is there, what it costs to leave it alone, and how much memory it takes, under a virtual screen.
#
#   benches/window.sh PROGRAM [LIBRARY|FOLDER]
#
# Needs Xvfb and xdotool (Debian: apt-get install xvfb xdotool). The first frame is timed from the start of the program until
# xdotool sees its window; this reads up to a tenth of a second too high.
set -euo pipefail
program=$1
shift
scratch=$(mktemp -d)
server= window=
trap 'kill $window $server 2>/dev/null || true; rm -rf "$scratch"' EXIT
export XDG_CONFIG_HOME=$scratch/config XDG_DATA_HOME=$scratch/data XDG_RUNTIME_DIR=$scratch
unset WAYLAND_DISPLAY
Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp 3>"$scratch/display" 2>/dev/null &
server=$!
until [ -s "$scratch/display" ]; do sleep 0.1; done
DISPLAY=:$(cat "$scratch/display")
export DISPLAY
for _ in 1 2 3; do
    start=$(date +%s%N)
    "$program" "$@" 2>/dev/null &
    window=$!
    timeout 60 xdotool search --sync --onlyvisible --pid $window >/dev/null
    echo "first frame after $((($(date +%s%N) - start) / 1000000)) ms"
    sleep "${REST:-8}"
    ticks() { awk '{ print $14 + $15 }' "/proc/$window/stat"; }
    before=$(ticks)
    sleep 5
    echo "idle: $(($(ticks) - before)) of $((5 * $(getconf CLK_TCK))) ticks; $(awk '/VmRSS/ { print int($2 / 1024) }' "/proc/$window/status") MB resident"
    kill $window
    wait $window 2>/dev/null || true
done
