# Trims and writes that fail. The device has two bad blocks of 64 KiB.
own="fathom fio --name=t --filename=/dev/bad --bs=64k --size=512k --direct=1 --continue_on_error=all"
own="$own --block_error_percentiles=1 --percentile_list=25:50:100"

bad_device() {
    disk bad 8 discard=1
    echo "+128-383" > /sys/kernel/config/nullb/bad/badblocks
}

# Blocks have 3 trims but those whose first one fails.
test_failed_trims_end_the_life_of_blocks() {
    bad_device
    expect 0 "states +: unwritten=0, trimmed=0, written=6, trim failure=2, write failure=0" $own --rw=trimwrite --loops=3
    grep -q "| 25.00th=0, 50.00th=3, 100.00th=3" /tmp/out || fail "no such trims: $(cat /tmp/out)"
}

test_failed_writes_end_the_life_of_blocks() {
    bad_device
    own="$own --rw=write --verify=crc32c --trim_percentage=100 --trim_backlog=1 --loops=2"
    expect "0 1" "states +: unwritten=0, trimmed=6, written=0, trim failure=0, write failure=2" $own
    grep -q "| 25.00th=0, 50.00th=2, 100.00th=2" /tmp/out || fail "no such trims: $(cat /tmp/out)"
}
