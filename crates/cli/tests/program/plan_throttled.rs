//! Measured loads that a limit throttled: their rate is no need, and `fathom plan` says so.

use serde_json::{Value, json};

use crate::common::{Scratch, fathom, flat, run, words};

/// Returns fio's JSON of random reads at 5,000 IOPS with 32 in flight.
fn fio(option: (&str, &str), deviation: f64) -> String {
    let mut options = json!({ "rw": "randread", "bs": "4k", "iodepth": "32", "ioengine": "libaio", "direct": "1" });
    options[option.0] = option.1.into();
    let times = json!({ "min": 1_000_000, "max": 9_000_000, "mean": 6_400_000.0, "stddev": 100_000.0, "N": 75_000 });
    let read = json!({
        "io_bytes": 307_200_000, "bw": 20_000, "iops": 5000.0, "runtime": 15_000, "total_ios": 75_000,
        "clat_ns": times, "lat_ns": times, "iops_mean": 5000.0, "iops_stddev": deviation, "iops_samples": 30
    });
    let job = json!({ "jobname": "a", "groupid": 0, "error": 0, "job options": options, "job_runtime": 15_000, "read": read });
    json!({ "fio version": "fio-3.33", "jobs": [job] }).to_string()
}

/// Returns reports of iostat: operations per second, KiB of each, and requests in flight.
fn iostat(intervals: impl Iterator<Item = (f64, f64, f64)>) -> String {
    let report = |(rate, kib, queue): (f64, f64, f64)| {
        let bytes = rate * kib;
        format!(
            "Device r/s rkB/s r_await rareq-sz aqu-sz %util\nsda {rate:.2} {bytes:.2} 5.00 {kib:.2} {queue:.2} 100.00\n\n"
        )
    };
    let head = "Linux 6.8 (h) \t11/29/26 \t_x86_64_\t(8 CPU)\n\n";
    format!("{head}{}{}", report((40.0, 4.0, 0.1)), intervals.map(report).collect::<String>())
}

fn sar() -> String {
    let reports = (1..=12).map(|second| {
        let at = format!("10:00:{second:02}");
        let rate = 3000 + second % 3;
        format!(
            "{at}        DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util\n\
             {at}        sda   {rate}.00  12000.00      0.00      0.00      4.00     15.00      5.00    100.00\n\n"
        )
    });
    "Linux 6.8 (h) \t11/29/2026 \t_x86_64_\t(8 CPU)\n\n".to_owned() + &reports.collect::<String>()
}

/// Returns the record of a run on a file whose cgroup has a throttle of the rate that it reached.
fn in_cgroup(scratch: &Scratch) -> String {
    let (file, record) = (scratch.path("file"), scratch.path("cgroup.json"));
    let line = format!(
        "run --name=a --filename={} --rw=randread --size=4m --ioengine=psync --runtime=1 --time_based -o {}",
        file.display(),
        record.display()
    );
    run(fathom(words(&line)).env("FATHOM_NO_RECORD", "1"));
    let mut run: Value = serde_json::from_str(&scratch.read("cgroup.json")).unwrap();
    let reads = run["jobs"][0]["result"]["read"]["ios"].as_u64().unwrap();
    let throttle = json!({ "device": "sda", "file": "/sys/fs/cgroup/db.slice/io.max", "key": "riops", "value": reads });
    run["jobs"][0]["evidence"]["throttles"] = json!([throttle]);
    run.to_string()
}

fn simulated(scratch: &Scratch, volume: &str, job: &str) -> String {
    let record = scratch.path("sim.json");
    let job = format!("--name=a --rw=randread --size=1g --time_based --runtime=2 {job}");
    run(&mut fathom(words(&format!("sim --on {volume} {job} -o {}", record.display()))));
    scratch.read("sim.json")
}

#[test]
fn sixteen_kinds_of_throttled_sources_are_no_needs() {
    let scratch = Scratch::new();
    let varied = |second: u32| f64::from(second * 7919 % 13);
    let sim = |volume: &str, job: &str| simulated(&scratch, volume, job);
    let sources = [
        ("option rate_iops", fio(("rate_iops", "5000"), 10.0), "capped it at 5.00k IOPS"),
        ("option rate", fio(("rate", "20m"), 10.0), "capped it at 20 MiB/s"),
        ("even rate with a queue", fio(("numjobs", "1"), 10.0), "a limit of 5.00k IOPS"),
        ("flat iostat", iostat((0..20).map(|s| (3000.0 + f64::from(s % 3), 4.0, 15.0))), "a limit of 3.00k IOPS"),
        (
            "bursts at a limit",
            iostat(
                (0..40).map(|s| if s % 4 == 0 { (3000.0, 4.0, 15.0) } else { (200.0 + 30.0 * varied(s), 4.0, 0.3) }),
            ),
            "10 of 40 intervals ran at a limit of 3.00k IOPS",
        ),
        (
            "flat throughput",
            iostat((0..20).map(|s| {
                let kib = 20.0 + 10.0 * varied(s);
                (131_072.0 / kib, kib, 15.0)
            })),
            "ran at a limit of 128 MiB/s",
        ),
        ("averages since boot", iostat(std::iter::empty()), "the average since boot"),
        ("flat sar", sar(), "a limit of 3.00k IOPS"),
        ("cgroup", in_cgroup(&scratch), "riops of sda in /sys/fs/cgroup/db.slice/io.max limited it"),
        ("volume IOPS", sim("custom,iops=5000,latency=1ms", "--iodepth=32"), "IOPS limited it"),
        ("volume throughput", sim("custom,throughput=100MiB/s,latency=1ms", "--bs=128k --iodepth=32"), "limited it"),
        ("machine", sim("aws/gp3,size=1TiB,iops=40000,machine=m5.large", "--iodepth=64"), "machine"),
        ("gp2 out of credits", sim("aws/gp2,size=100GiB,credits=0%", "--iodepth=32"), "limited it"),
        ("gp2 that runs out of credits", sim("aws/gp2,size=100GiB,credits=0.1%", "--iodepth=32"), "limited it"),
        ("station", sim("vultr/nvme-block", "--iodepth=64"), "limited it"),
        ("missed rate", sim("custom,iops=5000,latency=1ms", "--iodepth=64 --rate_iops=6000"), "6.00k IOPS"),
    ];
    for (kind, source, reason) in sources {
        let file = scratch.write("source", &source);
        let line = format!("plan --from {file} --no-simulation --provider aws/gp3");
        let outcome = run(&mut fathom(words(&line)));
        let text = flat(&outcome.stdout);
        assert_eq!(outcome.code(), Some(4), "{kind}: {text}{}", outcome.stderr);
        assert!(text.starts_with("ANSWER Cannot tell: ") && text.contains(reason), "{kind}: {text}");
        // The same holds for a volume that exists.
        let outcome = run(&mut fathom(words(&format!("{line} --current aws/gp3,size=100GiB"))));
        let text = flat(&outcome.stdout);
        assert_eq!(outcome.code(), Some(4), "{kind}: {text}{}", outcome.stderr);
        assert!(text.starts_with("ANSWER Cannot tell whether to keep aws/gp3, "), "{kind}: {text}");
    }
}

#[test]
fn loads_that_nothing_throttled_are_needs() {
    let scratch = Scratch::new();
    let varied = |second: u32| f64::from(second * 7919 % 13);
    let sources = [
        ("varied fio", fio(("numjobs", "1"), 900.0)),
        ("varied iostat", iostat((0..20).map(|s| (1000.0 + 150.0 * varied(s), 4.0, 15.0)))),
        ("even without a queue", iostat((0..20).map(|_| (3000.0, 4.0, 0.5)))),
        ("few bursts", iostat((0..20).map(|s| if s < 3 { (3000.0, 4.0, 15.0) } else { (200.0, 4.0, 0.3) }))),
    ];
    for (kind, source) in sources {
        let file = scratch.write("source", &source);
        run(&mut fathom(words(&format!("plan --from {file} --no-simulation --provider aws/gp3")))).expect_code(0);
        let line = format!("plan --from {file} --no-simulation --current aws/gp3,size=1TiB,iops=20000");
        let text = run(&mut fathom(words(&line))).expect_code(0).stdout;
        assert!(text.starts_with("ANSWER    Resize in place: aws/gp3 from 20,000 to "), "{kind}: {text}");
    }
}
