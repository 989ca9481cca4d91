# Loop devices over devices: a mount at the top uses the devices below.

test_loop_over_a_disk_at_an_offset() {
    disk lower 32
    loop_over /dev/lower --offset 4MiB
    ext4 "$loop"
    mounted "$loop" inside
    refused "loop|mounted" /dev/lower /mnt/inside/data
    refused "mounted at /mnt/inside" "$loop" /dev/lower
}

long_test_loop_over_a_partition() {
    disk lower 32
    printf '1MiB,24MiB,L\n' | sfdisk -q --label dos /dev/lower
    wait_for "test -b /dev/lower1"
    loop_over /dev/lower1 --offset 1MiB
    ext4 "$loop"
    mounted "$loop" inside
    refused "loop|mounted" /dev/lower1 /mnt/inside/data
    refused "partition|loop|mounted" /dev/lower /mnt/inside/data
}

test_loop_over_a_loop() {
    truncate -s 32M /tmp/backing
    later "rm -f /tmp/backing"
    loop_over /tmp/backing
    lower=$loop
    loop_over "$lower" --offset 2MiB
    ext4 "$loop"
    mounted "$loop" inside
    refused "loop|mounted" "$lower" /mnt/inside/data
    refused "loop" /tmp/backing /mnt/inside/data
}

# The data start at 4 MiB, so the first sectors of the disk have no signature.
test_detached_loop_over_a_disk_at_an_offset() {
    disk lower 32
    loop_over /dev/lower --offset 4MiB
    ext4 "$loop"
    losetup --detach "$loop"
    refused "data" /dev/lower
}
