# NVMe: several paths to one namespace, character devices, zones, and the device in results.

plain() {
    plain=$(namespaces_of plain)
    [ -b "$plain" ] || fail "the guest lacks its NVMe disk"
    later "dd if=/dev/zero of=$plain bs=1M oflag=direct"
}

test_result_names_the_device() {
    plain
    expect "0 4" "\"path\": \"$plain\"" fathom run --progress off --name=t --rw=randread --bs=4k --size=16m --iodepth=8 --ioengine=io_uring \
        --direct=1 --filename="$plain" --format=json -o /tmp/nvme.json
    grep -q '"kind": "block"' /tmp/out && grep -q '"size": 67108864' /tmp/out || fail "not as a device of 64 MiB: $(cat /tmp/out)"
    # The kernel's counters of the disk.
    grep -A 3 "\"name\": \"${plain#/dev/}\"" /tmp/out | grep -Eq '"read_ios": [1-9]' || fail "no counters of the disk: $(cat /tmp/out)"
    expect "0 1 4" "IOPS" fathom explain /tmp/nvme.json
    rm /tmp/nvme.json
}

test_namespace_with_a_filesystem() {
    plain
    ext4 "$plain"
    refused "ext4|ext filesystem" "$plain"
    mounted "$plain" nvme
    refused "mounted at /mnt/nvme" "$plain" /mnt/nvme/data
}

test_namespace_with_partitions() {
    plain
    printf '1MiB,16MiB,L\n' | sfdisk -q --label gpt "$plain"
    later "sfdisk -q --delete $plain"
    wait_for "test -b ${plain}p1"
    ext4 "${plain}p1"
    mounted "${plain}p1" nvme
    refused "mounted at /mnt/nvme" "$plain" /mnt/nvme/data
    refused "mounted at /mnt/nvme" "${plain}p1" "$plain"
}

# /dev/ng0n1 takes commands, not reads and writes; as a block device it would bypass every check.
test_character_device_is_no_target() {
    plain
    character=/dev/ng${plain#/dev/nvme}
    [ -c "$character" ] || fail "the guest lacks $character"
    ext4 "$plain"
    mounted "$plain" nvme
    before=$(digest "$plain")
    for engine in psync io_uring libaio mmap; do
        expect "2 3" "$character.*(character device|neither a file nor a device)" \
            fathom run --progress off --name=t --rw=write --bs=4k --size=512k --ioengine=$engine --filename="$character"
    done
    expect "2 3" "$character.*(character device|neither a file nor a device)" \
        fathom run --progress off --name=t --rw=read --bs=4k --size=512k --ioengine=psync --filename="$character"
    expect "2 3" "character device|neither a file nor a device" fathom serve custom,size=64MiB,iops=5000,latency=1ms --backing "file:$character" --run true
    [ "$before" = "$(digest "$plain")" ] || fail "data have changed"
}

# With native multipath there is one node with two controllers.
test_two_controllers_and_one_node() {
    set -- $(namespaces_of shared)
    [ $# = 1 ] || fail "with multipath there is one node, not: $*"
    later "dd if=/dev/zero of=$1 bs=1M oflag=direct"
    ext4 "$1"
    mounted "$1" shared
    refused "mounted at /mnt/shared" "$1" /mnt/shared/data
}

# without_multipath: sets `first` and `second` to the nodes of the two controllers of the shared namespace.
without_multipath() {
    later "modprobe -r nvme nvme_core; modprobe nvme; sleep 1"
    modprobe -r nvme nvme_core
    modprobe nvme_core multipath=N
    modprobe nvme
    wait_for '[ "$(namespaces_of shared | wc -l)" = 2 ] && [ -b "$(namespaces_of plain)" ]'
    set -- $(namespaces_of shared)
    first=$1 second=$2
    [ "$(cat "/sys/block/${first#/dev/}/wwid")" = "$(cat "/sys/block/${second#/dev/}/wwid")" ] ||
        fail "they differ in their identifiers"
    later "dd if=/dev/zero of=$first bs=1M oflag=direct"
}

long_test_mounted_by_its_other_node() {
    without_multipath
    ext4 "$first"
    mounted "$first" shared
    refused "mounted at /mnt/shared" "$first" /mnt/shared/data
    refused "$first|mounted at /mnt/shared" "$second" /mnt/shared/data
}

# There is no signature, but a mapping uses the other node.
test_in_use_by_its_other_node() {
    without_multipath
    dmsetup create upper --table "0 32768 linear $first 65536"
    later "dmsetup remove upper"
    refused "in use" "$first" "$second"
    refused "in use|$first" "$second" "$first"
}

long_test_partition_mounted_by_its_other_node() {
    without_multipath
    printf '1MiB,24MiB,L\n' | sfdisk -q --label dos "$first"
    wait_for "test -b ${first}p1"
    blockdev --rereadpt "$second"
    wait_for "test -b ${second}p1"
    ext4 "${first}p1"
    mounted "${first}p1" shared
    refused "partition|mounted" "$second" /mnt/shared/data
    refused "${first}p1|mounted at /mnt/shared" "${second}p1" /mnt/shared/data
}

# An empty disk with two nodes is still writable.
test_empty_namespace_with_two_nodes_is_written() {
    without_multipath
    permitted "$second" --direct=1
}

zoned() {
    zoned=$(namespaces_of zoned)
    [ "$(cat "/sys/block/${zoned#/dev/}/queue/zoned")" = host-managed ] || fail "the guest lacks its zoned disk"
}

# A write at the write pointer succeeds. Any other write fails in the drive, and Fathom reports why. After a failure the
# kernel refuses all writes to that zone until it is reset, so each part uses its own zone.
test_zoned_namespace() {
    zoned
    expect "0 4" read fathom run --progress off --name=t --rw=randread --bs=4k --size=8m --ioengine=io_uring --direct=1 --filename="$zoned"
    expect 3 "zonemode=zbd" fathom run --progress off --name=t --rw=randwrite --bs=4k --size=8m --ioengine=io_uring --direct=1 --filename="$zoned"
    sequential="fathom run --progress off --name=t --rw=write --bs=4k --offset=16m --size=8m --ioengine=psync --direct=1 --filename=$zoned --allow-destroy=$zoned"
    expect "0 4" write $sequential
    expect 3 "zonemode=zbd" $sequential
}
