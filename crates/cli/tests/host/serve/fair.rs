//! Fairness between clients of one volume, and the cost of holes, in real time.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use super::client::{Client, READ};
use super::place::{Place, stopped};
use crate::common::devices::tool;
use crate::common::host::{timed, within};
use crate::common::{Scratch, require};

/// 4.096 MB/s: a request of 1 MiB takes 0.25 s.
const SLOW: &str = "custom,size=64MiB,throughput=4096kB/s,latency=100us";
const SLOW_BYTES_PER_SEC: f64 = 4.096e6;

/// Returns the reads that a client with `depth` in flight completes within a span.
fn reads(socket: &Path, depth: u64, length: u32, span: Range<Instant>) -> u64 {
    let mut client = Client::connect(socket, "");
    (0..depth).for_each(|cookie| client.send(READ, 0, cookie, 0, length, &[]));
    let mut count = 0;
    loop {
        let (error, cookie) = client.reply();
        client.bytes(length as usize);
        assert_eq!(error, 0);
        let now = Instant::now();
        if now >= span.end {
            return count;
        }
        count += u64::from(now >= span.start);
        client.send(READ, 0, cookie, cookie << 20, length, &[]);
    }
}

#[test]
fn large_and_small_requests_share_a_volume_fairly() {
    timed("serve::fair::large_and_small_requests_share_a_volume_fairly", large_and_small);
}

fn large_and_small() -> Result<(), String> {
    let place = Place::new();
    let _server = place.serve(SLOW);
    let (socket, secs) = (place.path("s"), 4);
    // Requests in flight when the second client connects keep their schedule; fairness starts after them.
    let start = Instant::now() + Duration::from_secs(3);
    let span = start..start + Duration::from_secs(secs);
    let (large, small) = std::thread::scope(|scope| {
        let large = scope.spawn(|| reads(&socket, 4, 1 << 20, span.clone()));
        let small = scope.spawn(|| reads(&socket, 1, 4096, span.clone()));
        (large.join().unwrap(), small.join().unwrap())
    });
    let (large, small) = (large as f64 / secs as f64, small as f64 / secs as f64);
    // The model gives 2 large and 500 small reads per second; in order of arrival there would be one small read per
    // second.
    let fraction = (large * f64::from(1 << 20) + small * 4096.0) / SLOW_BYTES_PER_SEC;
    if small > 150.0 && large > 1.2 && (0.75..1.08).contains(&fraction) {
        return Ok(());
    }
    Err(format!("{large} large and {small} small reads a second are {fraction} of the volume"))
}

/// Returns how long `work` takes, in seconds.
fn seconds_of(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64()
}

#[test]
fn holes_cost_time_only_if_they_are_read() {
    require!(NbdTools);
    let (place, scratch) = (Place::new(), Scratch::new());
    scratch.sparse("disk", 64 << 20);
    for store in ["memory".to_owned(), format!("file:{}", scratch.text("disk"))] {
        let serve = || place.serve(&format!("{SLOW} --backing {store}"));
        let uri = place.uri("");
        let all_read = 8.0 * f64::from(1 << 20) / SLOW_BYTES_PER_SEC;
        timed(&format!("serve::fair::holes_cost_what_is_read_of_them, {store}"), || {
            let server = serve();
            // An idle volume admits the first read at once; the second waits for the cost of the first.
            let read =
                seconds_of(|| drop(tool("qemu-io", &["-f", "raw", "-c", "read 0 8M", "-c", "read 8M 8M", &uri])));
            stopped(server).expect_code(0);
            assert!(read > all_read * 0.95, "{store}: {read} s for {all_read}");
            within(Duration::from_secs_f64(read), Duration::from_secs_f64(all_read * 2.0))
        });
        let server = serve();
        // A client that queries the holes first reads nothing; a full read would take 16 s.
        let (whole, out) = (4.0 * all_read, scratch.text("out"));
        for (program, arguments) in
            [("qemu-img", &["convert", "-f", "raw", "-O", "raw", &uri, &out][..]), ("nbdcopy", &[&uri, &out])]
        {
            timed(&format!("serve::fair::holes_cost_nothing_if_{program}_skips_them, {store}"), || {
                let skipped = seconds_of(|| drop(tool(program, arguments)));
                within(Duration::from_secs_f64(skipped), Duration::from_secs_f64(whole / 3.0))
            });
            assert_eq!(std::fs::metadata(&out).unwrap().len(), 64 << 20);
        }
        stopped(server).expect_code(0);
    }
}
