# Commands to the character devices of NVMe namespaces (io_uring_cmd).

# commanded SERIAL: sets `block` and `character` to the devices of a namespace, which is zeroed when the test ends.
commanded() {
    block=$(namespaces_of "$1")
    character=/dev/ng${block#/dev/nvme}
    [ -b "$block" ] && [ -c "$character" ] || fail "the guest lacks the disk $1 or its character device"
    later "dd if=/dev/zero of=$block bs=1M oflag=direct"
}

# zeroed START COUNT: reports whether blocks of 4 KiB of `block` hold nothing but zeros.
zeroed() {
    [ "$(dd if="$block" bs=4k skip="$1" count="$2" iflag=direct 2> /dev/null | tr -d '\0' | head -c 1 | wc -c)" = 0 ]
}

commands="fathom run --progress off --name=t --bs=4k --size=1m --ioengine=io_uring_cmd"

# refused_commands PATTERN PATH [GUARDED]...: checks that writes, zeroes, uncorrectable blocks and trims are refused, with
# both faces, and that neither the block device nor the other paths change.
refused_commands() {
    local pattern=$1 path=$2 before options
    shift 2
    before=$(digest "$block" "$@")
    for options in --rw=write "--rw=write --write_mode=zeroes" "--rw=write --write_mode=uncor" --rw=trim \
        "--rw=randwrite --write_mode=verify/50:zeroes" "--rw=randrw --rwmixread=99"; do
        expect 2 "$pattern" $commands $options --filename="$path"
        grep -q "nothing was touched" /tmp/out || fail "it does not say that nothing was touched: $(cat /tmp/out)"
        grep -q "$path would be overwritten" /tmp/out || fail "it does not name $path: $(cat /tmp/out)"
    done
    [ "$before" = "$(digest "$block" "$@")" ] || fail "$path was refused, but data have changed"
}

# refused_as_fio PATTERN PATH: the same for `fathom fio`.
refused_as_fio() {
    local before=$(digest "$block")
    expect "1 2" "$1" fathom fio --name=t --rw=write --bs=4k --size=1m --ioengine=io_uring_cmd --filename="$2"
    [ "$before" = "$(digest "$block")" ] || fail "$2 was refused, but data have changed"
}

long_test_counts_are_those_of_fio() {
    commanded plain
    for options in "--rw=read" "--rw=randwrite --iodepth=8" "--rw=randread --iodepth=4 --bs=8k --norandommap" "--rw=write --fixedbufs=1" \
        "--rw=randread --registerfiles=1 --nonvectored=0 --iodepth=16" "--rw=read --force_async=2 --iodepth=4"; do
        for program in fio "fathom fio"; do
            timeout -s KILL 300 $program --name=t --size=4m --ioengine=io_uring_cmd --filename="$character" --bs=4k $options \
                > /tmp/out 2>&1 || fail "$program $options: $(cat /tmp/out)"
            grep -oE "issued rwts: total=[0-9,]*|err= *[0-9]+" /tmp/out > "/tmp/counts.${program%% *}"
        done
        cmp -s /tmp/counts.fio /tmp/counts.fathom ||
            fail "$options: $(cat /tmp/counts.fio) in fio, $(cat /tmp/counts.fathom) in Fathom"
    done
}

# Each program checks the data of the other, through commands and through the block device.
test_data_are_exchanged_with_fio() {
    commanded plain
    check="--name=t --rw=read --size=2m --bs=4k --verify=crc32c --direct=1"
    fathom fio --name=t --rw=randwrite --size=2m --bs=4k --iodepth=8 --ioengine=io_uring_cmd --filename="$character" \
        --verify=crc32c > /tmp/out 2>&1 || fail "$(cat /tmp/out)"
    expect 0 "err= 0" fio $check --ioengine=psync --filename="$block"
    expect 0 "err= 0" fio ${check% *} --ioengine=io_uring_cmd --filename="$character"
    fio --name=t --rw=write --size=2m --bs=4k --ioengine=io_uring_cmd --filename="$character" --verify=crc32c --do_verify=0 \
        > /tmp/out 2>&1 || fail "$(cat /tmp/out)"
    expect 0 "err= 0" fathom fio ${check% *} --ioengine=io_uring_cmd --filename="$character"
    # A block that changes below the commands is found.
    dd if=/dev/urandom of="$block" bs=512 seek=100 count=1 oflag=direct 2> /dev/null
    expect 1 "verif" fathom fio ${check% *} --ioengine=io_uring_cmd --filename="$character"
}

test_verification_reads_what_was_written() {
    commanded plain
    expect "0 4" write $commands --rw=randwrite --iodepth=8 --verify=crc32c --filename="$character"
    expect "0 4" write $commands --rw=randrw --iodepth=8 --verify=sha256 --filename="$character" --fsync=16
    # What Fathom left there needs no permission, by either name.
    expect "0 4" write $commands --rw=write --filename="$character"
    expect "0 4" write $writes --direct=1 --filename="$block"
    expect "0 4" write $commands --rw=write --filename="$character"
}

test_trims_deallocate() {
    commanded plain
    head -c 2097152 /dev/urandom | dd of="$block" bs=1M oflag=direct 2> /dev/null
    expect 2 "would be overwritten" $commands --rw=trim --filename="$character"
    expect "0 4" trim $commands --rw=trim --filename="$character" --allow-destroy="$block"
    zeroed 0 256 || fail "trimmed blocks have data"
    ! zeroed 256 1 || fail "more was trimmed"
    expect "0 4" trim $commands --rw=trimwrite --iodepth=4 --filename="$character" --allow-destroy="$character"
}

test_content_needs_the_permission_of_the_block_device() {
    commanded plain
    ext4 "$block"
    refused_commands "ext4|ext filesystem" "$character"
    expect "0 4" write $commands --rw=write --filename="$character" --allow-destroy="$block"
    ext4 "$block"
    expect "0 4" write $commands --rw=write --filename="$character" --allow-destroy="$character"
}

test_mounted_namespace_is_read_only() {
    commanded plain
    ext4 "$block"
    mounted "$block" commands
    refused_commands "mounted at /mnt/commands" "$character" /mnt/commands/data
    refused_as_fio "mounted at /mnt/commands" "$character"
    # Reads and Verify change nothing.
    before=$(digest "$block" /mnt/commands/data)
    expect "0 4" read $commands --rw=randread --iodepth=8 --filename="$character"
    expect "0 4" write $commands --rw=write --write_mode=verify --filename="$character"
    [ "$before" = "$(digest "$block" /mnt/commands/data)" ] || fail "reads have changed data"
}

long_test_other_names_of_a_mounted_namespace_are_read_only() {
    commanded plain
    ext4 "$block"
    mounted "$block" commands
    mknod /tmp/alias c $((0x$(stat -c %t "$character"))) $((0x$(stat -c %T "$character")))
    ln -s "$character" /tmp/link
    ln "$character" /dev/hard
    later "rm /tmp/alias /tmp/link /dev/hard"
    for path in /tmp/alias /tmp/link /dev/hard; do
        refused_commands "mounted at /mnt/commands" "$path" /mnt/commands/data
        refused_as_fio "mounted at /mnt/commands" "$path"
    done
}

test_mounted_partition_protects_the_namespace() {
    commanded plain
    printf '1MiB,16MiB,L\n' | sfdisk -q --label gpt "$block"
    later "sfdisk -q --delete $block"
    wait_for "test -b ${block}p1"
    ext4 "${block}p1"
    mounted "${block}p1" commands
    refused_commands "mounted at /mnt/commands" "$character" /mnt/commands/data
    refused_as_fio "mounted at /mnt/commands" "$character"
}

test_stacked_namespace_is_in_use() {
    commanded plain
    dmsetup create upper --table "0 32768 linear $block 65536"
    later "dmsetup remove upper"
    refused_commands "in use" "$character"
    refused_as_fio "in use" "$character"
}

test_swap_on_a_namespace_is_in_use() {
    commanded plain
    mkswap "$block" > /dev/null
    swapon "$block"
    later "swapoff $block"
    refused_commands "swap" "$character"
    refused_as_fio "swap" "$character"
}

test_held_namespace_is_in_use() {
    commanded plain
    hold "$block"
    refused_commands "O_EXCL" "$character"
    refused_as_fio "O_EXCL" "$character"
}

# The claim of the block device also holds against mounts during a run.
test_a_run_holds_the_block_device() {
    commanded plain
    $commands --rw=write --filename="$character" --time_based --runtime=60 > /tmp/run 2>&1 &
    run=$!
    later "kill $run; wait $run"
    wait_for "ls -l /proc/$run/fd | grep -q $block"
    expect 2 "O_EXCL|lock|in use" $writes --filename="$block"
}

test_unknown_block_device_is_refused() {
    commanded plain
    # Within /dev, so that it stays the kernel's node, which goes with the device.
    mv "$block" /dev/moved
    later "mv /dev/moved $block"
    expect 2 "allow-destroy" $commands --rw=write --filename="$character"
    expect "1 2" "is not its block device" fathom fio --name=t --rw=write --bs=4k --size=1m --ioengine=io_uring_cmd --filename="$character"
    mv /dev/moved "$block"
    later "mv $block /dev/moved"
    mount -t tmpfs none /sys
    later "umount /sys"
    expect 2 "/sys/dev/char/.*block device" $commands --rw=write --filename="$character"
    expect "1 2" "/sys/dev/char/.*block device" fathom fio --name=t --rw=write --bs=4k --size=1m --ioengine=io_uring_cmd \
        --filename="$character"
    umount /sys
    zeroed 0 256 || fail "data have changed"
    mount -t tmpfs none /sys
}

# With multipath the namespace has one node; without, one for each controller.
test_namespace_of_two_controllers() {
    commanded shared
    ext4 "$block"
    mounted "$block" shared
    refused_commands "mounted at /mnt/shared" "$character" /mnt/shared/data
}

test_other_files_take_no_commands() {
    commanded plain
    for path in "$block" /dev/null /tmp/none; do
        expect 2 "$path" $commands --rw=read --filename="$path"
    done
    expect 2 "ngXnY" fathom run --progress off --name=t --rw=read --bs=4k --size=1m --ioengine=io_uring_cmd
    expect "2 3" "multiples of .* 512 bytes" $commands --bs=1000 --rw=read --filename="$character"
    expect 2 "io_uring_cmd" fathom run --progress off --name=t --rw=read --bs=4k --size=1m --ioengine=io_uring --filename="$character"
}

test_writes_are_other_commands() {
    commanded plain
    head -c 2097152 /dev/urandom | dd of="$block" bs=1M oflag=direct 2> /dev/null
    before=$(digest "$block")
    expect "0 4" write $commands --rw=write --write_mode=verify --filename="$character"
    [ "$before" = "$(digest "$block")" ] || fail "Verify has changed data"
    expect "0 4" write $commands --rw=write --write_mode=zeroes --deac=1 --writefua=1 --readfua=1 --filename="$character" --allow-destroy="$block"
    zeroed 0 256 || fail "blocks have data"
    ! zeroed 256 1 || fail "more blocks are zero"
    # QEMU has no Write Uncorrectable.
    expect 3 "does not support this command" $commands --rw=write --write_mode=uncor --filename="$character" --allow-destroy="$block"
    expect "0 4" write $commands --rw=randwrite --iodepth=4 --write_mode=write/50:zeroes/30:verify/20 --filename="$character" --allow-destroy="$block"
}

# Jobs on namespaces with protection information are of `fathom fio`, which does not look at the content: QEMU fails reads of
# the kernel there.

# Data of 512 bytes with 8 bytes of protection information in a buffer of its own.
test_separate_protection_information() {
    commanded separate
    own="fathom fio --name=t --bs=4k --size=1m --ioengine=io_uring_cmd --filename=$character"
    expect 0 "err= 0" $own --rw=randwrite --iodepth=8 --verify=crc32c
    expect 0 "err= 0" $own --rw=read --pi_chk=GUARD,REFTAG
    own="$own --pi_act=0 --pi_chk=GUARD,REFTAG,APPTAG"
    expect 1 "md_per_io_size=64" $own --rw=read
    own="$own --md_per_io_size=64"
    expect 0 "err= 0" $own --rw=randwrite --iodepth=8 --verify=crc32c
    expect 0 "err= 0" $own --rw=read
    # Blocks have the tags that they were written with.
    expect 1 "apptag" $own --rw=read --apptag=0x4321
    expect 0 "err= 0" $own --rw=read --apptag=0x12ff --apptag_mask=0xff00
}

# The kernel lets a device write the metadata of a read to a page that is mapped for reading only, such as its page of
# zeros, with which new memory of all processes begins. Data in a hole of a file in memory are that page.
test_metadata_of_reads_leave_the_page_of_zeros() {
    commanded separate
    own="fathom fio --name=t --bs=4k --size=1m --ioengine=io_uring_cmd --filename=$character --pi_act=0 --md_per_io_size=64"
    own="$own --iodepth=8 --pi_chk=GUARD,REFTAG"
    expect 0 "err= 0" $own --rw=write
    expect 0 "err= 0" $own --rw=randread
    truncate -s 4096 /tmp/hole
    [ "$(tr -d '\0' < /tmp/hole | wc -c)" = 0 ] || fail "the page of zeros has data"
}

# The 8 bytes behind the data of each block.
long_test_extended_protection_information() {
    commanded extended
    own="fathom fio --name=t --ioengine=io_uring_cmd --filename=$character"
    expect 0 "err= 0" $own --rw=randwrite --bs=4k --size=1m --iodepth=8 --verify=crc32c
    own="$own --size=1040k --pi_act=0 --pi_chk=GUARD,REFTAG,APPTAG"
    expect 1 "520 bytes \(512 of data and 8 of metadata\)" $own --rw=read --bs=4k
    expect 0 "err= 0" $own --rw=write --bs=4160
    expect 0 "err= 0" $own --rw=randread --bs=4160 --iodepth=4
    expect 1 "apptag" $own --rw=read --bs=4160 --apptag=0x4321
    expect 1 "pi_act=0.*verification" $own --rw=write --bs=4160 --verify=crc32c
    expect 0 "err= 0" fathom fio --name=t --ioengine=io_uring_cmd --filename=$character --rw=read --bs=4k --size=1m --pi_chk=GUARD,REFTAG
}

# Checksums of 64 bits.
long_test_wide_protection_information() {
    commanded wide
    own="$commands --filename=$character --pi_act=0 --pi_chk=GUARD,REFTAG,APPTAG --md_per_io_size=16"
    expect "0 4" write $own --rw=randwrite --iodepth=8 --verify=crc32c --allow-destroy="$character"
    expect "0 4" read $own --rw=read
    expect 3 "apptag" $own --rw=read --apptag=0x4321
}

test_trims_of_several_ranges() {
    commanded plain
    head -c 4194304 /dev/urandom | dd of="$block" bs=1M oflag=direct 2> /dev/null
    expect "0 4" '"total_ios" : 32,' fathom fio --name=t --rw=randtrim --bs=4k --size=1m --num_range=8 --iodepth=4 \
        --ioengine=io_uring_cmd --filename="$character" --output-format=json
    grep -q '"io_bytes" : 1048576,' /tmp/out || fail "not all bytes: $(cat /tmp/out)"
    zeroed 0 256 || fail "trimmed blocks have data"
    ! zeroed 256 1 || fail "more was trimmed"
    # Fewer ranges than the others at the end.
    expect "0 4" '"total_ios" : 4,' fathom fio --name=t --rw=trim --bs=4k --size=40k --num_range=3 --offset=2m \
        --ioengine=io_uring_cmd --filename="$character" --output-format=json
    zeroed 512 10 || fail "trimmed blocks have data"
    ! zeroed 522 1 || fail "more was trimmed"
}

test_the_device_compares() {
    commanded plain
    compared="$commands --filename=$character --verify=pattern --verify_pattern=0xdeadbeef --verify_mode=compare --iodepth=4"
    expect "0 4" write $compared --rw=randwrite
    expect "0 4" read $compared --rw=read
    dd if=/dev/urandom of="$block" bs=512 seek=100 count=1 oflag=direct 2> /dev/null
    expect 1 "1 mismatch" $compared --rw=read
}

# The devices of this QEMU place no data.
test_placement_needs_a_device_that_has_it() {
    commanded plain
    for options in --fdp=1 "--dataplacement=fdp --plids=0,2-4"; do
        expect "2 3" "does not report placement identifiers" $commands --rw=write --filename="$character" $options
    done
    printf '0, 4096, 0\n1, x, 2\n' > /tmp/scheme
    expect "2 3" "dp_scheme=.*line 2" $commands --rw=write --filename="$character" --fdp=1 --plid_select=scheme \
        --dp_scheme=/tmp/scheme
    rm /tmp/scheme
}
