# Zoned block devices (zonemode=zbd): null_blk with zones of 4 MiB, of which 3 MiB can be written, and NVMe.

# zoned_disk NAME CONVENTIONAL MAX_OPEN: creates /dev/NAME of 64 MiB.
zoned_disk() {
    disk "$1" 64 zoned=1 zone_size=4 zone_capacity=3 zone_nr_conv="$2" zone_max_open="$3"
    [ "$(cat "/sys/block/$1/queue/zoned")" = host-managed ] || fail "/dev/$1 is not zoned"
}

# in_zones DEVICE OPTION...: runs a job in zones, of 16 MiB by default.
in_zones() {
    local device=$1
    shift
    timeout -s KILL 300 fathom fio --name=t --filename="$device" --zonemode=zbd --direct=1 --bs=64k --size=16m \
        --ioengine=psync "$@" > /tmp/out 2>&1 || fail "$(cat /tmp/out)"
}

# as_fio OPTION...: runs a job with fio and with Fathom, each on a new device, and compares the numbers of operations and
# resets, and the write pointers and conditions of all zones.
as_fio() {
    local program
    for program in fio fathom; do
        zoned_disk nboth 2 4
        local command=$program
        [ $program = fio ] || command="fathom fio"
        timeout -s KILL 300 $command --name=t --filename=/dev/nboth --zonemode=zbd --direct=1 --bs=64k --size=32m \
            --ioengine=psync "$@" > /tmp/out.$program 2>&1 || fail "$program $*: $(cat /tmp/out.$program)"
        grep -oE "[0-9]+ zone resets|issued rwts: total=[0-9,]*" /tmp/out.$program > /tmp/counts.$program
        blkzone report /dev/nboth > /tmp/zones.$program
        echo 0 > /sys/kernel/config/nullb/nboth/power
        rmdir /sys/kernel/config/nullb/nboth
    done
    cmp -s /tmp/counts.fio /tmp/counts.fathom || fail "$*: $(cat /tmp/counts.fio) in fio, $(cat /tmp/counts.fathom) in Fathom"
}

same_zones() {
    cmp -s /tmp/zones.fio /tmp/zones.fathom || fail "$(diff /tmp/zones.fio /tmp/zones.fathom)"
}

long_test_zones_are_as_in_fio() {
    as_fio --rw=write
    same_zones
    as_fio --rw=write --io_size=48m
    same_zones
    as_fio --rw=write --offset=12m --size=8m --loops=2
    same_zones
    as_fio --rw=randwrite --offset=8m --size=32m --io_size=3m
    as_fio --rw=write --offset=8m --size=16m --verify=crc32c
    same_zones
}

test_sequential_writes_and_resets() {
    zoned_disk nzone 0 0
    in_zones /dev/nzone --rw=write
    # Four zones of 3 MiB.
    grep -q "issued rwts: total=0,192,0,0" /tmp/out || fail "not 192 writes: $(cat /tmp/out)"
    grep -q "; 0 zone resets" /tmp/out || fail "there were resets: $(cat /tmp/out)"
    in_zones /dev/nzone --rw=write
    grep -q "; 4 zone resets" /tmp/out || fail "not four resets: $(cat /tmp/out)"
    in_zones /dev/nzone --rw=randread
    grep -q "issued rwts: total=256,0,0,0" /tmp/out || fail "not 256 reads: $(cat /tmp/out)"
    in_zones /dev/nzone --rw=randread --offset=32m
    grep -q "issued rwts: total=0,0,0,0" /tmp/out || fail "reads of empty zones: $(cat /tmp/out)"
    in_zones /dev/nzone --rw=randread --offset=32m --read_beyond_wp=1
    grep -q "issued rwts: total=256,0,0,0" /tmp/out || fail "no reads of empty zones: $(cat /tmp/out)"
}

long_test_engines_write_at_the_write_pointers() {
    zoned_disk nengine 4 6
    local engine rw
    for engine in psync sync vsync pvsync pvsync2 libaio io_uring; do
        for rw in write randwrite randrw; do
            in_zones /dev/nengine --rw=$rw --size=32m --io_size=12m --ioengine=$engine --iodepth=8 --numjobs=2 --bs=32k-96k \
                --bs_unaligned=0
            grep -q "err= 0" /tmp/out || fail "$engine $rw: $(cat /tmp/out)"
        done
    done
}

test_verification_in_zones() {
    zoned_disk nverify 2 3
    local rw
    for rw in write randwrite "randwrite --norandommap=1" "write --verify_backlog=16"; do
        in_zones /dev/nverify --rw=$rw --offset=4m --size=12m --verify=crc32c --ioengine=libaio --iodepth=4 --loops=2
        grep -q "err= 0" /tmp/out || fail "$rw: $(cat /tmp/out)"
        grep -Eq "issued rwts: total=[1-9]" /tmp/out || fail "nothing was read back: $(cat /tmp/out)"
    done
}

test_trims_reset_zones() {
    zoned_disk ntrim 0 0
    in_zones /dev/ntrim --rw=write
    in_zones /dev/ntrim --rw=trim --bs=4m
    grep -q "issued rwts: total=0,0,4,0" /tmp/out || fail "not four trims: $(cat /tmp/out)"
    in_zones /dev/ntrim --rw=write
    grep -q "; 0 zone resets" /tmp/out || fail "the trims have not reset the zones: $(cat /tmp/out)"
}

test_open_zones_are_limited() {
    zoned_disk nopen 0 2
    in_zones /dev/nopen --rw=randwrite --size=64m --io_size=32m --ioengine=io_uring --iodepth=8
    # Blocks that leave a rest, which is finished or written.
    in_zones /dev/nopen --rw=randwrite --size=64m --io_size=32m --bs=320k
    in_zones /dev/nopen --rw=randwrite --size=64m --io_size=32m --bs=320k --write_zone_remainder=1 --job_max_open_zones=1
    in_zones /dev/nopen --rw=write --size=64m --io_size=96m --zone_reset_threshold=0.5 --zone_reset_frequency=0.1
    grep -Eq "; [1-9][0-9]* zone resets" /tmp/out || fail "no resets: $(cat /tmp/out)"
    expect 1 "max_open_zones: /dev/nopen .* 2 zones" \
        fathom fio --name=t --filename=/dev/nopen --zonemode=zbd --rw=write --bs=4k --direct=1 --max_open_zones=3
    in_zones /dev/nopen --rw=randwrite --max_open_zones=3 --ignore_zone_limits=1 --size=4m
}

test_the_gate_guards_zones() {
    zoned_disk nguard 4 0
    zone="fathom run --progress off --name=t --zonemode=zbd --bs=64k --size=16m --ioengine=psync --direct=1"
    in_zones /dev/nguard --rw=write --offset=16m
    dmsetup create upper --table "0 32768 linear /dev/nguard 0"
    later "dmsetup remove upper"
    before=$(digest /dev/nguard)
    expect 2 "in use" $zone --rw=write --offset=16m --filename=/dev/nguard
    expect 2 "in use" $zone --rw=trim --bs=4m --offset=16m --filename=/dev/nguard
    [ "$before" = "$(digest /dev/nguard)" ] || fail "data have changed"
}

test_errors_of_zones() {
    zoned_disk nerror 0 0
    zone="fathom run --progress off --name=t --zonemode=zbd --ioengine=psync --filename=/dev/nerror"
    expect 2 "direct: /dev/nerror" $zone --rw=write --bs=64k
    expect 2 "zonesize: /dev/nerror.* 4 MiB.* 8 MiB" $zone --rw=write --bs=64k --direct=1 --zonesize=8m
    expect 2 "bs: .*4 MiB.* 3 MiB" $zone --rw=write --bs=4m --direct=1
    expect 2 "bs: .*trim.* zone" $zone --rw=trim --bs=64k --direct=1
    expect 2 "size: /dev/nerror" $zone --rw=write --bs=64k --direct=1 --size=1m
}

# A write that the device refuses: another program has moved the write pointer.
test_recovery_of_failed_writes() {
    zoned_disk nfail 0 0
    fathom fio --name=t --filename=/dev/nfail --zonemode=zbd --direct=1 --bs=64k --size=16m --io_size=64m --rw=write \
        --ioengine=psync --rate=2m --runtime=6 --continue_on_error=write --recover_zbd_write_error=1 > /tmp/recovered 2>&1 &
    writer=$!
    sleep 2
    # It resets all zones.
    fathom fio --name=t --filename=/dev/nfail --zonemode=zbd --direct=1 --bs=4m --size=16m --rw=trim --ioengine=psync >/tmp/out 2>&1 || true
    wait $writer || fail "$(cat /tmp/recovered)"
    grep -Eq "err= 0|total_err|Input/output" /tmp/recovered || fail "$(cat /tmp/recovered)"
}

test_nvme_zones() {
    zoned=$(namespaces_of zoned)
    [ -b "$zoned" ] || fail "the guest lacks its zoned disk"
    in_zones "$zoned" --rw=randwrite --size=64m --io_size=40m --bs=128k --ioengine=io_uring --iodepth=4
    in_zones "$zoned" --rw=write --size=32m --bs=64k --ioengine=libaio --iodepth=8 --verify=crc32c
    grep -q "issued rwts: total=384,384,0,0" /tmp/out || fail "not 24 MiB written and read: $(cat /tmp/out)"
    in_zones "$zoned" --rw=trim --bs=16m --size=64m
}

# commands_as_fio OPTION...: runs a job of commands to the zoned namespace with fio and with Fathom, each after a reset of
# all zones, and compares the numbers of operations and resets, and all zones.
commands_as_fio() {
    local program
    for program in fio "fathom fio"; do
        blkzone reset "$zoned"
        timeout -s KILL 300 $program --name=t --filename="$character" --zonemode=zbd --bs=64k --size=64m \
            --ioengine=io_uring_cmd "$@" > /tmp/out 2>&1 || fail "$program $*: $(cat /tmp/out)"
        grep -oE "[0-9]+ zone resets|issued rwts: total=[0-9,]*" /tmp/out > "/tmp/counts.${program%% *}"
        blkzone report "$zoned" > "/tmp/zones.${program%% *}"
    done
    cmp -s /tmp/counts.fio /tmp/counts.fathom || fail "$*: $(cat /tmp/counts.fio) in fio, $(cat /tmp/counts.fathom) in Fathom"
}

zoned_namespace() {
    zoned=$(namespaces_of zoned)
    character=/dev/ng${zoned#/dev/nvme}
    [ -b "$zoned" ] && [ -c "$character" ] || fail "the guest lacks its zoned disk or its character device"
    later "blkzone reset $zoned"
}

long_test_commands_in_zones_are_as_in_fio() {
    zoned_namespace
    commands_as_fio --rw=write
    same_zones
    commands_as_fio --rw=write --io_size=80m
    same_zones
    commands_as_fio --rw=write --offset=16m --size=32m --loops=2 --iodepth=4
    same_zones
    commands_as_fio --rw=randwrite --io_size=6m --max_open_zones=2
    commands_as_fio --rw=write --size=32m --verify=crc32c
    same_zones
}

long_test_commands_in_zones() {
    zoned_namespace
    blkzone reset "$zoned"
    commands="fathom fio --name=t --filename=$character --zonemode=zbd --bs=64k --ioengine=io_uring_cmd"
    # Four zones of 12 MiB.
    expect 0 "total=0,768,0,0" $commands --rw=write --size=4z
    grep -q "; 0 zone resets" /tmp/out || fail "there were resets: $(cat /tmp/out)"
    expect 0 "; 4 zone resets" $commands --rw=write --size=64m --iodepth=8
    expect 0 "err= 0" $commands --rw=randwrite --size=64m --io_size=40m --iodepth=8 --verify=crc32c
    expect 0 "total=0,0,4,0" $commands --rw=trim --bs=16m --size=64m
    [ "$(blkzone report "$zoned" -c 4 | grep -c 'em)')" = 4 ] || fail "the trims have not reset the zones"
    expect 0 "total=0,0,0,0" $commands --rw=randread --size=64m
    # Blocks that leave a rest, which is finished but in the last zone.
    expect 0 "err= 0" $commands --rw=write --bs=320k --size=64m
    [ "$(blkzone report "$zoned" -c 4 | grep -c 'fu)')" = 3 ] || fail "zones are not full: $(blkzone report "$zoned" -c 4)"
    expect 1 "max_open_zones: $character .* 8 zones" $commands --rw=write --size=64m --max_open_zones=9
    expect 1 "zonesize: $character.* 16 MiB" $commands --rw=write --size=64m --zonesize=8m
    expect 1 "write_mode" $commands --rw=write --size=64m --write_mode=zeroes
    expect 1 "num_range|one zone" $commands --rw=trim --bs=16m --size=64m --num_range=2
    # The gate guards zones as it guards blocks.
    dmsetup create upper --table "0 32768 linear $zoned 0"
    later "dmsetup remove upper"
    before=$(blkzone report "$zoned")
    expect 2 "in use" fathom run --progress off --name=t --filename="$character" --zonemode=zbd --bs=64k --ioengine=io_uring_cmd \
        --rw=write --size=64m
    expect 2 "in use" fathom run --progress off --name=t --filename="$character" --zonemode=zbd --bs=16m --ioengine=io_uring_cmd \
        --rw=trim --size=64m
    [ "$before" = "$(blkzone report "$zoned")" ] || fail "zones have changed"
}

# The block device and the character device have the same write pointers.
test_both_devices_of_a_namespace_share_its_zones() {
    zoned_namespace
    blkzone reset "$zoned"
    jobs="--zonemode=zbd --bs=64k --size=16m --io_size=4m --rw=write --name=a --filename=$zoned --ioengine=psync --direct=1"
    jobs="$jobs --name=b --stonewall --filename=$character --ioengine=io_uring_cmd"
    expect 0 "b: .*err= 0" fathom fio $jobs
    blkzone report "$zoned" -c 1 | grep -q "wptr 0x004000" || fail "not 8 MiB written: $(blkzone report "$zoned" -c 1)"
}

# Zones that the namespace does not have are the program's alone.
test_commands_in_emulated_zones() {
    plain=$(namespaces_of plain)
    character=/dev/ng${plain#/dev/nvme}
    later "dd if=/dev/zero of=$plain bs=1M oflag=direct"
    commands="fathom fio --name=t --filename=$character --zonemode=zbd --zonesize=1m --ioengine=io_uring_cmd --size=4m"
    expect 0 "; 4 zone resets" $commands --rw=write --bs=64k --io_size=8m --iodepth=4
    before=$(digest "$plain")
    expect 0 "err= 0" $commands --rw=trim --bs=1m
    [ "$before" = "$(digest "$plain")" ] || fail "a trim of a zone has changed data"
}
