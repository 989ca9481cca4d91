# Partitions: writing a disk writes its partitions.

# mbr: creates /dev/guard with a partition of 16 MiB with ext4 and an empty one of 8 MiB.
mbr() {
    disk guard 32
    printf '1MiB,16MiB,L\n17MiB,8MiB,L\n' | sfdisk -q --label dos /dev/guard
    wait_for "test -b /dev/guard2"
    ext4 /dev/guard1
}

test_disk_with_a_mounted_partition() {
    mbr
    mounted /dev/guard1 first
    refused "mounted at /mnt/first" /dev/guard
}

test_disk_with_an_unmounted_partition() {
    mbr
    refused "partition" /dev/guard
}

test_mounted_partition() {
    mbr
    mounted /dev/guard1 first
    refused "mounted at /mnt/first" /dev/guard1 /dev/guard
}

test_partition_with_a_filesystem() {
    mbr
    refused "ext4|ext filesystem" /dev/guard1 /dev/guard
    permitted /dev/guard1 --allow-destroy=/dev/guard1
}

test_empty_partition_beside_a_mounted_one() {
    mbr
    mounted /dev/guard1 first
    before=$(digest /dev/guard1 /mnt/first/data)
    permitted /dev/guard2
    [ "$before" = "$(digest /dev/guard1 /mnt/first/data)" ] || fail "the partition beside it has changed"
}

long_test_extended_partition_with_a_mounted_logical_one() {
    disk guard 32
    printf '1MiB,24MiB,Ex\n2MiB,16MiB,L\n' | sfdisk -q --label dos /dev/guard
    wait_for "test -b /dev/guard5"
    ext4 /dev/guard5
    mounted /dev/guard5 logical
    before=$(digest /dev/guard /mnt/logical/data)
    expect 2 "partition|mounted|holds data" fathom run --progress off --name=t --rw=write --bs=512 --size=1k --ioengine=psync --filename=/dev/guard1
    refused "mounted at /mnt/logical" /dev/guard /mnt/logical/data
    refused "mounted at /mnt/logical" /dev/guard5 /dev/guard
    [ "$before" = "$(digest /dev/guard /mnt/logical/data)" ] || fail "data have changed"
}

test_gpt_disk_that_the_kernel_has_not_read() {
    disk guard 32
    printf '1MiB,16MiB,L\n' | sfdisk -q --label gpt /dev/guard
    wait_for "test -b /dev/guard1"
    # The table, but not the kernel's view, loses the partition.
    sfdisk --delete --no-reread /dev/guard 1 >/dev/null 2>&1 || true
    refused "GPT|partition" /dev/guard
    # The backup at the end alone also counts as a table.
    dd if=/dev/zero of=/dev/guard bs=512 count=34 oflag=direct 2>/dev/null
    refused "GPT|partition" /dev/guard
}

# All directions that change data, and commands that start such jobs.
test_every_way_of_writing_is_refused() {
    mbr
    mounted /dev/guard1 first
    before=$(digest /dev/guard)
    for direction in write randwrite rw randrw trim randtrim trimwrite; do
        expect 2 "mounted at /mnt/first" fathom run --progress off --name=t --rw=$direction --bs=4k --size=512k --ioengine=psync --filename=/dev/guard
    done
    for engine in io_uring libaio mmap sync; do
        expect 2 "mounted at /mnt/first" fathom run --progress off --name=t --rw=randwrite --bs=4k --size=512k --ioengine=$engine --filename=/dev/guard
    done
    expect 2 "mounted at /mnt/first" fathom sweep --progress off --rw=randwrite --filename=/dev/guard --time-limit 5s
    expect 2 "mounted at /mnt/first" fathom run --progress off --name=t --rw=randread --verify=crc32c --do_verify=1 --rw=write --bs=4k --size=512k --filename=/dev/guard
    [ "$before" = "$(digest /dev/guard)" ] || fail "data have changed"
}

long_test_swap_on_a_partition() {
    mbr
    mkswap /dev/guard2 >/dev/null
    refused "swap" /dev/guard2 /dev/guard
    swapon /dev/guard2
    later "swapoff /dev/guard2"
    refused "swap" /dev/guard2
    refused "swap" /dev/guard
}
