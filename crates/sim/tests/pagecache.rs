//! Jobs that use the page cache: what they measure, and when it is not the volume.

use units::{Bytes, Nanos};
use volume::{Buffering, Spec};

use crate::common::{Outcome, constant, limited, run};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const LATENCY: Nanos = Nanos::from_millis(2);

fn slow(buffering: Buffering) -> Spec {
    Spec { buffering, ..constant(LATENCY) }
}

fn memory(bytes: u64) -> Buffering {
    Buffering { memory: Some(Bytes::new(bytes)), read_ahead: None }
}

fn simulate(spec: &Spec, options: &str) -> Outcome {
    run(spec, &format!("[a]\nfilename=/dev/x\nioengine=psync\n{options}"), 7)
}

/// Returns the throughput in MiB/s.
fn throughput(outcome: &Outcome) -> f64 {
    let bytes: u64 = outcome.summaries.iter().flat_map(|summary| &summary.directions).map(|it| it.bytes).sum();
    bytes as f64 / MIB as f64 / outcome.ended.secs_f64()
}

fn close(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() <= share, "{value:.1} instead of {expected:.1}");
}

#[test]
fn random_misses_take_the_volumes_latency_without_readahead() {
    let cold = simulate(&slow(memory(GIB)), "rw=randread\nbs=4k\nsize=64m\n");
    close(cold.iops(), 500.0, 0.001);
    let counts = cold.cache.expect("the job is buffered");
    assert_eq!((counts.reads, counts.read_hits, counts.fetched_bytes), (16384, 0, 64 * MIB));
}

#[test]
fn repeated_reads_run_at_memory_speed() {
    // The first pass has a cold cache, the other three a warm one: 0.25 us and 4 KiB at 9 GB/s. The call overhead does
    // not extend waits for the volume.
    let warm = simulate(&slow(memory(GIB)), "rw=randread\nbs=4k\nsize=64m\nloops=4\ninvalidate=0\n");
    let counts = warm.cache.expect("the job is buffered");
    assert_eq!((counts.reads, counts.read_hits), (4 * 16384, 3 * 16384));
    let warm_ns = 3.0 * 16384.0 * 705.0;
    close(warm.ended.secs_f64(), 16384.0 * (0.002 + 455e-9) + warm_ns / 1e9, 0.0001);
    let median = warm.summaries[0].directions[0].service.histogram.percentile(50.0);
    assert!(median.is_some_and(|median| median < Nanos::from_micros(1)), "the mistake: {median:?}");
}

#[test]
fn a_cache_smaller_than_a_sequential_working_set_never_hits() {
    let options = "rw=randread\nbs=4k\nsize=64m\nloops=4\n";
    let half = simulate(&slow(memory(32 * MIB)), &format!("{options}norandommap\n"));
    let counts = half.cache.expect("the job is buffered");
    close(counts.read_hits as f64 / counts.reads as f64, 0.5, 0.1);
    let in_turn = simulate(&slow(memory(32 * MIB)), "rw=read\nbs=4k\nsize=64m\nloops=4\n");
    let counts = in_turn.cache.expect("the job is buffered");
    assert!(counts.fetched_bytes >= 4 * 64 * MIB, "{}", counts.fetched_bytes);
}

#[test]
fn readahead_makes_a_sequential_reader_at_depth_1_fast() {
    // Sequential advice doubles 128 KiB. A window is requested when the one before it is reached, which is before that
    // one is present: two are in flight, so two windows take one latency and one consumption.
    let ahead = simulate(&slow(memory(GIB)), "rw=read\nbs=4k\nsize=512m\n");
    let consumption = 64.0 * 705e-9;
    close(throughput(&ahead), 2.0 * 0.25 / (0.002 + consumption), 0.01);
    let counts = ahead.cache.expect("the job is buffered");
    assert!(counts.read_hits * 100 > counts.reads * 97, "{counts:?}");
    // Without readahead: one block per latency.
    let none = Buffering { read_ahead: Some(Bytes::new(0)), ..memory(GIB) };
    close(simulate(&slow(none), "rw=read\nbs=4k\nsize=16m\n").iops(), 500.0, 0.001);
}

#[test]
fn readahead_of_8_mib_reaches_the_limit_of_the_volume() {
    // `blockdev --setra 16384`.
    let far = Buffering { read_ahead: Some(Bytes::new(8 * MIB)), ..memory(GIB) };
    let volume = Spec { buffering: far, ..limited(LATENCY, 400 * MIB) };
    close(throughput(&simulate(&volume, "rw=read\nbs=256k\nsize=2g\n")), 400.0, 0.01);
    let near = Spec { buffering: memory(GIB), ..volume };
    assert!(throughput(&simulate(&near, "rw=read\nbs=256k\nsize=2g\n")) < 260.0);
}

#[test]
fn writes_are_absorbed_up_to_the_dirty_limit_and_then_throttled() {
    // 20 % of 1 GiB is absorbed at the speed of memory; the rest is written at 100 MiB/s.
    let volume = Spec { buffering: memory(GIB), ..limited(LATENCY, 100 * MIB) };
    let short = simulate(&volume, "rw=write\nbs=64k\nsize=100m\n");
    assert!(throughput(&short) > 5000.0, "the mistake: {:.0} MiB/s", throughput(&short));
    assert_eq!(short.cache.map(|counts| counts.written_back_bytes), Some(0));
    let long = simulate(&volume, "rw=write\nbs=64k\nsize=2g\n");
    let expected = (2048.0 - 0.2 * 1024.0) / 100.0;
    close(long.ended.secs_f64(), expected, 0.01);
    let counts = long.cache.expect("the job is buffered");
    assert_eq!(counts.written_bytes, 2 * GIB);
    // Pages under write-back count as both.
    let twice = counts.written_back_bytes + long.unwritten - 2 * GIB;
    assert!(twice <= 32 * (1280 << 10), "{twice}");
    assert!(counts.writes_held > 0 && counts.held_ns > 10_000_000_000);
}

#[test]
fn random_writes_with_a_final_sync_reach_the_volume_once() {
    let volume = Spec { buffering: memory(GIB), ..limited(LATENCY, 100 * MIB) };
    let synced = simulate(&volume, "rw=randwrite\nbs=4k\nsize=64m\nend_fsync=1\n");
    let counts = synced.cache.expect("the job is buffered");
    assert_eq!((counts.written_bytes, counts.written_back_bytes, synced.unwritten), (64 * MIB, 64 * MIB, 0));
    close(synced.ended.secs_f64(), 0.64, 0.02);
}

#[test]
fn each_synchronous_write_needs_a_write_and_a_flush() {
    let each = simulate(&slow(memory(GIB)), "rw=randwrite\nbs=4k\nsize=4m\nfsync=1\n");
    close(each.ended.secs_f64(), 1024.0 * 0.004, 0.01);
    let durable = simulate(&slow(memory(GIB)), "rw=randwrite\nbs=4k\nsize=4m\nsync=dsync\n");
    close(durable.ended.secs_f64(), 1024.0 * 0.004, 0.01);
    assert_eq!(durable.cache.map(|counts| counts.written_back_bytes), Some(4 * MIB));
}

#[test]
fn partial_page_writes_read_the_page_first() {
    let half = simulate(&slow(memory(GIB)), "rw=randwrite\nbs=512\nsize=256k\n");
    let counts = half.cache.expect("the job is buffered");
    assert_eq!(counts.fetched_bytes, 256 << 10);
    close(half.ended.secs_f64(), 64.0 * 0.002, 0.01);
}

#[test]
fn libaio_blocks_in_buffered_reads_and_io_uring_does_not() {
    let options = "rw=randread\nbs=4k\nsize=64m\niodepth=32\n";
    let job = |engine| run(&slow(memory(GIB)), &format!("[a]\nfilename=/dev/x\nioengine={engine}\n{options}"), 7);
    close(job("libaio").iops(), 500.0, 0.001);
    close(job("io_uring").iops(), 32.0 * 500.0, 0.01);
}

#[test]
fn expired_pages_are_written_while_the_job_continues() {
    let options = "rw=randrw\nbs=4k\nsize=64m\nrate_iops=100\ntime_based\nruntime=60s\n";
    let counts = simulate(&slow(memory(GIB)), options).cache.expect("the job is buffered");
    assert!(counts.written_back_bytes > 0 && counts.written_back_bytes < counts.written_bytes, "{counts:?}");
}

#[test]
fn direct_reads_flush_dirty_pages_and_direct_writes_drop_cached_ones() {
    let text = "[buffered]\nfilename=/dev/x\nioengine=psync\nrw=randrw\nbs=4k\nsize=8m\ntime_based\nruntime=2s\n\
        [direct]\nfilename=/dev/x\nioengine=libaio\ndirect=1\niodepth=4\nrw=randrw\nbs=4k\nsize=8m\ntime_based\nruntime=2s\n";
    let mixed = run(&slow(memory(GIB)), text, 3);
    assert!(mixed.summaries.iter().all(|summary| summary.directions[0].ios > 100));
    assert!(mixed.cache.is_some_and(|counts| counts.written_back_bytes > 0));
}

#[test]
fn equal_jobs_give_equal_runs() {
    let text = "[a]\nfilename=/dev/x\nioengine=io_uring\niodepth=16\nnumjobs=3\nrw=randrw\nbs=2k-64k\nsize=64m\nfsync=50\n\
        time_based\nruntime=5s\n";
    let volume = Spec { buffering: memory(32 * MIB), ..limited(LATENCY, 200 * MIB) };
    let (one, other) = (run(&volume, text, 3), run(&volume, text, 3));
    assert_eq!((one.ended, one.ios(), one.cache), (other.ended, other.ios(), other.cache));
    assert!(one.cached <= 34 * MIB, "memory is bounded: {}", one.cached);
}
