# The kernel's NBD driver under `serve --device`, and exports as targets.

serve_device() {
    mkdir -p /run/fathom-test
    # They name the device of the previous server, and the background process empties them only when it runs.
    rm -f /tmp/served.out /tmp/served.err
    fathom serve --device "$@" > /tmp/served.out 2> /tmp/served.err &
    server=$!
    later "kill -9 $server"
    wait_for "grep -Eo '/dev/nbd[0-9]+' /tmp/served.out /tmp/served.err"
    device=$(grep -Eoh '/dev/nbd[0-9]+' /tmp/served.out /tmp/served.err | head -n 1)
    wait_for "[ \"\$(blockdev --getsize64 $device)\" -gt 0 ]"
}

stop_server() {
    kill -INT $server
    local code=0
    wait $server || code=$?
    [ $code = 0 ] || fail "the server ended with code $code: $(cat /tmp/served.err)"
    wait_for "[ ! -e /sys/block/${device#/dev/}/pid ]"
}

test_filesystem_on_a_served_device() {
    serve_device custom,size=32MiB,iops=20000,latency=100us
    ext4 "$device"
    mkdir -p /mnt/served
    mount -t ext4 "$device" /mnt/served
    later "umount /mnt/served"
    head -c 4000000 /dev/urandom > /mnt/served/data
    before=$(digest /mnt/served/data)
    umount /mnt/served
    mount -t ext4 "$device" /mnt/served
    [ "$before" = "$(digest /mnt/served/data)" ] || fail "the file has changed"
    expect 2 "mounted at /mnt/served" $writes --filename="$device"
    umount /mnt/served
    expect 2 "ext4|ext filesystem" $writes --filename="$device"
    stop_server
}

test_read_only_export() {
    serve_device custom,size=16MiB,iops=20000,latency=100us --read-only
    [ "$(blockdev --getro "$device")" = 1 ] || fail "the device takes writes"
    expect "2 3" "read-only|not permitted" $writes --filename="$device"
    stop_server
}

test_two_exports_have_two_devices() {
    serve_device --export a=custom,size=16MiB --export b=custom,size=24MiB
    wait_for "[ \"\$(grep -Eoh '/dev/nbd[0-9]+' /tmp/served.out /tmp/served.err | sort -u | wc -l)\" = 2 ]"
    sizes=$(for at in $(grep -Eoh '/dev/nbd[0-9]+' /tmp/served.out /tmp/served.err | sort -u); do blockdev --getsize64 "$at"; done | sort -n | tr '\n' ' ')
    [ "$sizes" = "16777216 25165824 " ] || fail "sizes: $sizes"
    stop_server
}

# The kernel ends the connection of a killed server; nothing is left, and the device is free for the next server.
test_killed_server_leaves_nothing() {
    serve_device custom,size=16MiB,iops=20000,latency=100us
    kill -9 $server
    wait $server 2>/dev/null || true
    wait_for "[ ! -e /sys/block/${device#/dev/}/pid ]"
    expect 0 "." fathom serve --cleanup
    old=$device
    serve_device custom,size=16MiB,iops=20000,latency=100us
    [ "$device" = "$old" ] || fail "$old was not free again: $device"
    permitted "$device"
    stop_server
}

test_server_is_killed_while_its_device_is_written() {
    serve_device custom,size=16MiB,iops=20000,latency=100us
    code=0
    fathom run --progress off --name=t --rw=randwrite --bs=4k --iodepth=4 --ioengine=io_uring --direct=1 --time_based --runtime=60 \
        --filename="$device" > /tmp/run.out 2> /tmp/run.err &
    running=$!
    sleep 2
    kill -9 $server
    wait_for "! kill -0 $running"
    wait $running || code=$?
    [ $code = 3 ] || fail "exit code $code, not 3: $(cat /tmp/run.err)"
    grep -q panicked /tmp/run.err && fail "it panicked"
    wait_for "[ ! -e /sys/block/${device#/dev/}/pid ]"
    expect 0 "." fathom serve --cleanup
}

test_device_of_a_server_that_is_still_mounted_when_it_ends() {
    serve_device custom,size=32MiB,iops=20000,latency=100us
    ext4 "$device"
    mkdir -p /mnt/served
    mount -t ext4 "$device" /mnt/served
    later "umount -l /mnt/served"
    kill -INT $server
    code=0
    wait $server || code=$?
    grep -q panicked /tmp/served.err && fail "it panicked: $(cat /tmp/served.err)"
    [ $code = 3 ] || [ $code = 0 ] || fail "exit code $code: $(cat /tmp/served.err)"
}

# The rules for writing to devices also hold for exports.
test_export_that_holds_a_filesystem() {
    truncate -s 32M /tmp/exported
    later "rm -f /tmp/exported"
    ext4 /tmp/exported
    before=$(digest /tmp/exported)
    fathom serve custom,size=32MiB,iops=20000,latency=100us --backing file:/tmp/exported --socket /tmp/socket --allow-destroy /tmp/exported > /tmp/served.out 2>&1 &
    server=$!
    later "kill $server"
    wait_for "test -S /tmp/socket"
    uri='nbd+unix:///?socket=/tmp/socket'
    expect 2 "ext4|ext filesystem" fathom run --progress off --name=t --rw=write --bs=4k --size=512k --ioengine=nbd "--uri=$uri"
    expect 2 "ext4|ext filesystem" fathom run --progress off --name=t --rw=randtrim --bs=4k --size=512k --ioengine=nbd "--uri=$uri"
    expect "0 4" read fathom run --progress off --name=t --rw=randread --bs=4k --size=4m --ioengine=nbd "--uri=$uri"
    [ "$before" = "$(digest /tmp/exported)" ] || fail "the export has changed"
}
