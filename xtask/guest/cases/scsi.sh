# SCSI disks, by scsi_debug.

test_result_names_the_device() {
    scsi_disk dev_size_mb=16
    expect "0 4" "\"path\": \"$scsi\"" fathom run --progress off --name=t --rw=randread --bs=4k --size=8m --iodepth=4 --ioengine=libaio --direct=1 \
        --filename="$scsi" --format=json
    grep -q '"kind": "block"' /tmp/out && grep -q '"size": 16777216' /tmp/out || fail "not as a device of 16 MiB: $(cat /tmp/out)"
}

test_disk_with_a_mounted_partition() {
    scsi_disk dev_size_mb=32 num_parts=1
    wait_for "test -b ${scsi}1"
    ext4 "${scsi}1"
    mounted "${scsi}1" scsi
    refused "mounted at /mnt/scsi" "$scsi" /mnt/scsi/data
    refused "mounted at /mnt/scsi" "${scsi}1" "$scsi"
}

# Two hosts with the same unit: two names, one identifier.
long_test_mounted_by_its_other_node() {
    scsi_disk dev_size_mb=32 add_host=2 vpd_use_hostno=0
    set -- $scsi
    [ $# = 2 ] || fail "two disks were wanted, not: $*"
    [ "$(cat "/sys/block/${1#/dev/}/device/wwid")" = "$(cat "/sys/block/${2#/dev/}/device/wwid")" ] || fail "they differ in their identifiers"
    ext4 "$1"
    mounted "$1" scsi
    refused "$1|mounted at /mnt/scsi" "$2" /mnt/scsi/data
}

test_disk_with_blocks_of_4096_bytes() {
    scsi_disk dev_size_mb=16 sector_size=4096
    permitted "$scsi" --direct=1
    ext4 "$scsi"
    refused "ext4|ext filesystem" "$scsi"
    expect "2 3" "4096|4 KiB" fathom run --progress off --name=t --rw=read --bs=512 --size=512k --ioengine=psync --direct=1 --filename="$scsi"
}
