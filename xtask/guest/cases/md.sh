# md: a member counts as data whether or not its array runs, at any position of the superblock.

# array METADATA: creates a mirror of /dev/left and /dev/right at /dev/md7.
array() {
    disk left 24
    disk right 24
    modprobe raid1
    mdadm --quiet --create /dev/md7 --run --assume-clean --metadata="$1" --level=1 --raid-devices=2 /dev/left /dev/right
    later "mdadm --quiet --stop /dev/md7"
    wait_for "test -b /dev/md7"
}

# quiet: waits until md has marked its superblocks clean.
quiet() {
    sync
    wait_for "grep -q clean /sys/block/md7/md/array_state"
}

# members METADATA: checks that members are refused while the array runs, while it is mounted, and after it has stopped.
members() {
    array "$1"
    quiet
    refused "in use by md7|RAID" /dev/left /dev/right
    ext4 /dev/md7
    quiet
    refused "ext4|ext filesystem" /dev/md7 /dev/left
    mounted /dev/md7 array
    quiet
    refused "mounted at /mnt/array" /dev/md7 /mnt/array/data
    refused "in use|mounted|RAID" /dev/right /mnt/array/data
    unmount array
    mdadm --quiet --stop /dev/md7
    refused "RAID" /dev/left /dev/right
    refused "RAID" /dev/right /dev/left
}

long_test_members_with_metadata_0_90() {
    members 0.90
}

long_test_members_with_metadata_1_0() {
    members 1.0
}

long_test_members_with_metadata_1_1() {
    members 1.1
}

test_members_with_metadata_1_2() {
    members 1.2
}

test_array_of_partitions() {
    disk left 24
    disk right 24
    for side in left right; do
        printf '1MiB,20MiB,L\n' | sfdisk -q --label dos /dev/$side
        wait_for "test -b /dev/${side}1"
    done
    modprobe raid1
    mdadm --quiet --create /dev/md7 --run --assume-clean --metadata=1.2 --level=1 --raid-devices=2 /dev/left1 /dev/right1
    later "mdadm --quiet --stop /dev/md7"
    ext4 /dev/md7
    mounted /dev/md7 array
    quiet
    refused "partition|in use|mounted" /dev/left /mnt/array/data
    refused "in use|mounted|RAID" /dev/right1 /mnt/array/data
}
