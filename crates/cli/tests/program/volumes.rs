//! Volumes in simulations: names, sharing and reports.

use record::Run;

use crate::common::host::timed;
use crate::common::model::{assert_near, pace, read, record, record_of_file, refused};
use crate::common::{Scratch, fathom, flat, run, words};

/// A pipe was waited for, and an endless device was read forever.
#[test]
fn unreadable_model_files_are_refused() {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path(name);
    scratch.write("latin.toml", b"[[volume]]\nid = \"\xff\"\n");
    scratch.sparse("sparse.toml", 1 << 30);
    std::fs::create_dir(path("directory.toml")).expect("the scratch directory is writable");
    std::os::unix::fs::symlink("/dev/zero", path("zero.toml")).expect("links can be made");
    let made = std::process::Command::new("mkfifo").arg(path("pipe.toml")).status().expect("mkfifo is installed");
    assert!(made.success());
    for (name, message) in [
        ("latin.toml", "line 2 is not UTF-8"),
        ("sparse.toml", "larger than 1 MiB"),
        ("directory.toml", "a directory"),
        ("zero.toml", "larger than 1 MiB"),
        ("pipe.toml", "no program writes to this pipe"),
    ] {
        let error = refused(&path(name).display().to_string(), "--name=a --rw=randread --size=1m");
        assert!(error.contains(message) && error.contains("--on:1:1") && error.contains("help:"), "{error}");
    }
}

/// The record of every point had the options of the original job.
#[test]
fn the_points_of_a_sweep_record_their_own_options() {
    let scratch = Scratch::new();
    let text = "[global]\nioengine=model\nbs=4k\n[a]\nvolume=custom,iops=500\nsize=1m\niodepth=1\n";
    scratch.write("jobs.fio", text);
    let words = ["--vary", "iodepth=2,4", "--vary", "bs=8k,16k", "--vary", "on.iops=100,200", "--format", "json"];
    let outcome = run(fathom(["sim"]).arg(scratch.path("jobs.fio")).args(words)).expect_clean();
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("a sweep prints JSON");
    let points = document["sweep"].as_array().expect("it has points");
    assert_eq!(points.len(), 8);
    for point in points {
        let echo = point["jobs"][0]["echo"].as_array().expect("options are repeated");
        let option = |name: &str| {
            let mut values = echo.iter().filter(|pair| pair[0] == name).map(|pair| pair[1].clone());
            let value = values.next();
            assert!(values.next().is_none(), "{name} is there twice: {echo:?}");
            value.unwrap_or_default()
        };
        let settings = point["settings"].as_array().expect("it has settings");
        let setting = |name: &str| {
            let found = settings.iter().find(|pair| pair[0] == name).and_then(|pair| pair[1].as_str());
            found.unwrap_or_default().to_owned()
        };
        assert_eq!((option("iodepth"), option("bs")), (setting("iodepth").into(), setting("bs").into()), "{point}");
        assert_eq!(option("volume"), format!("custom,iops={}", setting("on.iops")), "{point}");
    }
}

/// Returns the stage of a limit in a record.
#[track_caller]
fn stage<'a>(run: &'a Run, name: &str) -> &'a record::ServiceStage {
    let stages = &run.model.as_ref().expect("a simulation has a model").stages;
    stages.iter().find(|stage| stage.name == name).unwrap_or_else(|| panic!("no {name} in {stages:?}"))
}

/// Ramps and pauses between stages of jobs lowered the utilization, and a burst within a ramp counted for the run.
#[test]
fn utilization_counts_only_measured_time() {
    let text = "[global]\nioengine=model\nrw=randread\ntime_based\nruntime=10\nsize=1g\nrate_iops=1000\n\
                [a]\nramp_time=10\n[b]\nstonewall\nstartdelay=30\n[c]\nstartdelay=30\n";
    let run = record_of_file("custom,iops=5000,latency=1ms", text);
    let found = stage(&run, "volume IOPS");
    // Ten seconds at 1,000 IOPS, then ten at 2,000.
    assert_near("use", found.utilisation, 0.3, 0.001);
    assert!(found.requests.abs_diff(30_000) <= 3, "{found:?}");
    let run = record("vultr/hdd-block", "--name=a --rw=randread --iodepth=32 --ramp_time=70 --runtime=20 --time_based");
    assert_near("use after the burst", stage(&run, "volume IOPS").utilisation, 1.0, 0.005);
}

/// The limit that throttled most was named for every job, including jobs that it did not throttle.
#[test]
fn a_verdict_names_only_limits_of_the_jobs_volume() {
    let scratch = Scratch::new();
    let text = "[global]\nioengine=model\nrw=randread\ntime_based\nruntime=5\n\
                [slow]\nvolume=custom,iops=100\nfilename=/dev/sda\niodepth=32\n\
                [fast]\nvolume=custom,throughput=1000MiB/s,latency=1ms\nfilename=/dev/sdb\n";
    let printed = run(fathom(["sim", "--details"]).arg(scratch.write("jobs.fio", text))).expect_clean().stdout;
    let answer = flat(printed.split("DO ").next().unwrap_or_default());
    let (slow, fast) = answer.split_once(" fast: ").expect("each job has an answer");
    assert!(slow.contains("slow: 100 IOPS") && slow.contains("limit is volume IOPS"), "{printed}");
    assert!(fast.contains("volume throughput") && !fast.contains("volume IOPS"), "{printed}");
    let (slow, fast) = printed.split_once("Findings on fast").expect("each job has findings");
    assert!(slow.contains("Findings on slow\nmodel_held_back: The limit is volume IOPS"), "{printed}");
    assert!(fast.contains("volume throughput") && !fast.contains("volume IOPS"), "{printed}");
    let run = record_of_file("custom", text);
    let model = run.model.as_ref().expect("a simulation has a model");
    let users: Vec<&[u32]> = model.volumes.iter().map(|volume| &volume.workers[..]).collect();
    assert_eq!(users, [[0], [1]]);
    assert_eq!(
        (&stage(&run, "volume IOPS").volumes[..], &stage(&run, "volume throughput").volumes[..]),
        (&[0][..], &[1][..])
    );
}

/// The second job ran on the volume of the first, without a note.
#[test]
fn jobs_on_different_volumes_have_separate_limits() {
    let text = "[global]\nioengine=model\nrw=randread\ntime_based\nruntime=5\niodepth=8\nsize=1g\n\
                [a]\nvolume=custom,iops=100\n[b]\nvolume=custom,iops=1000\n";
    let both = record_of_file("custom", text);
    assert_near("the first", both.jobs[0].result.iops(), 100.0, 0.02);
    assert_near("the second", both.jobs[1].result.iops(), 1000.0, 0.02);
    let scratch = Scratch::new();
    let text = text.replace("size=1g", "filename=/dev/sdb");
    let error = run(fathom(["sim"]).arg(scratch.write("jobs.fio", text))).expect_code(2).stderr;
    assert!(error.contains("/dev/sdb is custom,iops=1000 here") && error.contains("jobs.fio:11:8"), "{error}");
}

#[test]
fn one_machine_has_one_memory() {
    let scratch = Scratch::new();
    let dry_run = |on: &str, second: &str| {
        let text = format!(
            "[global]\nsize=1m\nrw=read\n[a]\nioengine=psync\nfilename=/dev/sda\n\
             [b]\nioengine=model\nvolume=custom,latency=1ms{second}\nfilename=/dev/sdb\n\
             [c]\nioengine=libaio\nfilename=/dev/sdc\ndirect=1\n"
        );
        run(fathom(["sim", "--dry-run", "--on", on]).arg(scratch.write("jobs.fio", text)))
    };
    let on = "custom,latency=1ms,memory=1GiB";
    let error = dry_run(on, ",memory=2GiB").expect_code(2).stderr;
    assert!(error.contains("`memory` is `2GiB` here, but `1GiB` for another volume"), "{error}");
    assert!(error.contains("jobs.fio:9:34") && error.contains("host="), "{error}");
    // A memory size given once, by any job, applies to the machine. The dry run reports which jobs bypass the page
    // cache.
    let line = |host: &str, memory: u32| {
        format!(
            "a: buffered, through the page cache of machine `{host}`, with {memory} GiB of memory\nb: bypasses the page cache\nc: bypasses"
        )
    };
    for (on, second, expected) in [
        (on, "", line("host", 1)),
        (on, ",memory=1GiB", line("host", 1)),
        ("custom,latency=1ms", ",memory=2GiB", line("host", 2)),
        ("custom,latency=1ms", ",memory=2GiB,host=other", line("host", 8)),
        ("custom,latency=1ms,memory=1GiB,host=other", ",memory=2GiB", line("other", 1)),
    ] {
        let plan = dry_run(on, second).expect_clean().stdout;
        assert!(plan.contains(&expected), "{on} {second}: {plan}");
    }
}

/// `1 to 1,000,000,000 IOPS` was printed as a range.
#[test]
fn the_catalogue_prints_any_for_meaningless_ranges() {
    let page = run(&mut fathom(["catalog", "custom"])).expect_clean().stdout;
    assert!(page.contains("(any)") && !page.contains("000,000,000"), "{page}");
    let page = run(&mut fathom(["catalog", "gcp/hyperdisk-balanced"])).expect_clean().stdout;
    assert!(page.contains("4 GiB to 65,536 GiB") && !page.contains("(any)"), "{page}");
}

/// Writes the model of a volume with a constant read latency.
fn volume_file(scratch: &Scratch, us: u32) -> String {
    let text = format!(
        "[[volume]]\nid = \"flash\"\nkey.size = {{ unit = \"GiB\", default = 4 }}\n\
         latency.read = {{ law = \"constant\", us = {us} }}\n"
    );
    scratch.write("flash.toml", text)
}

/// Evenly spaced reads sample a chain of two states. Its rates follow from the fraction of slow reads and from the
/// lengths of their runs.
#[test]
fn slow_spells_have_the_given_frequency_and_length() {
    let scratch = Scratch::new();
    let volume = format!("{},spells=400ms/100ms/10", volume_file(&scratch, 100));
    let log = scratch.path("log");
    let text = "--name=a --rw=randread --iodepth=64 --rate_iops=50 --runtime=5000 --time_based --write_lat_log=";
    let run = record(&volume, &format!("{text}{}", log.display()));
    let lines = scratch.read("log_lat.1.log");
    let latency_ns = |line: &str| line.split(", ").nth(1).and_then(|ns| ns.parse::<u64>().ok()).expect("a latency");
    let slow: Vec<bool> = lines.lines().map(|line| latency_ns(line) > 150_000).collect();
    assert_eq!(slow.len(), 250_000);
    let slow_reads = slow.iter().filter(|slow| **slow).count() as f64;
    let begun = slow.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
    let fraction = slow_reads / slow.len() as f64;
    assert_near("the fraction of slow reads", fraction, 0.2, 0.03);
    // Correlation of the states of two consecutive reads, 20 ms apart.
    let correlation = 1.0 - begun / slow_reads / (1.0 - fraction);
    let rate = -correlation.ln() / 0.02;
    assert_near("the length of a spell", 1.0 / (rate * (1.0 - fraction)), 0.1, 0.03);
    assert_near("the distance of spells", 1.0 / (rate * fraction), 0.4, 0.03);
    assert_near("the mean", read(&run.jobs[0]).service.mean_ns, 100_000.0 * (0.8 + 0.2 * 10.0), 0.03);
}

#[test]
fn unwritten_blocks_have_their_own_latency_until_written() {
    let scratch = Scratch::new();
    let file = volume_file(&scratch, 1000);
    let text = "[global]\nioengine=model\nfilename=/dev/sdb\nsize=64m\nstonewall\n\
                [before]\nrw=randread\n[half]\nrw=write\nbs=1m\nsize=32m\n[between]\nrw=randread\n\
                [rest]\nrw=write\nbs=1m\nsize=32m\noffset=32m\n[after]\nrw=randread\n";
    let means = |keys: &str| -> Vec<f64> {
        let run = record_of_file(&format!("{file},unwritten=100us{keys}"), text);
        let reads = run.jobs.iter().map(read).filter(|reads| reads.ios > 0);
        reads.map(|reads| reads.service.mean_ns / 1e3).collect()
    };
    for (keys, expected) in [
        (",written=0%", [100.0, 550.0, 1000.0]),
        (",written=50%", [550.0, 775.0, 1000.0]),
        (",written=100%", [1000.0, 1000.0, 1000.0]),
        ("", [1000.0, 1000.0, 1000.0]),
    ] {
        let found = means(keys);
        assert_eq!(found.len(), 3);
        for (found, expected) in found.into_iter().zip(expected) {
            assert_near(&format!("reads with{keys}"), found, expected, 0.03);
        }
    }
}

/// A job with its own engine ignored the volume of `--on` and wrote to files of this host.
#[test]
fn no_engine_touches_a_file_on_a_volume() {
    let scratch = Scratch::new();
    for engine in ["psync", "libaio", "io_uring", "mmap", "null", "model"] {
        let words = ["run", "--on", "custom,latency=1ms", "--name=a", "--rw=write", "--size=64k", "--format", "json"];
        let mut command = fathom(words);
        let outcome = run(command.arg(format!("--ioengine={engine}")).current_dir(scratch.path("")));
        assert!(matches!(outcome.code(), Some(0 | 4)), "{engine}: {outcome:?}");
        let run = record::from_json(&outcome.stdout).expect("run prints a record");
        assert!(run.model.is_some(), "{engine}");
        assert!(scratch.names().is_empty(), "{engine}: {:?}", scratch.names());
    }
}

/// Compares `fathom run --on` in real time with `fathom sim`.
#[track_caller]
fn assert_real_and_virtual_time_agree(volume: &str, text: &str) {
    let run_with = |command: &str| {
        let outcome = run(fathom([command, "--on", volume, "--format", "json"]).args(words(text)));
        // Exit code 4: a verdict that distrusts figures of a page cache.
        assert!(matches!(outcome.code(), Some(0 | 4)), "{volume} {text}: {outcome:?}");
        record::from_json(&outcome.stdout).expect("a record is printed")
    };
    let (expected_iops, expected_us) = pace(&run_with("sim"));
    assert!((100.0..=5000.0).contains(&expected_iops), "{expected_iops} IOPS are not suited to real time");
    timed(&format!("volumes::{volume} {text}"), || {
        let real = run_with("run");
        assert!(!real.model.as_ref().expect("it is a model").virtual_time);
        let (iops, us) = pace(&real);
        if (iops / expected_iops - 1.0).abs() <= 0.05 && (us / expected_us - 1.0).abs() <= 0.05 {
            return Ok(());
        }
        Err(format!("simulated {expected_iops} IOPS in {expected_us} us, found {iops} in {us} us"))
    });
}

#[test]
fn latency_agrees_in_real_and_virtual_time() {
    let scratch = Scratch::new();
    let file = volume_file(&scratch, 6_000);
    let job = "--name=a --rw=randread --size=256m --runtime=1 --time_based";
    assert_real_and_virtual_time_agree(&file, &format!("{job} --iodepth=16"));
    assert_real_and_virtual_time_agree(&file, &format!("{job} --ioengine=psync --numjobs=8 --group_reporting"));
}

#[test]
fn limits_agree_in_real_and_virtual_time() {
    let job = "--name=a --rw=randread --size=256m --runtime=1 --time_based";
    let volume = "custom,size=4GiB,iops=1500,latency=2ms";
    assert_real_and_virtual_time_agree(volume, &format!("{job} --iodepth=16"));
    assert_real_and_virtual_time_agree(volume, &format!("{job} --ioengine=libaio --numjobs=8 --group_reporting"));
}

#[test]
fn a_drive_agrees_in_real_and_virtual_time() {
    let job = "--name=a --rw=randread --size=10g --runtime=2 --time_based";
    assert_real_and_virtual_time_agree("hdd/7200rpm", &format!("{job} --iodepth=10"));
    assert_real_and_virtual_time_agree(
        "hdd/7200rpm",
        &format!("{job} --ioengine=psync --numjobs=10 --group_reporting"),
    );
}
