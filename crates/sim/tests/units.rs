//! Limits that count in units larger than a request, against closed forms of what the providers publish.

use runner::{CreditPolicy, NullObserver, RunOptions, Runner, Seeds, Uninterrupted};

use crate::model::model;
use crate::replay::plan;

/// Returns the operations per second that a volume sustains once its credits are spent.
fn sustained(volume: &str, rw: &str, bs: &str) -> f64 {
    let options = [format!("rw={rw}"), format!("bs={bs}")];
    let mut words = vec!["name=a", "iodepth=64", "runtime=300s", "time_based"];
    words.extend(options.iter().map(String::as_str));
    let runner = model();
    let prepared = runner.prepare(&plan(volume, &words), Seeds::fixed(7)).expect("a job that can run");
    let options = RunOptions { credits: CreditPolicy::Spent, ..RunOptions::default() };
    let run = prepared.run(&options, &Uninterrupted, &mut NullObserver).expect("a run").run;
    let result = &run.jobs[0].result;
    result.ios() as f64 / (result.elapsed_ns() as f64 / 1e9)
}

/// A small random operation on st1 took as many credits as it has bytes, not a whole MiB.
#[test]
fn limits_count_in_the_units_of_their_providers() {
    const MIB: f64 = 1_048_576.0;
    // Units of 256 KiB, to which EBS merges sequential operations of 32 KiB and more.
    let gp2_iops = 300.0;
    let (st1_mibps, sc1_mibps) = (40.0 * 500.0 / 1_024.0, 12.0 * 500.0 / 1_024.0);
    let premium_mbps = 25e6;
    for (volume, rw, bs, iops) in [
        ("aws/gp2,size=100GiB", "randread", "4k", gp2_iops),
        ("aws/gp2,size=100GiB", "randread", "256k", gp2_iops),
        ("aws/gp2,size=100GiB", "randread", "260k", gp2_iops / 2.0),
        ("aws/gp2,size=100GiB", "randwrite", "1m", gp2_iops / 4.0),
        ("aws/gp2,size=100GiB", "read", "16k", gp2_iops),
        ("aws/gp2,size=100GiB", "read", "64k", gp2_iops * 4.0),
        ("aws/io1,size=100GiB,iops=400", "randread", "4k", 400.0),
        ("aws/io1,size=100GiB,iops=400", "randread", "512k", 200.0),
        ("aws/io1,size=100GiB,iops=400", "read", "128k", 800.0),
        ("aws/st1,size=500GiB", "randread", "4k", st1_mibps),
        ("aws/st1,size=500GiB", "randread", "1m", st1_mibps),
        ("aws/st1,size=500GiB", "read", "64k", st1_mibps * 16.0),
        ("aws/st1,size=500GiB", "read", "16k", st1_mibps),
        ("aws/sc1,size=500GiB", "randread", "64k", sc1_mibps),
        ("aws/sc1,size=500GiB", "write", "256k", sc1_mibps * 4.0),
        ("azure/premium-ssd,size=32GiB", "randread", "4k", 120.0),
        ("azure/premium-ssd,size=32GiB", "randread", "256k", premium_mbps / MIB * 4.0),
        ("azure/premium-ssd,size=32GiB", "randread", "512k", premium_mbps / MIB * 2.0),
        ("azure/standard-ssd,size=128GiB", "randread", "16k", 500.0),
        ("azure/standard-ssd,size=128GiB", "randread", "1m", 100e6 / MIB),
        ("azure/standard-hdd,size=1TiB", "randread", "1m", 60e6 / MIB),
        ("gcp/hyperdisk-throughput,size=2TiB,throughput=100MiB/s", "randread", "4k", 400.0),
        ("gcp/hyperdisk-throughput,size=2TiB,throughput=100MiB/s", "randread", "1m", 100.0),
        ("vultr/hdd-block,size=100GB", "randread", "4k", 500.0),
        ("vultr/hdd-block,size=100GB", "randread", "1m", 100e6 / MIB),
        ("oci/block-volume,size=100GB,vpus=10", "randread", "4k", 6_000.0),
        ("oci/block-volume,size=100GB,vpus=10", "randread", "1m", 48e6 / MIB),
    ] {
        let found = sustained(volume, rw, bs);
        assert!((found / iops - 1.0).abs() < 0.01, "{volume} {rw} {bs}: {found} IOPS, {iops} by its limits");
    }
}
