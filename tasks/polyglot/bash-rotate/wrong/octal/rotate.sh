#!/bin/bash
# Keeps the newest backups of a folder: rotate.sh [-n] KEEP DIR
export LC_ALL=C

usage() {
    echo 'usage: rotate.sh [-n] KEEP DIR' >&2
    exit 2
}

dry=
if [[ ${1-} == -n || ${1-} == --dry-run ]]; then
    dry=1
    shift
fi
[[ $# -eq 2 && $1 =~ ^[0-9]+$ ]] || usage
keep=$1
dir=$2
if [[ ! -d $dir ]]; then
    printf 'rotate.sh: %s: not a folder\n' "$dir" >&2
    exit 1
fi
[[ $dir == /* ]] || dir=./$dir

shopt -s nullglob
found=()
for path in "$dir"/backup-[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]*.tar; do
    [[ -f $path && ! -L $path ]] && found+=("$path")
done
if [[ ${#keep} -gt 9 ]]; then
    exit 0
fi
last=$((${#found[@]} - keep))
for ((at = 0; at < last; at++)); do
    name=${found[at]##*/}
    shown=${name//[[:cntrl:]]/?}
    if [[ $dry ]]; then
        printf 'would delete %s\n' "$shown"
    else
        rm -f -- "${found[at]}" && printf 'deleted %s\n' "$shown"
    fi
done
