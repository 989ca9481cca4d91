# `fathom doctor` on these devices: all checks run and nothing panics.

# examined PATTERN PATH...: runs the doctor in each format.
examined() {
    local pattern=$1 path
    shift
    for path; do
        expect 0 "$pattern" fathom doctor "$path"
        expect 0 "$pattern" fathom doctor --all "$path"
        expect 0 "\"" fathom doctor --format json "$path"
        ! grep -Eq "NaN|inf," /tmp/out || fail "no numbers: $(cat /tmp/out)"
    done
}

test_nvme() {
    plain=$(namespaces_of plain)
    examined "${plain#/dev/}" "$plain"
    expect 0 "scheduler" fathom doctor --all "$plain"
    expect 0 "write cache|write_cache" fathom doctor --all "$plain"
}

test_nvme_with_several_controllers() {
    examined "nvme" $(namespaces_of shared)
}

test_zoned_nvme() {
    examined "nvme" $(namespaces_of zoned)
}

test_scsi() {
    scsi_disk dev_size_mb=16
    examined "${scsi#/dev/}" "$scsi"
    expect 0 "scheduler" fathom doctor --all "$scsi"
}

test_stack_of_md_and_dm() {
    disk left 24
    disk right 24
    modprobe raid1
    mdadm --quiet --create /dev/md7 --run --assume-clean --metadata=1.2 --level=1 --raid-devices=2 /dev/left /dev/right
    later "mdadm --quiet --stop /dev/md7"
    dmsetup create upper --table "0 32768 linear /dev/md7 0"
    later "dmsetup remove upper"
    ext4 /dev/mapper/upper
    mounted /dev/mapper/upper stack
    examined "left" /dev/mapper/upper /mnt/stack/data
    expect 0 "right" fathom doctor /mnt/stack/data
}
