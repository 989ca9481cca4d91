# What the guest's tests share. A test is a function `test_NAME() {` of a file in `cases`; it fails when a command in it
# does, and what it prints is then shown.

set -eu
cd /tmp

cleanups=
# later COMMAND: carried out when the test ends, the last first.
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

# The shell would take busybox's own.
losetup() {
    /bin/losetup "$@"
}

fail() {
    echo "failed: $*"
    exit 1
}

# disk NAME MIB [ATTRIBUTE=VALUE]...: makes /dev/NAME, in memory and full of zeros.
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

# ext4 DEVICE: makes a filesystem that writes nothing by itself later.
ext4() {
    mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$1"
}

# mounted DEVICE NAME: mounts at /mnt/NAME, puts a file there and freezes the filesystem, so that the device beneath changes
# only where a program writes to it. `unmount` undoes it.
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

# loop_over FILE [OPTION]...: attaches a loop device and puts its path into `loop`.
loop_over() {
    local file=$1
    shift
    loop=$(losetup --find --show "$@" "$file")
    later "losetup --detach $loop"
}

# wait_for COMMAND: until it succeeds, for two minutes: the processor is emulated.
wait_for() {
    local tries=1200
    until eval "$1" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "waited for: $1"
        sleep 0.1
    done
}

# digest PATH...: of the bytes as they are on the device, past the page cache.
digest() {
    sync
    xtask digest "$@"
}

# kib PATH: its size.
kib() {
    if [ -b "$1" ]; then
        echo $(($(blockdev --getsize64 "$1") / 1024))
    else
        echo $(($(stat -c %s "$1") / 1024))
    fi
}

# expect CODE PATTERN COMMAND...: the exit code, and a pattern (grep -Ei) that the output has to have.
expect() {
    local wanted=$1 pattern=$2 code=0
    shift 2
    timeout -s KILL 90 "$@" > /tmp/out 2>&1 || code=$?
    if ! echo " $wanted " | grep -q " $code "; then
        cat /tmp/out
        fail "exit code $code, not $wanted: $*"
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

# writes PATH [OPTION]...: the command that writes half a megabyte there.
writes="fathom run --progress off --name=t --rw=write --bs=4k --size=512k --ioengine=psync"

# refused PATTERN PATH [GUARDED]...: writing PATH is refused for a reason that matches, by the generator and by the disk
# server, and neither PATH nor what else is named has changed.
refused() {
    local pattern=$1 path=$2 before
    shift 2
    before=$(digest "$path" "$@")
    expect 2 "$pattern" $writes --filename="$path"
    grep -q "nothing was touched" /tmp/out || fail "it does not say that nothing was touched: $(cat /tmp/out)"
    expect "2 3" "$pattern" fathom serve "custom,size=$(kib "$path")KiB,iops=5000,latency=1ms" --backing "file:$path" --run true
    [ "$before" = "$(digest "$path" "$@")" ] || fail "$path was refused, but data have changed"
}

# permitted PATH [OPTION]...: writing PATH succeeds and changes it.
permitted() {
    local path=$1 before
    shift
    before=$(digest "$path")
    # Half a megabyte is too little to be trusted as a measurement, which is code 4.
    expect "0 4" write $writes --filename="$path" "$@"
    [ "$before" != "$(digest "$path")" ] || fail "$path was not written"
}

# namespaces_of SERIAL: the paths of the NVMe namespaces with this serial number, such as /dev/nvme0n1.
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

# scsi_disk [PARAMETER=VALUE]...: makes a SCSI disk, or several, and puts their paths into `scsi`.
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
