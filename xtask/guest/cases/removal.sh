# Devices that are removed during writes: the run ends, names the failed operation, and keeps its results so far.

# removed PATH COMMAND ENGINE: runs COMMAND, which removes PATH, after two seconds of random writes.
removed() {
    local path=$1 command=$2 engine=$3 code=0
    fathom run --progress off --name=t --rw=randwrite --bs=4k --iodepth=8 --ioengine="$engine" --direct=1 --time_based --runtime=60 \
        --filename="$path" -o /tmp/partial.json > /tmp/partial.txt 2> /tmp/partial.err &
    local running=$!
    sleep 2
    kill -0 $running || fail "it ended before the device went away: $(cat /tmp/partial.err)"
    eval "$command"
    local waited=0
    while kill -0 $running 2>/dev/null; do
        sleep 0.2
        waited=$((waited + 1))
        if [ $waited -gt 150 ]; then
            kill -9 $running
            fail "it still runs 30 s after the device went away"
        fi
    done
    wait $running || code=$?
    [ $code = 3 ] || fail "exit code $code, not 3: $(cat /tmp/partial.err)"
    grep -q panicked /tmp/partial.err && fail "it panicked: $(cat /tmp/partial.err)"
    grep -q "the device is gone" /tmp/partial.err || fail "it does not say why: $(cat /tmp/partial.err)"
    # The results so far are printed and in the file.
    grep -Eq "write +[0-9.]+k? IOPS .* [0-9,]+ operations" /tmp/partial.txt || fail "no results: $(cat /tmp/partial.txt)"
    tail -n 1 /tmp/partial.json | grep -q '^}$' || fail "the second output is not whole: $(tail -c 300 /tmp/partial.json)"
}

test_scsi_disk_is_deleted() {
    scsi_disk dev_size_mb=16
    removed "$scsi" "echo 1 > /sys/block/${scsi#/dev/}/device/delete" io_uring
}

long_test_scsi_disk_is_deleted_under_libaio() {
    scsi_disk dev_size_mb=16
    removed "$scsi" "echo 1 > /sys/block/${scsi#/dev/}/device/delete" libaio
}

test_nvme_controller_is_removed() {
    path=$(namespaces_of removable)
    controller=$(readlink -f "/sys/block/${path#/dev/}/device/device")
    later "echo 1 > /sys/bus/pci/rescan; sleep 1"
    removed "$path" "echo 1 > $controller/remove" io_uring
}

test_null_block_device_is_powered_off() {
    disk brief 16
    removed /dev/brief "echo 0 > /sys/kernel/config/nullb/brief/power" libaio
}

# A device that fails some requests is still present: errors are reported as such.
test_device_that_fails_while_it_stays() {
    disk lower 16
    modprobe dm_flakey
    dmsetup create flaky --table "0 32768 flakey /dev/lower 0 1 60 1 error_writes" || dmsetup create flaky --table "0 32768 flakey /dev/lower 0 1 60"
    later "dmsetup remove flaky"
    sleep 1
    expect 3 "Input/output error|I/O error" fathom run --progress off --name=t --rw=randwrite --bs=4k --size=8m --ioengine=io_uring --direct=1 \
        --filename=/dev/mapper/flaky
}
