# Captures of devices that plain hosts may lack: partitions, mappings, RAID, a scheduler.

# Where requests come from; empty for the default.
source=

# captured DEVICE COMMAND...: captures DEVICE while COMMAND runs, into /tmp/capture.json.
captured() {
    local device=$1 code=0 id
    shift
    mkdir -p /tmp/tracefs
    if [ ! -e /tmp/tracefs/instances ]; then
        mount -t tracefs tracefs /tmp/tracefs
        later "umount /tmp/tracefs"
    fi
    fathom capture "$device" ${source:+--source $source} --summary-only --format json --progress off > /tmp/capture.json 2> /tmp/capture.err &
    id=$!
    # Events of an instance, or all programs in the kernel.
    local instance=/tmp/tracefs/instances/fathom-$id
    wait_for "cat $instance/events/block/block_*_complete/enable 2>/dev/null | grep -q 1 && grep -q 1 $instance/tracing_on ||
        [ \$(grep -l ^link_type: /proc/$id/fdinfo/* 2>/dev/null | wc -l) -eq 5 ]"
    sleep 0.1
    "$@"
    sleep 1
    kill -INT $id
    wait $id || code=$?
    [ $code = 130 ] || fail "exit code $code: $(cat /tmp/capture.err /tmp/capture.json)"
    [ ! -e /tmp/tracefs/instances/fathom-$id ] || fail "the instance is left"
    has '"is_trustworthy": true'
    has '"lost_events": 0'
}

# has TEXT: checks the result of the capture.
has() {
    grep -Fq "$1" /tmp/capture.json || fail "no $1 in $(cat /tmp/capture.json)"
}

# load DEVICE: writes 512 KiB in 128 requests.
load() {
    fathom fio --name=t --rw=write --bs=4k --size=512k --direct=1 --ioengine=psync --filename="$1" > /dev/null
}

both() {
    load "$1"
    load "$2"
}

test_partition() {
    disk lower 32
    printf '1MiB,8MiB,L\n16MiB,8MiB,L\n' | sfdisk -q --label dos /dev/lower
    wait_for "test -b /dev/lower2"
    for source in bpf tracefs; do
        captured /dev/lower2 both /dev/lower1 /dev/lower2
        has "\"source\": \"$source\""
        has '"bytes": 524288'
        has '"device": "lower2"'
    done
}

test_mapping() {
    disk lower 32
    dmsetup create upper --table "0 49152 linear /dev/lower 2048"
    later "dmsetup remove upper"
    captured /dev/mapper/upper load /dev/mapper/upper
    has '"events": "bios"'
    has '"bytes": 524288'
    has '"in_flight_at_end": 0'
}

long_test_raid() {
    modprobe raid1
    disk one 32
    disk two 32
    mdadm --quiet --create /dev/md0 --level 1 --raid-devices 2 --run --assume-clean /dev/one /dev/two
    later "mdadm --quiet --stop /dev/md0"
    captured /dev/md0 load /dev/md0
    has '"events": "bios"'
    has '"bytes": 524288'
    captured /dev/one load /dev/md0
    has '"events": "requests"'
}

long_test_scheduler() {
    disk lower 32
    modprobe mq-deadline 2>/dev/null || true
    echo mq-deadline > /sys/block/lower/queue/scheduler
    for source in bpf tracefs; do
        captured /dev/lower load /dev/lower
        has "\"source\": \"$source\""
        has '"bytes": 524288'
        ! grep -q '"queued_ns": null' /tmp/capture.json || fail "no time in the queue: $(cat /tmp/capture.json)"
    done
}

# known_load DEVICE: reads and writes at a depth of 16. Its result goes to /tmp/known.json.
known_load() {
    fathom fio --name=t --rw=randrw --rwmixread=70 --bssplit=4k/75:16k/25 --norandommap --iodepth=16 --ioengine=libaio \
        --direct=1 --time_based --runtime=2 --output-format=json --output=/tmp/known.json --filename="$1"
}

# number FILE OPERATION KEY...: prints the number after an operation and keys, each below the one before.
number() {
    local file=$1
    shift
    awk -v words="$*" 'BEGIN { count = split(words, keys, " "); at = 1 }
        index($0, "\"" keys[at] "\"") && at++ == count { sub(/.*: */, ""); print $0 + 0; exit }' "$file"
}

# same CAPTURED KNOWN WHAT: checks that two counts are equal, and not zero.
same() {
    [ "${1:-0}" != 0 ] && [ "$1" = "$2" ] || fail "$3: $1, not $2: $(cat /tmp/known.json /tmp/capture.json)"
}

# The device takes at least 100 ms for each request, and what the generator counts as its latency includes the time until
# the device has a request: the depth at the device is between the two.
long_test_known_load() {
    local kind requests depth
    disk slow 64 irqmode=2 completion_nsec=100000000
    for source in bpf tracefs; do
        captured /dev/slow known_load /dev/slow
        requests=0 depth=0
        for kind in read write; do
            same "$(number /tmp/capture.json operations $kind bytes)" "$(number /tmp/known.json $kind io_bytes)" "$kind: bytes"
            same "$(number /tmp/capture.json operations $kind queued_ns requests)" \
                "$(number /tmp/known.json $kind total_ios)" "$kind: requests"
            requests=$((requests + $(number /tmp/known.json $kind total_ios)))
            depth=$(awk -v depth="$depth" -v iops="$(number /tmp/known.json $kind iops)" \
                -v ns="$(number /tmp/known.json $kind lat_ns mean)" 'BEGIN { print depth + iops * ns / 1e9 }')
        done
        awk -v mean="$(number /tmp/capture.json queue_depth busy_fraction mean)" -v upper="$depth" -v requests="$requests" \
            -v ms="$(number /tmp/known.json job_runtime)" 'BEGIN {
                lower = requests * 100 / ms
                printf "a mean depth of %s, expected between %s and %s\n", mean, lower, upper
                exit !(requests > 0 && mean > 0.99 * lower && mean < 1.01 * upper) }' > /tmp/depth ||
            fail "$(cat /tmp/depth /tmp/known.json /tmp/capture.json)"
        has '"max": 16'
    done
}
