//! Preconditioning of flash devices (`sprandom`), by the commands that users write. fio 3.33 does not have it.

use std::collections::BTreeMap;

use crate::common::json::Json;
use crate::common::{Scratch, fathom, flat, run, words};

/// Runs a job without a device and returns the blocks that it wrote, in order.
fn written(options: &str) -> Vec<u64> {
    let scratch = Scratch::new();
    let line = format!("fio --name=a --ioengine=null --rw=randwrite --bs=4k --write_iolog=log {options}");
    run(fathom(words(&line)).current_dir(scratch.path(""))).expect_code(0);
    let log = scratch.read("log");
    let offset = |line: &str| {
        let fields: Vec<_> = line.split(' ').collect();
        (fields.get(2) == Some(&"write")).then(|| fields[3].parse::<u64>().expect("an offset") / 4096)
    };
    log.lines().filter_map(offset).collect()
}

#[test]
fn a_pass_writes_every_block_and_more_of_the_old_ones_again() {
    for cache in ["", "--spr_cs=64k"] {
        // 10,000 blocks and a quarter of them again: 50 regions of 250 writes.
        let blocks = written(&format!("--size=40000k --sprandom=1 --spr_op=0.25 --spr_num_regions=50 {cache}"));
        assert_eq!(blocks.len(), 12_500, "{cache}");
        let last: BTreeMap<u64, usize> = blocks.iter().enumerate().map(|(at, block)| (*block, at)).collect();
        assert_eq!((last.len(), last.keys().max()), (10_000, Some(&9_999)), "{cache}");
        let mut valid = [0_u64; 50];
        last.values().for_each(|at| valid[at / 250] += 1);
        assert_eq!(valid[49], 250, "{cache}: nothing follows the last region");
        // A mean of 0.8 over 50 ages.
        let ratio = valid[10] as f64 / valid[0] as f64;
        assert!(valid[0] < 160 && ratio > 1.05 && ratio < 1.15, "{cache}: {valid:?}");
    }
}

#[test]
fn it_is_verified_and_simulated_like_any_job() {
    let scratch = Scratch::new();
    let line = "run --name=a --filename=f --size=4m --rw=randwrite --bs=4k --sprandom=1 --spr_num_regions=20 --verify=crc32c \
                --format=json --no-record";
    run(fathom(words(line)).current_dir(scratch.path(""))).expect_one_of(&[0, 4]);
    let line = "sim --on aws/gp3 --name=a --size=64m --rw=randwrite --bs=4k --iodepth=8 --sprandom=1 --format=fio-json --no-record";
    let found = Json::read_after_notes(&run(&mut fathom(words(line))).expect_code(0).stdout);
    // 16,384 blocks and 15 % of them again.
    assert_eq!(found.whole("jobs/0/write/total_ios"), 18_842);
}

#[test]
fn what_cannot_be_divided_is_refused_with_what_can() {
    let job = "fio --name=a --ioengine=null --size=4m --sprandom=1";
    for (options, message) in [
        ("--rw=randread", "`sprandom` needs random writes"),
        ("--rw=write", "`sprandom` needs random writes"),
        ("--rw=randwrite --bs=12k", "power of two"),
        ("--rw=randwrite --bsrange=4k-8k", "power of two"),
        ("--rw=randwrite --random_distribution=zipf:1.2", "chooses offsets itself"),
        ("--rw=randwrite --spr_num_regions=1", "spr_num_regions"),
        ("--rw=randwrite --spr_num_regions=5000", "are too many"),
        ("--rw=randwrite --spr_op=9 --spr_num_regions=8", "write at least 11"),
        ("--rw=randwrite --spr_op=0", "spr_op"),
        ("--rw=randwrite --spr_cs=1g", "less than the cache"),
    ] {
        let refused = run(&mut fathom(words(&format!("{job} {options}")))).expect_code(1);
        assert!(flat(&refused.stderr).contains(message), "{options}: {}", refused.stderr);
    }
}
