# Device-mapper: devices below a mapping are in use, at any depth.

# Few iterations, because they take seconds in a guest without KVM.
luks_options="--batch-mode --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --key-file /tmp/key"

luks() {
    disk vault 32
    printf secret > /tmp/key
    cryptsetup luksFormat $luks_options /dev/vault
}

luks_open() {
    cryptsetup open --key-file /tmp/key /dev/vault opened
    later "cryptsetup close opened"
    wait_for "test -e /dev/mapper/opened"
}

test_closed_luks() {
    luks
    refused "LUKS" /dev/vault
}

long_test_closed_luks_1() {
    luks_options="--batch-mode --type luks1 --pbkdf-force-iterations 1000 --key-file /tmp/key"
    luks
    refused "LUKS" /dev/vault
}

test_open_luks() {
    luks
    luks_open
    refused "LUKS|in use" /dev/vault
}

test_open_and_mounted_luks() {
    luks
    luks_open
    ext4 /dev/mapper/opened
    mounted /dev/mapper/opened inside
    refused "mounted at /mnt/inside" /dev/mapper/opened /dev/vault
    refused "LUKS|in use|mounted" /dev/vault /mnt/inside/data
}

# Without a header there is no format to recognize, but the device is not empty.
long_test_plain_dm_crypt() {
    disk vault 24
    head -c 32 /dev/zero > /tmp/key
    cryptsetup open --batch-mode --type plain --cipher aes-xts-plain64 --key-size 256 --key-file /tmp/key /dev/vault opened
    later "cryptsetup close opened"
    ext4 /dev/mapper/opened
    refused "in use" /dev/vault
    cryptsetup close opened
    refused "data" /dev/vault
}

long_test_linear_over_linear() {
    disk lower 32
    dmsetup create middle --table "0 49152 linear /dev/lower 2048"
    later "dmsetup remove middle"
    dmsetup create upper --table "0 40960 linear /dev/mapper/middle 4096"
    later "dmsetup remove upper"
    refused "in use" /dev/lower
    refused "in use" /dev/mapper/middle /dev/lower
    ext4 /dev/mapper/upper
    mounted /dev/mapper/upper top
    refused "in use|mounted" /dev/lower /mnt/top/data
    refused "in use|mounted" /dev/mapper/middle /mnt/top/data
    refused "mounted at /mnt/top" /dev/mapper/upper /mnt/top/data
}

test_mapping_over_a_loop_device() {
    truncate -s 32M /tmp/backing
    later "rm -f /tmp/backing"
    loop_over /tmp/backing
    dmsetup create upper --table "0 61440 linear $loop 2048"
    later "dmsetup remove upper"
    refused "in use" "$loop"
    ext4 /dev/mapper/upper
    mounted /dev/mapper/upper top
    refused "in use|mounted" "$loop" /mnt/top/data
    refused "loop" /tmp/backing /mnt/top/data
}

test_mapping_that_is_empty_is_written() {
    disk lower 32
    dmsetup create upper --table "0 32768 linear /dev/lower 2048"
    later "dmsetup remove upper"
    permitted /dev/mapper/upper
}

test_snapshot_origin() {
    disk lower 32
    disk changes 16
    dmsetup create origin --table "0 65536 snapshot-origin /dev/lower"
    later "dmsetup remove origin"
    dmsetup create snap --table "0 65536 snapshot /dev/lower /dev/changes N 8"
    later "dmsetup remove snap"
    refused "in use" /dev/lower
    refused "in use|data" /dev/changes
}
