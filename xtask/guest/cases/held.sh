# Devices that a program has opened exclusively, and read-only devices.

test_device_held_exclusively() {
    disk kept 16
    hold /dev/kept
    refused "in use|exclusive|busy|held" /dev/kept
    kill $holder
    wait $holder 2>/dev/null || true
    permitted /dev/kept
}

test_disk_whose_partition_is_held_exclusively() {
    disk kept 16
    printf '1MiB,8MiB,L\n' | sfdisk -q --label dos /dev/kept
    wait_for "test -b /dev/kept1"
    hold /dev/kept1
    refused "in use|exclusive|busy|held" /dev/kept1 /dev/kept
    refused "partition|in use|exclusive|busy" /dev/kept
}

test_read_only_device() {
    disk fixed 16
    blockdev --setro /dev/fixed
    before=$(digest /dev/fixed)
    expect "2 3" "read-only|not permitted" $writes --filename=/dev/fixed
    expect "2 3" "read-only|not permitted" fathom serve custom,size=16MiB,iops=5000,latency=1ms --backing file:/dev/fixed --run true
    [ "$before" = "$(digest /dev/fixed)" ] || fail "it has changed"
    expect "0 4" "read" fathom run --progress off --name=t --rw=randread --bs=4k --size=4m --ioengine=psync --filename=/dev/fixed
}

test_write_protected_scsi_disk() {
    scsi_disk dev_size_mb=16 wp=1
    [ "$(cat "/sys/block/${scsi#/dev/}/ro")" = 1 ] || fail "it is not write-protected"
    before=$(digest "$scsi")
    expect "2 3" "read-only|not permitted" $writes --filename="$scsi"
    [ "$before" = "$(digest "$scsi")" ] || fail "it has changed"
}
