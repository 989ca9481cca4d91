# LVM: a physical volume counts as data whether or not its group is active.

# group: creates a volume group over /dev/pv with a logical volume of 16 MiB.
group() {
    disk pv 48
    lvm pvcreate -q -y /dev/pv
    lvm vgcreate -q guests /dev/pv
    lvm lvcreate -q -y -Zn -Wn -L 16M -n root guests
    later "lvm vgchange -q -an guests"
    wait_for "test -e /dev/mapper/guests-root"
}

test_physical_volume_without_a_group() {
    disk pv 16
    lvm pvcreate -q -y /dev/pv
    refused "LVM" /dev/pv
}

test_physical_volume_of_an_inactive_group() {
    group
    ext4 /dev/mapper/guests-root
    lvm vgchange -q -an guests
    refused "LVM" /dev/pv
}

test_physical_volume_of_an_active_group() {
    group
    refused "LVM|in use" /dev/pv
}

test_mounted_logical_volume() {
    group
    ext4 /dev/mapper/guests-root
    refused "ext4|ext filesystem" /dev/mapper/guests-root /dev/pv
    mounted /dev/mapper/guests-root root
    refused "mounted at /mnt/root" /dev/mapper/guests-root /dev/pv
    refused "mounted at /mnt/root|in use|LVM" /dev/pv /mnt/root/data
}

test_empty_logical_volume_is_written() {
    group
    permitted /dev/mapper/guests-root
    lvm vgs guests >/dev/null
}

long_test_physical_volume_on_a_partition() {
    disk guard 48
    printf '1MiB,40MiB,V\n' | sfdisk -q --label dos /dev/guard
    wait_for "test -b /dev/guard1"
    lvm pvcreate -q -y /dev/guard1
    lvm vgcreate -q guests /dev/guard1
    lvm lvcreate -q -y -Zn -Wn -L 16M -n root guests
    later "lvm vgchange -q -an guests"
    ext4 /dev/mapper/guests-root
    mounted /dev/mapper/guests-root root
    refused "LVM|mounted|in use" /dev/guard1 /dev/guard
    refused "partition|mounted|in use" /dev/guard
}
