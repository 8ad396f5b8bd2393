# The visible acceptance test. Run it with: bash acceptance/acceptance.sh
script=$PWD/rotate.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0

check() { # what, want, got
    if [[ $2 == "$3" ]]; then
        echo "ok - $1"
    else
        printf 'not ok - %s\n  want: %s\n  got:  %s\n' "$1" "$2" "$3"
        status=1
    fi
}

cd "$folder" || exit 1
mkdir 'my backups'
touch 'my backups/'{'backup-20240101 a.tar',backup-20240102.tar,backup-20240103.tar,notes.txt}

check 'dry run' 'would delete backup-20240101 a.tar' "$(bash "$script" -n 2 'my backups')"
check 'nothing was deleted' 4 "$(ls 'my backups' | wc -l | tr -d ' ')"
check 'deleted' 'deleted backup-20240101 a.tar' "$(bash "$script" 2 'my backups')"
check 'what is left' 'backup-20240102.tar backup-20240103.tar notes.txt' "$(cd 'my backups' && echo *)"
bash "$script" two 'my backups' 2>/dev/null
check 'status for a KEEP that is no number' 2 $?
bash "$script" 2 elsewhere 2>/dev/null
check 'status for a folder that is not there' 1 $?
exit $status
