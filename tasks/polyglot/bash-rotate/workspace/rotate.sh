#!/bin/bash
# Keeps the newest backups of a folder: rotate.sh KEEP DIR
keep=$1
dir=$2
cd $dir
for name in $(ls | grep '^backup-[0-9]\{8\}.*\.tar$' | sort | head -n -$keep); do
    rm $name
    echo "deleted $name"
done
