# The protocol vsock of the network engines, over the loopback of the kernel (CID 1).

exchange() {
    modprobe vsock_loopback
    expect "0 4" "bytes|received|read" fathom run --progress off --name=receiver --ioengine="$1" --protocol=vsock --port=8765 --listen --rw=read --bs=64k \
        --size=16m --verify=crc32c --name=sender --ioengine="$1" --protocol=vsock --port=8765 --hostname=1 --rw=write --bs=64k --size=16m \
        --verify=crc32c --format=json
    grep -q '"error": [1-9]' /tmp/out && fail "an error: $(cat /tmp/out)"
    return 0
}

test_jobs_exchange_blocks() {
    exchange net
}

long_test_jobs_exchange_blocks_through_pipes() {
    exchange netsplice
}

test_round_trips_and_clones() {
    modprobe vsock_loopback
    expect 0 "issued rwts: total=512,512" fathom fio --ioengine=net --protocol=vsock --port=8800 --pingpong=1 --bs=4k --size=1m --numjobs=2 \
        --group_reporting --name=receiver --listen --rw=read --name=sender --hostname=1 --rw=write
}

long_test_missing_peers_and_machines_are_named() {
    modprobe vsock_loopback
    expect 3 "CID 1, vsock port 8765" fathom run --progress off --name=t --ioengine=net --protocol=vsock --port=8765 --hostname=1 --rw=write --bs=4k \
        --size=64k
    expect 2 "no context ID" fathom run --progress off --name=t --ioengine=net --protocol=vsock --port=8765 --hostname=localhost --rw=write --bs=4k \
        --size=64k
}
