# Shared functions of the guest tests. A test is a function `test_NAME() {` of a file in `cases`. It fails if one of its
# commands fails, and its output is then shown.

set -eu
cd /tmp

cleanups=
# later COMMAND: runs COMMAND when the test ends, in reverse order.
later() {
    cleanups="$*
$cleanups"
}

finish() {
    code=$?
    trap - EXIT
    set +e
    eval "$cleanups" >/tmp/cleanup.log 2>&1
    exit $code
}
trap finish EXIT

# Otherwise the shell would run the applet of busybox.
losetup() {
    /bin/losetup "$@"
}

fail() {
    echo "failed: $*"
    exit 1
}

# disk NAME MIB [ATTRIBUTE=VALUE]...: creates /dev/NAME, in memory and filled with zeros.
disk() {
    local name=$1 mib=$2 at=/sys/kernel/config/nullb/$1 attribute
    shift 2
    mkdir "$at"
    later "echo 0 > $at/power; rmdir $at"
    echo "$mib" > "$at/size"
    echo 1 > "$at/memory_backed"
    for attribute; do
        echo "${attribute#*=}" > "$at/${attribute%%=*}"
    done
    echo 1 > "$at/power"
    wait_for "test -b /dev/$name"
}

# ext4 DEVICE: creates a filesystem without later background writes.
ext4() {
    mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$1"
}

# mounted DEVICE NAME: mounts at /mnt/NAME, creates a file and freezes the filesystem, so that only other programs
# change the device. `unmount` undoes it.
mounted() {
    mkdir -p "/mnt/$2"
    mount -t ext4 -o noatime "$1" "/mnt/$2"
    later "unmount $2"
    head -c 300000 /dev/urandom > "/mnt/$2/data"
    sync
    fsfreeze --freeze "/mnt/$2"
}

unmount() {
    fsfreeze --unfreeze "/mnt/$1"
    umount "/mnt/$1"
}

# loop_over FILE [OPTION]...: attaches a loop device and sets `loop` to its path.
loop_over() {
    local file=$1
    shift
    loop=$(losetup --find --show "$@" "$file")
    later "losetup --detach $loop"
}

# wait_for COMMAND: waits until COMMAND succeeds, for two minutes, because the processor is emulated.
wait_for() {
    local tries=1200
    until eval "$1" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "waited for: $1"
        sleep 0.1
    done
}

# hold DEVICE: starts a process that opens it with O_EXCL, and sets `holder` to its id.
hold() {
    rm -f /tmp/holding
    xtask hold "$1" > /tmp/holding &
    holder=$!
    later "kill $holder"
    wait_for "grep -q held /tmp/holding"
}

# digest PATH...: prints digests of the content on the device, without the page cache.
digest() {
    sync
    xtask digest "$@"
}

# kib PATH: prints the size in KiB.
kib() {
    if [ -b "$1" ]; then
        echo $(($(blockdev --getsize64 "$1") / 1024))
    else
        echo $(($(stat -c %s "$1") / 1024))
    fi
}

# expect CODES PATTERN COMMAND...: checks the exit code, and that a line of the output matches a pattern (grep -Ei): an
# option, a path or a value, because sentences change.
expect() {
    local codes=$1 pattern=$2 code=0
    shift 2
    timeout -s KILL 300 "$@" > /tmp/out 2>&1 || code=$?
    if ! echo " $codes " | grep -q " $code "; then
        cat /tmp/out
        fail "exit code $code, not $codes: $*"
    fi
    if grep -q panicked /tmp/out; then
        cat /tmp/out
        fail "it panicked: $*"
    fi
    if ! grep -Eiq "$pattern" /tmp/out; then
        cat /tmp/out
        fail "nothing like '$pattern' in the output of: $*"
    fi
}

# The start of a command that writes half a megabyte.
writes="fathom run --progress off --name=t --rw=write --bs=4k --size=512k --ioengine=psync"

# refused PATTERN PATH [GUARDED]...: checks that generator and disk server refuse to write PATH for a matching reason,
# and that neither PATH nor the other paths change.
refused() {
    local pattern=$1 path=$2 before
    shift 2
    before=$(digest "$path" "$@")
    expect 2 "$pattern" $writes --filename="$path"
    grep -q "nothing was touched" /tmp/out || fail "it does not say that nothing was touched: $(cat /tmp/out)"
    expect "2 3" "$pattern" fathom serve "custom,size=$(kib "$path")KiB,iops=5000,latency=1ms" --backing "file:$path" --run true
    [ "$before" = "$(digest "$path" "$@")" ] || fail "$path was refused, but data have changed"
}

# permitted PATH [OPTION]...: checks that writing PATH succeeds and changes it.
permitted() {
    local path=$1 before
    shift
    before=$(digest "$path")
    # Half a megabyte is too little for a trustworthy measurement, which is exit code 4.
    expect "0 4" write $writes --filename="$path" "$@"
    [ "$before" != "$(digest "$path")" ] || fail "$path was not written"
}

# namespaces_of SERIAL: prints the paths of the NVMe namespaces with a serial number, such as /dev/nvme0n1.
namespaces_of() {
    local at name
    for at in /sys/block/nvme*; do
        name=${at##*/}
        # Paths of a multipath namespace have no node: nvme0c1n1.
        if [ "$(tr -d ' ' < "$at/device/serial")" = "$1" ] && [ -b "/dev/$name" ]; then
            echo "/dev/$name"
        fi
    done
}

# scsi_disk [PARAMETER=VALUE]...: creates one or more SCSI disks and sets `scsi` to their paths.
scsi_disk() {
    modprobe scsi_debug delay=0 "$@"
    later "modprobe -r scsi_debug"
    wait_for 'ls /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*:*/block/sd*'
    scsi=
    local at
    for at in /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*:*/block/sd*; do
        scsi="$scsi /dev/$(basename "$at")"
    done
    scsi=${scsi# }
}
