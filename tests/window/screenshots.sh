#!/usr/bin/env bash
# Drives the real program under a virtual screen and takes a picture of every view, in light and dark and in two sizes.
#
#   tests/window/screenshots.sh PROGRAM FOLDER
#
# Needs Xvfb, xdotool and ImageMagick (Debian: apt-get install xvfb xdotool imagemagick). PROGRAM is best a release build;
# FOLDER gets the pictures. Nothing of the user's own is touched: data and settings lie in a temporary folder.
set -euo pipefail
program=$(realpath "$1")
folder=$2
mkdir -p "$folder"
folder=$(realpath "$folder")
scratch=$(mktemp -d)
server=
window=
trap 'kill $window $server 2>/dev/null || true; rm -rf "$scratch"' EXIT
export XDG_DATA_HOME=$scratch/data XDG_CONFIG_HOME=$scratch/config XDG_RUNTIME_DIR=$scratch/run
unset WAYLAND_DISPLAY
mkdir -p "$XDG_CONFIG_HOME/tessera" && mkdir -m 700 "$XDG_RUNTIME_DIR"

# Asks the palette for a command by its words.
ask() {
    xdotool key ctrl+k
    sleep 0.6
    xdotool type --delay 25 "$1"
    sleep 0.4
    xdotool key Return
    sleep "${2:-0.8}"
}

shoot() {
    xdotool mousemove "$((width - 4))" "$((height - 3))"
    sleep 0.4
    import -window root "$folder/$theme-${width}x$height-$1.png"
}

for size in 1280x800 1920x1080; do
    width=${size%x*} height=${size#*x}
    for theme in light dark; do
        rm -rf "$XDG_DATA_HOME"
        printf '{"theme": "%s"}\n' "${theme^}" > "$XDG_CONFIG_HOME/tessera/settings.ron"
        Xvfb -displayfd 3 -screen 0 "${size}x24" -nolisten tcp 3>"$scratch/display" 2>/dev/null &
        server=$!
        until [ -s "$scratch/display" ]; do sleep 0.1; done
        DISPLAY=:$(cat "$scratch/display")
        export DISPLAY
        "$program" 2>"$scratch/log" &
        window=$!
        id=$(timeout 60 xdotool search --sync --onlyvisible --pid $window | tail -1)
        xdotool windowmove "$id" 0 0 windowsize "$id" "$width" "$height" windowfocus "$id"
        sleep 2
        shoot start
        ask "open the sample" 20
        shoot browse
        xdotool mousemove $((width / 3)) 340 click 1
        sleep 0.6
        shoot select
        xdotool key Return
        sleep 1.5
        shoot viewer
        xdotool key Escape
        sleep 0.3
        xdotool key ctrl+3
        sleep 1
        xdotool mousemove 105 110 click 1
        sleep 3
        xdotool mousemove $((width * 45 / 100)) $((height / 2))
        sleep 0.3
        shoot recognise
        xdotool key ctrl+f
        sleep 0.3
        xdotool type --delay 50 "checked blue bo"
        sleep 1.5
        shoot search
        # The first closes the completions, the second ends the search.
        xdotool key Escape
        sleep 0.3
        xdotool key Escape
        sleep 0.3
        for keys in ctrl+1 ctrl+a ctrl+shift+l; do
            xdotool key "$keys"
            sleep 0.4
        done
        sleep "${THINKING:-20}"
        shoot label
        xdotool key ctrl+t
        # Judging takes a while on a slow machine.
        xdotool key ctrl+4
        sleep "${JUDGING:-30}"
        shoot train
        xdotool key ctrl+5
        sleep 0.6
        shoot models
        xdotool key ctrl+6
        sleep 1
        shoot library
        xdotool key ctrl+1
        sleep 0.6
        xdotool mousemove $((width / 3)) 340 click 1
        sleep 0.6
        xdotool key shift+l
        sleep 3
        shoot similar
        xdotool key ctrl+9
        sleep 15
        shoot map
        xdotool key ctrl+0
        sleep 0.6
        shoot clusters
        ask "review labels" "${JUDGING:-30}"
        shoot review
        for pair in settings:ctrl+comma history:ctrl+h open:ctrl+o keys:F1 palette:ctrl+k; do
            xdotool key "${pair#*:}"
            sleep 0.8
            shoot "${pair%:*}"
            xdotool key Escape
            sleep 0.4
        done
        ask about
        shoot about
        kill $window
        wait $window 2>/dev/null || true
        kill $server
        wait $server 2>/dev/null || true
        rm "$scratch/display"
    done
done
cat "$scratch/log" >&2
