# The engine sg: SCSI commands on disks by scsi_debug and on their generic devices.

# sg_disk [PARAMETER=VALUE]...: creates a SCSI disk of 16 MiB and sets `scsi` and `generic` to its nodes.
sg_disk() {
    modprobe sg
    scsi_disk dev_size_mb=16 lbpu=1 lbpws=1 "$@"
    wait_for "ls /sys/block/${scsi#/dev/}/device/scsi_generic"
    generic=/dev/$(ls "/sys/block/${scsi#/dev/}/device/scsi_generic")
    wait_for "test -c $generic"
}

# by_sg PATH OPTION...: runs a job that may destroy the disk, and fails if the job does.
by_sg() {
    local path=$1
    shift
    timeout -s KILL 300 fathom fio --name=t --ioengine=sg --filename="$path" --bs=4k --size=2m --buffer_pattern=0xa5 "$@" \
        > /tmp/out 2>&1 || fail "$* on $path: $(cat /tmp/out)"
}

# zeroed: writes zeroes to the whole disk.
zeroed() {
    dd if=/dev/zero of="$scsi" bs=1M count=16 oflag=direct status=none
}

# as_fio PATH OPTION...: runs a job with fio and with Fathom on a disk of ones, and compares numbers of operations, error
# numbers, exit codes and the content of the disk.
as_fio() {
    local path=$1 program command code
    shift
    [ -e /tmp/ones ] || tr '\0' '\001' < /dev/zero | head -c 3145728 > /tmp/ones
    for program in fio fathom; do
        dd if=/tmp/ones of="$scsi" bs=64k count=48 oflag=direct status=none
        command=$program
        [ $program = fio ] || command="fathom fio"
        code=0
        timeout -s KILL 300 $command --name=t --ioengine=sg --filename="$path" --bs=4k --size=512k --buffer_pattern=0xa5 \
            --randrepeat=1 "$@" > /tmp/out.$program 2>&1 || code=$?
        echo "exit code $code" > /tmp/result.$program
        grep -oE "\): err= *[0-9]+" /tmp/out.$program >> /tmp/result.$program
        # With some paths, fio counts an operation that has failed.
        [ $code != 0 ] || grep -oE "issued rwts: total=[0-9,]*" /tmp/out.$program >> /tmp/result.$program
        digest "$scsi" >> /tmp/result.$program
    done
    cmp -s /tmp/result.fio /tmp/result.fathom ||
        fail "$path $*: $(cat /tmp/result.fio /tmp/out.fio) in fio, $(cat /tmp/result.fathom /tmp/out.fathom) in Fathom"
}

long_test_operations_are_those_of_fio() {
    sg_disk
    local path
    for path in "$scsi" "$generic"; do
        as_fio "$path" --rw=read
        as_fio "$path" --rw=write
        as_fio "$path" --rw=write --offset=512k --bs=512 --size=64k --readfua=1 --writefua=1
        as_fio "$path" --rw=trim
        as_fio "$path" --rw=write --fsync=16
        as_fio "$path" --rw=write --sg_write_mode=write_and_verify
        as_fio "$path" --rw=write --sg_write_mode=write_same
        as_fio "$path" --rw=write --sg_write_mode=write_same_ndob
        as_fio "$path" --rw=write --sg_write_mode=verify_bytchk_00
    done
    as_fio "$generic" --rw=randwrite --iodepth=8
}

# The disk holds ones, and blocks of other data are expected.
long_test_comparisons_fail_as_in_fio() {
    sg_disk
    as_fio "$scsi" --rw=write --sg_write_mode=verify_bytchk_01
    as_fio "$generic" --rw=write --sg_write_mode=verify_bytchk_01
    as_fio "$scsi" --rw=write --sg_write_mode=verify_bytchk_11
    as_fio "$scsi" --rw=write --sg_write_mode=verify_bytchk_01 --buffer_pattern=0x01
    as_fio "$scsi" --rw=write --sg_write_mode=verify_bytchk_11 --buffer_pattern=0x01
}

# Each disk holds what the other path has written; more operations are in flight than the kernel takes.
test_data_are_the_same_on_both_paths() {
    sg_disk
    local path
    for path in "$generic" "$scsi"; do
        by_sg "$path" --rw=randwrite --iodepth=64 --verify=crc32c --do_verify=1
        timeout -s KILL 300 fathom fio --name=t --ioengine=libaio --direct=1 --filename="$scsi" --bs=4k --size=2m --rw=randwrite \
            --verify=crc32c --verify_only=1 > /tmp/out 2>&1 || fail "$path: $(cat /tmp/out)"
        zeroed
    done
    by_sg "$generic" --rw=randrw --iodepth=32 --numjobs=4 --size=4m --number_ios=500
}

test_sense_data_are_reported() {
    sg_disk opts=2
    local path
    for path in "$scsi" "$generic"; do
        expect 3 "read of 4096 bytes at 2383872 of $path failed: medium error.*sense 3h, 11h/.* at block 4660" fathom run --progress off --name=t \
            --ioengine=sg --rw=read --bs=4k --size=64k --offset=2359296 --filename="$path"
    done
    expect 1 "illegal request" fathom fio --name=t --ioengine=sg --rw=write --bs=4k --size=64k --sg_write_mode=write_stream \
        --stream_id=3 --filename="$scsi"
    expect 1 "stream_id=N" fathom fio --name=t --ioengine=sg --rw=write --bs=4k \
        --size=64k --sg_write_mode=write_stream --filename="$scsi"
}

# The generic device is another name of the disk.
test_generic_device_of_a_mounted_disk() {
    sg_disk num_parts=1
    wait_for "test -b ${scsi}1"
    ext4 "${scsi}1"
    mounted "${scsi}1" sg
    local before
    before=$(digest "$scsi")
    for path in "$scsi" "$generic"; do
        expect 2 "mounted at /mnt/sg" fathom run --progress off --name=t --ioengine=sg --rw=write --bs=4k --size=512k --filename="$path"
        grep -q "nothing was touched" /tmp/out || fail "it does not say that nothing was touched: $(cat /tmp/out)"
        expect 1 "mounted at /mnt/sg" fathom fio --name=t --ioengine=sg --rw=trim --bs=4k --size=512k --filename="$path"
        # Reads need no permission.
        expect "0 4" read fathom run --progress off --name=t --ioengine=sg --rw=randread --bs=4k --size=512k --filename="$path"
    done
    [ "$before" = "$(digest "$scsi")" ] || fail "the mounted disk has changed"
}

test_users_of_the_disk_count_for_its_generic_device() {
    sg_disk
    mkswap "$scsi" > /tmp/mkswap
    swapon "$scsi"
    later "swapoff $scsi"
    expect 1 "swap" fathom fio --name=t --ioengine=sg --rw=write --bs=4k --size=64k --filename="$generic"
    swapoff "$scsi"
    zeroed
    dmsetup create sgheld --table "0 2048 linear $scsi 0"
    later "dmsetup remove sgheld"
    expect 1 "in use by" fathom fio --name=t --ioengine=sg --rw=write --bs=4k --size=64k --filename="$generic"
    expect 1 "whole SCSI disk" fathom fio --name=t --ioengine=sg --rw=write --bs=4k --size=64k --filename=/dev/mapper/sgheld
}

# A name in /dev says nothing about the device.
test_data_need_permission_by_either_name() {
    sg_disk
    ext4 "$scsi"
    local before
    before=$(digest "$scsi")
    mknod /tmp/alias c $(printf "%d %d" "0x$(stat -c %t "$generic")" "0x$(stat -c %T "$generic")")
    for path in "$generic" /tmp/alias; do
        expect 2 "ext4|ext filesystem" fathom run --progress off --name=t --ioengine=sg --rw=write --bs=4k --size=512k --filename="$path"
    done
    expect 2 "character device" $writes --filename="$generic" --allow-destroy="$generic"
    [ "$before" = "$(digest "$scsi")" ] || fail "the disk has changed"
    expect "0 4" write fathom run --progress off --name=t --ioengine=sg --rw=write --bs=4k --size=512k --filename=/tmp/alias \
        --allow-destroy="$generic"
    [ "$before" != "$(digest "$scsi")" ] || fail "the disk was not written"
}

# Content that the page cache knew before is not taken for that on the disk.
test_own_data_are_recognized_after_commands() {
    sg_disk
    local path
    for path in "$generic" "$scsi" "$generic"; do
        expect "0 4" write fathom run --progress off --name=t --ioengine=sg --rw=write --bs=64k --size=16m --filename="$path"
    done
}

test_partitions_and_other_devices_are_refused() {
    sg_disk num_parts=1
    wait_for "test -b ${scsi}1"
    expect "1 2" "whole SCSI disk" fathom run --progress off --name=t --ioengine=sg --rw=read --bs=4k --size=64k --filename="${scsi}1"
    expect "1 2" "whole SCSI disk" fathom run --progress off --name=t --ioengine=sg --rw=write --bs=4k --size=64k --filename="${scsi}1" \
        --allow-destroy="${scsi}1"
    disk nosg 16
    expect "1 2" "whole SCSI disk" fathom run --progress off --name=t --ioengine=sg --rw=write --bs=4k --size=64k --filename=/dev/nosg \
        --allow-destroy=/dev/nosg
    head -c 65536 /dev/zero > /tmp/regular
    expect "1 2" "SCSI d" fathom run --progress off --name=t --ioengine=sg --rw=read --bs=4k --size=64k --filename=/tmp/regular
    expect "1 2" "SCSI d" fathom run --progress off --name=t --ioengine=sg --rw=write --bs=4k --size=64k --filename=/dev/null
}

long_test_blocks_of_4096_bytes() {
    sg_disk sector_size=4096
    as_fio "$generic" --rw=write --bs=8k
    as_fio "$scsi" --rw=write --sg_write_mode=write_same --bs=16k
    expect "1 2 3" "multiples of the block size of 4096 bytes" fathom run --progress off --name=t --ioengine=sg --rw=read --bs=512 --size=64k \
        --filename="$generic"
}

test_disk_that_is_removed() {
    sg_disk
    fathom run --progress off --name=t --ioengine=sg --rw=randread --bs=4k --iodepth=8 --runtime=60 --time_based --filename="$generic" \
        > /tmp/out 2>&1 &
    local pid=$!
    sleep 5
    echo 1 > "/sys/block/${scsi#/dev/}/device/delete"
    local code=0
    wait $pid || code=$?
    [ $code = 3 ] || fail "exit code $code: $(cat /tmp/out)"
    if grep -q panicked /tmp/out; then
        fail "it panicked: $(cat /tmp/out)"
    fi
}

# Devices without blocks: an enclosure, and a tape.
test_tapes_and_enclosures_are_refused() {
    modprobe sg
    modprobe scsi_debug delay=0 ptype=13
    later "modprobe -r scsi_debug"
    echo 1 > /sys/bus/pseudo/drivers/scsi_debug/ptype
    echo 1 > /sys/bus/pseudo/drivers/scsi_debug/add_host
    wait_for '[ $(ls -d /sys/class/scsi_generic/sg* | wc -l) = 2 ]'
    local node
    for node in /sys/class/scsi_generic/sg*; do
        node=/dev/${node##*/}
        wait_for "test -c $node"
        expect "1 2" "not a disk" fathom run --progress off --name=t --ioengine=sg --rw=write --bs=4k --size=64k --filename="$node" \
            --allow-destroy="$node"
        expect "1 2" "not a disk" fathom run --progress off --name=t --ioengine=sg --rw=read --bs=4k --size=64k --filename="$node"
    done
}
