//! Preconditioning of flash devices (`sprandom`), by the commands that users write. fio 3.33 does not have it.

use crate::common::json::Json;
use crate::common::{Scratch, fathom, flat, run, words};

#[test]
fn it_is_verified_and_simulated_like_any_job() {
    let scratch = Scratch::new();
    let line = "run --name=a --filename=f --size=4m --rw=randwrite --bs=4k --sprandom=1 --spr_num_regions=20 --verify=crc32c \
                --format=json --no-record";
    run(fathom(words(line)).current_dir(scratch.path(""))).expect_one_of(&[0, 4]);
    let line = "sim --on aws/gp3 --name=a --size=64m --rw=randwrite --bs=4k --iodepth=8 --sprandom=1 --spr_op=0.25 --format=fio-json --no-record";
    let found = Json::read_after_notes(&run(&mut fathom(words(line))).expect_code(0).stdout);
    // 16,384 blocks and a quarter of them again.
    assert_eq!(found.whole("jobs/0/write/total_ios"), 20_480);
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
        ("--rw=randwrite --spr_num_regions=5000", "are too many"),
        ("--rw=randwrite --spr_op=0", "spr_op"),
    ] {
        let refused = run(&mut fathom(words(&format!("{job} {options}")))).expect_code(1);
        assert!(flat(&refused.stderr).contains(message), "{options}: {}", refused.stderr);
    }
}
