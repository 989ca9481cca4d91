//! Volumes as they are named, shared and told of, by whole simulations.

mod common;

use common::model::{assert_near, pace, read, record, record_of_file, refused};
use common::{Scratch, fathom, run, words};
use record::Run;

/// A pipe was waited for, and an endless device read to its end.
#[test]
fn files_of_volumes_that_cannot_be_read_are_refused_at_once() {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path(name);
    std::fs::write(path("latin.toml"), b"[[volume]]\nid = \"\xff\"\n").expect("the scratch directory is writable");
    let sparse = std::fs::File::create(path("sparse.toml")).expect("the scratch directory is writable");
    sparse.set_len(1 << 30).expect("files may have holes");
    std::fs::create_dir(path("directory.toml")).expect("the scratch directory is writable");
    std::os::unix::fs::symlink("/dev/zero", path("zero.toml")).expect("links can be made");
    let made = std::process::Command::new("mkfifo").arg(path("pipe.toml")).status().expect("mkfifo is there");
    assert!(made.success());
    for (name, said) in [
        ("latin.toml", "its line 2 is not UTF-8"),
        ("sparse.toml", "it has more than 1 MiB"),
        ("directory.toml", "a directory"),
        ("zero.toml", "it has more than 1 MiB"),
        ("pipe.toml", "it is a pipe that no program writes to"),
    ] {
        let error = refused(&path(name).display().to_string(), "--name=a --rw=randread --size=1m");
        assert!(error.contains(said) && error.contains("--on:1:1") && error.contains("help:"), "{error}");
    }
}

/// The options of a job as they were typed stood in the record of every point.
#[test]
fn the_points_of_a_sweep_repeat_their_own_options() {
    let scratch = Scratch::new();
    let text = "[global]\nioengine=model\nbs=4k\n[a]\nvolume=custom,iops=500\nsize=1m\niodepth=1\n";
    std::fs::write(scratch.path("jobs.fio"), text).expect("the scratch directory is writable");
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

/// The stage of a limit in a record.
#[track_caller]
fn stage<'a>(run: &'a Run, name: &str) -> &'a record::ModelStage {
    let stages = &run.model.as_ref().expect("a simulation has a model").stages;
    stages.iter().find(|stage| stage.name == name).unwrap_or_else(|| panic!("no {name} in {stages:?}"))
}

/// Ramps, and the time in which one stage of jobs is over and the next has not begun, were taken for times of little
/// use; and a burst within a ramp for one within the run.
#[test]
fn a_limit_is_used_as_much_as_it_was_while_jobs_were_measured() {
    let text = "[global]\nioengine=model\nrw=randread\ntime_based\nruntime=10\nsize=1g\nrate_iops=1000\n\
                [a]\nramp_time=10\n[b]\nstonewall\nstartdelay=30\n[c]\nstartdelay=30\n";
    let run = record_of_file("custom,iops=5000,latency=1ms", text);
    let found = stage(&run, "volume IOPS");
    // Ten seconds of 1,000, then ten of 2,000.
    assert_near("use", found.utilisation, 0.3, 0.001);
    assert!(found.requests.abs_diff(30_000) <= 3, "{found:?}");
    let run =
        record("vultr/nvme-block", "--name=a --rw=randread --iodepth=32 --ramp_time=70 --runtime=20 --time_based");
    assert_near("use after the burst", stage(&run, "volume IOPS").utilisation, 1.0, 0.001);
}

/// The limit that throttled most was named for every job, also for those that it had not throttled.
#[test]
fn a_verdict_names_no_limit_of_another_jobs_volume() {
    let scratch = Scratch::new();
    let text = "[global]\nioengine=model\nrw=randread\ntime_based\nruntime=5\n\
                [slow]\nvolume=custom,iops=100\nfilename=/dev/sda\niodepth=32\n\
                [fast]\nvolume=custom,throughput=1000MiB/s,latency=1ms\nfilename=/dev/sdb\n";
    std::fs::write(scratch.path("jobs.fio"), text).expect("the scratch directory is writable");
    let told = run(fathom(["sim"]).arg(scratch.path("jobs.fio"))).expect_clean().stdout;
    let (slow, fast) = told.split_once("Verdict on fast:").expect("each job has a verdict");
    assert!(slow.contains("Verdict on slow: The limit is volume IOPS"), "{told}");
    assert!(fast.contains("volume throughput") && !fast.contains("volume IOPS"), "{told}");
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
fn jobs_that_name_different_volumes_are_on_different_volumes() {
    let text = "[global]\nioengine=model\nrw=randread\ntime_based\nruntime=5\niodepth=8\nsize=1g\n\
                [a]\nvolume=custom,iops=100\n[b]\nvolume=custom,iops=1000\n";
    let both = record_of_file("custom", text);
    assert_near("the first", both.jobs[0].result.iops(), 100.0, 0.02);
    assert_near("the second", both.jobs[1].result.iops(), 1000.0, 0.02);
    let scratch = Scratch::new();
    let text = text.replace("size=1g", "filename=/dev/sdb");
    std::fs::write(scratch.path("jobs.fio"), text).expect("the scratch directory is writable");
    let error = run(fathom(["sim"]).arg(scratch.path("jobs.fio"))).expect_code(2).stderr;
    assert!(error.contains("/dev/sdb is custom,iops=1000 here") && error.contains("jobs.fio:11:8"), "{error}");
}

#[test]
fn one_machine_has_one_memory() {
    let scratch = Scratch::new();
    let told = |on: &str, second: &str| {
        let text = format!(
            "[global]\nsize=1m\nrw=read\n[a]\nioengine=psync\nfilename=/dev/sda\n\
             [b]\nioengine=model\nvolume=custom,latency=1ms{second}\nfilename=/dev/sdb\n\
             [c]\nioengine=libaio\nfilename=/dev/sdc\ndirect=1\n"
        );
        std::fs::write(scratch.path("jobs.fio"), text).expect("the scratch directory is writable");
        run(fathom(["sim", "--dry-run", "--on", on]).arg(scratch.path("jobs.fio")))
    };
    let on = "custom,latency=1ms,memory=1GiB";
    let error = told(on, ",memory=2GiB").expect_code(2).stderr;
    assert!(error.contains("`memory` is `2GiB` here and `1GiB` for another volume"), "{error}");
    assert!(error.contains("jobs.fio:9:34") && error.contains("host="), "{error}");
    // Named once, by any job, it is that of the machine; and what passes it is reported before.
    let line = |host: &str, memory: u32| {
        format!(
            "a: buffered, through the page cache of machine `{host}`, with {memory} GiB of memory\nb: bypasses the page cache\nc: bypasses"
        )
    };
    for (on, second, wanted) in [
        (on, "", line("host", 1)),
        (on, ",memory=1GiB", line("host", 1)),
        ("custom,latency=1ms", ",memory=2GiB", line("host", 2)),
        ("custom,latency=1ms", ",memory=2GiB,host=other", line("host", 8)),
        ("custom,latency=1ms,memory=1GiB,host=other", ",memory=2GiB", line("other", 1)),
    ] {
        let plan = told(on, second).expect_clean().stdout;
        assert!(plan.contains(&wanted), "{on} {second}: {plan}");
    }
}

/// `1 to 1,000,000,000 IOPS` is no range.
#[test]
fn the_catalogue_says_any_where_a_range_says_nothing() {
    let told = run(&mut fathom(["catalog", "custom"])).expect_clean().stdout;
    assert!(told.contains("(any)") && !told.contains("000,000,000"), "{told}");
    let told = run(&mut fathom(["catalog", "gcp/hyperdisk-balanced"])).expect_clean().stdout;
    assert!(told.contains("4 GiB to 65,536 GiB") && !told.contains("(any)"), "{told}");
}

/// A file with one volume: reads and writes take as long as this, in microseconds.
fn volume_file(scratch: &Scratch, us: u32) -> String {
    let text = format!(
        "[[volume]]\nid = \"flash\"\nkey.size = {{ unit = \"GiB\", default = 4 }}\n\
         latency.read = {{ law = \"constant\", us = {us} }}\n"
    );
    std::fs::write(scratch.path("flash.toml"), text).expect("the scratch directory is writable");
    scratch.path("flash.toml").display().to_string()
}

/// Reads at even distances sample a chain of two states: its rates follow from how many find the volume slow, and from
/// how many of these come in a row.
#[test]
fn slow_spells_come_as_often_and_last_as_long_as_was_said() {
    let scratch = Scratch::new();
    let volume = format!("{},spells=400ms/100ms/10", volume_file(&scratch, 100));
    let log = scratch.path("log");
    let text = "--name=a --rw=randread --iodepth=64 --rate_iops=200 --runtime=5000 --time_based --write_lat_log=";
    let run = record(&volume, &format!("{text}{}", log.display()));
    let lines = std::fs::read_to_string(scratch.path("log_lat.1.log")).expect("the log is written");
    let latency_ns = |line: &str| line.split(", ").nth(1).and_then(|ns| ns.parse::<u64>().ok()).expect("a latency");
    let slow: Vec<bool> = lines.lines().map(|line| latency_ns(line) > 150_000).collect();
    assert_eq!(slow.len(), 1_000_000);
    let many = slow.iter().filter(|slow| **slow).count() as f64;
    let begun = slow.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
    let share = many / slow.len() as f64;
    assert_near("the share of slow reads", share, 0.2, 0.03);
    // From one read to the next, 5 ms later, the chain forgets its state by this factor.
    let kept = 1.0 - begun / many / (1.0 - share);
    let rate = -kept.ln() / 0.005;
    assert_near("how long a spell lasts", 1.0 / (rate * (1.0 - share)), 0.1, 0.03);
    assert_near("how far they are apart", 1.0 / (rate * share), 0.4, 0.03);
    assert_near("the mean", read(&run.jobs[0]).service.mean_ns, 100_000.0 * (0.8 + 0.2 * 10.0), 0.03);
}

#[test]
fn blocks_that_nobody_wrote_are_read_in_their_own_time_until_they_are_filled() {
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
    for (keys, wanted) in [
        (",written=0%", [100.0, 550.0, 1000.0]),
        (",written=50%", [550.0, 775.0, 1000.0]),
        (",written=100%", [1000.0, 1000.0, 1000.0]),
        ("", [1000.0, 1000.0, 1000.0]),
    ] {
        let found = means(keys);
        assert_eq!(found.len(), 3);
        for (found, wanted) in found.into_iter().zip(wanted) {
            assert_near(&format!("reads with{keys}"), found, wanted, 0.03);
        }
    }
}

/// With an engine of its own a job left the volume of `--on` for the files of this host, and wrote to them.
#[test]
fn on_a_volume_no_engine_touches_a_file() {
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

/// What `fathom run --on` finds in real time, against what `fathom sim` does; a busy machine may spoil all tries but one.
#[track_caller]
fn assert_both_clocks_agree(volume: &str, text: &str) {
    let run_with = |command: &str| {
        let outcome = run(fathom([command, "--on", volume, "--format", "json"]).args(words(text)));
        // Exit code 4: a verdict that distrusts figures of a page cache.
        assert!(matches!(outcome.code(), Some(0 | 4)), "{volume} {text}: {outcome:?}");
        record::from_json(&outcome.stdout).expect("a record is printed")
    };
    let (wanted_iops, wanted_us) = pace(&run_with("sim"));
    assert!((100.0..=5000.0).contains(&wanted_iops), "{wanted_iops} IOPS are not meant for real time");
    let mut tried = Vec::new();
    for _ in 0..10 {
        let real = run_with("run");
        assert!(!real.model.as_ref().expect("it is a model").virtual_time);
        let (iops, us) = pace(&real);
        if (iops / wanted_iops - 1.0).abs() <= 0.05 && (us / wanted_us - 1.0).abs() <= 0.05 {
            return;
        }
        tried.push((iops, us));
    }
    panic!("{volume} {text}: simulated {wanted_iops} IOPS in {wanted_us} us, found {tried:?}");
}

#[test]
fn latency_is_the_same_by_both_clocks() {
    let scratch = Scratch::new();
    let file = volume_file(&scratch, 6_000);
    let job = "--name=a --rw=randread --size=256m --runtime=1 --time_based";
    assert_both_clocks_agree(&file, &format!("{job} --iodepth=16"));
    assert_both_clocks_agree(&file, &format!("{job} --ioengine=psync --numjobs=8 --group_reporting"));
}

#[test]
fn limits_are_the_same_by_both_clocks() {
    let job = "--name=a --rw=randread --size=256m --runtime=1 --time_based";
    let volume = "custom,size=4GiB,iops=1500,latency=2ms";
    assert_both_clocks_agree(volume, &format!("{job} --iodepth=16"));
    assert_both_clocks_agree(volume, &format!("{job} --ioengine=libaio --numjobs=8 --group_reporting"));
}

#[test]
fn a_drive_is_the_same_by_both_clocks() {
    let job = "--name=a --rw=randread --size=10g --runtime=2 --time_based";
    assert_both_clocks_agree("hdd/7200rpm", &format!("{job} --iodepth=10"));
    assert_both_clocks_agree("hdd/7200rpm", &format!("{job} --ioengine=psync --numjobs=10 --group_reporting"));
}
