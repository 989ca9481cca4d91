//! Trims of blocks are counted until their first failure (`block_error_percentiles`). What fio counts too is compared in
//! `fio_trims.rs`.

use crate::common::json::Json;
use crate::common::{fathom, run, words};

#[test]
fn each_block_has_its_trims_and_its_state() {
    let count = |line: &str| {
        let line = format!("fio --name=a --ioengine=null --bs=4k --size=400k --output-format=json {line}");
        let outcome =
            run(&mut fathom(words(&format!("{line} --block_error_percentiles=1 --percentile_list=20:50:100"))));
        let block = Json::read_after_notes(&outcome.stdout);
        let states = ["unwritten", "trimmed", "written"];
        let states = states.map(|name| block.whole(&format!("jobs/0/block/states/{name}")));
        let trims = ["20.000000", "50.000000", "100.000000"];
        (states, trims.map(|at| block.whole(&format!("jobs/0/block/percentiles/{at}"))))
    };
    assert_eq!(count("--rw=randtrim --loops=4"), ([0, 100, 0], [4, 4, 4]));
    assert_eq!(count("--rw=randtrim --io_size=200k"), ([50, 50, 0], [1, 1, 1]));
    assert_eq!(count("--rw=trimwrite --io_size=280k"), ([30, 0, 70], [1, 1, 1]));
    assert_eq!(count("--rw=randtrim --ramp_size=400k --loops=3"), ([0, 100, 0], [3, 3, 3]), "a ramp counts too");
    // Those of a group are counted together.
    let group = "--rw=randtrim --numjobs=2 --group_reporting --offset_increment=100k --offset=100k";
    assert_eq!(count(group), ([0, 200, 0], [1, 1, 1]));
}

#[test]
fn trims_that_cannot_be_counted_are_refused() {
    for (line, reason) in [
        ("--size=1m --nrfiles=2", "counted in one file only, but the job has 2"),
        ("--size=1t --number_ios=1", "trims 268435456 blocks of 4096 bytes, but at most 16777216 can be counted"),
    ] {
        let line = format!("fio --name=a --ioengine=null --rw=trim --block_error_percentiles=1 {line}");
        let outcome = run(&mut fathom(words(&line)));
        assert_eq!(outcome.code(), Some(1), "{line}");
        assert!(outcome.stderr.contains(reason), "{}", outcome.stderr);
    }
}
