//! Options of job files have the effect that they have in fio. Each test runs both programs.

use std::process::Command;

use crate::common::devices::{LoopDevice, Mount, tool};
use crate::common::host::timed;
use crate::common::json::Json;
use crate::common::pair::{PairedRun, pair, pair_at_once, pair_at_once_in};
use crate::common::{Scratch, at_once, fathom, fio, require, run, words};

fn jobs(ran: &PairedRun) -> Vec<Json> {
    ran.json().items("jobs").to_vec()
}

/// Returns what each job did: reads, writes, trims, syncs, and its error.
fn counts(ran: &PairedRun) -> Vec<[u64; 5]> {
    let of = |job: &Json| {
        let ios = |kind: &str| job.whole(&format!("{kind}/total_ios"));
        [ios("read"), ios("write"), ios("trim"), ios("sync"), job.whole("error")]
    };
    jobs(ran).iter().map(of).collect()
}

/// Returns kind, offset and size of each operation of a job of [`logged`], in order, out of the latency log.
fn operations(ran: &PairedRun, job: usize) -> Vec<(u8, u64, u64)> {
    let log = ran.scratch.read(&format!("l{job}_lat.{}.log", job + 1));
    let entry = |line: &str| {
        let fields: Vec<u64> = line.split(", ").map(|field| field.parse().unwrap()).collect();
        (fields[2] as u8, fields[4], fields[3])
    };
    log.lines().map(entry).collect()
}

/// Runs jobs that log each operation, each on a file of its own, all with one start of a program.
fn logged(lines: &[&str]) -> [PairedRun; 2] {
    let job = |(job, line): (usize, &&str)| {
        format!(
            "--name=a{job} --filename=f{job} --ioengine=psync --bs=4k --log_offset=1 --write_lat_log=l{job} {line} "
        )
    };
    pair_at_once(&lines.iter().enumerate().map(job).collect::<String>())
}

#[track_caller]
fn assert_equal<T: PartialEq + std::fmt::Debug>(line: &str, ran: &[PairedRun; 2], of: impl Fn(&PairedRun) -> T) {
    let [ours, theirs] = [of(&ran[0]), of(&ran[1])];
    assert_eq!(ours, theirs, "Fathom and fio differ for {line}\n{}\n{}", ran[0].outcome.stderr, ran[1].outcome.stderr);
}

#[test]
fn sequential_offsets_are_those_of_fio() {
    require!(Fio);
    let lines = [
        "--rw=read --filesize=1m --zonemode=strided --zonesize=16k --zonerange=64k --zoneskip=32k --size=1m --io_size=200k",
        "--rw=read --filesize=1m --zonemode=strided --zonesize=64k --zonerange=16k --zoneskip=32k --size=1m --io_size=200k",
        "--rw=read --filesize=1m --zonemode=strided --zonesize=16k --zonerange=384k --offset=64k --size=900k --io_size=100k",
        "--rw=write --size=1m --zonemode=strided --zonesize=16k --zoneskip=16k",
        "--rw=read --size=1m --bs_is_seq_rand=1 --bs=8k,4k",
        "--rw=write --size=1m --bs_is_seq_rand=1 --bs=8k,4k",
        "--rw=read --size=64k --offset=33% --offset_align=64k --filesize=1m",
        "--rw=read --size=64k --offset=10k --offset_align=64k --filesize=1m",
        "--rw=read:4k --size=256k --rw_sequencer=identical",
        "--rw=write --size=64k --file_append=1",
    ];
    let ran = logged(&lines);
    for (job, line) in lines.iter().enumerate() {
        assert_equal(line, &ran, |ran| counts(ran)[job]);
        assert_equal(line, &ran, |ran| operations(ran, job));
    }
    let ran =
        pair_at_once_in("--name=a --filename=f --ioengine=psync --rw=write --size=64k --file_append=1", |scratch| {
            scratch.write("f", vec![1; 10_000]);
        });
    assert_equal("file_append", &ran, |ran| ran.scratch.path("f").metadata().unwrap().len());
}

#[test]
fn random_offsets_have_the_structure_of_fio() {
    require!(Fio);
    // Every block of a strided zone once, zone after zone.
    let zones = "--rw=randread --filesize=1m --zonemode=strided --zonesize=16k --zoneskip=48k --size=1m --io_size=256k";
    // The same offset four times.
    let same = "--rw=randread:4 --rw_sequencer=identical --size=1m --io_size=64k";
    let ran = logged(&[zones, same]);
    let sorted = |ran: &PairedRun| {
        let mut operations = operations(ran, 0);
        operations.chunks_mut(4).for_each(<[_]>::sort);
        operations
    };
    assert_equal(zones, &ran, sorted);
    for ran in &ran {
        let operations = operations(ran, 1);
        assert_eq!(operations.len(), 16);
        assert!(operations.chunks(4).all(|run| run.iter().all(|operation| *operation == run[0])), "{operations:?}");
    }
}

#[test]
fn goals_that_are_missed_fail_with_the_errors_of_fio() {
    require!(Fio);
    let reads = "--name=a --filename=f --size=1m --ioengine=psync --rw=randread --time_based --runtime=20";
    let lines = [
        format!("{reads} --max_latency=1"),
        format!("{reads} --thinktime=20000 --rate_iops_min=100 --rate_cycle=500"),
        format!("{reads} --thinktime=20000 --rate_min=10m --rate_cycle=500"),
        "--name=a --ioengine=null --size=1m --rate_iops=10 --rate_iops_min=20".to_owned(),
        "--name=a --ioengine=null --size=1m --rate_iops=10 --rate_min=1m".to_owned(),
        "--name=a --ioengine=null --size=1m --wait_for=b".to_owned(),
        "--name=a --ioengine=null --size=1m --wait_for=a".to_owned(),
        "--name=a --ioengine=null --size=1m --ignore_error=EFOO".to_owned(),
        "--name=a --ioengine=null --size=1m --zonemode=strided".to_owned(),
        "--name=a --ioengine=null --size=1m --zonesize=4k".to_owned(),
        "--name=a --ioengine=null --size=1m --numa_mem_policy=foo".to_owned(),
        "--name=a --ioengine=null --size=1m --numa_cpu_nodes=77".to_owned(),
        "--name=a --ioengine=null --size=1m --prio=8".to_owned(),
    ];
    at_once(&lines, |line| {
        let ran = pair_at_once(line);
        assert_equal(line, &ran, |ran| ran.outcome.code());
        assert_eq!(ran[0].outcome.code(), Some(1), "{line}");
        if line.starts_with(reads) {
            assert_equal(line, &ran, |ran| jobs(ran)[0].whole("error"));
        }
    });
}

#[test]
fn errors_to_ignore_do_not_end_a_job() {
    require!(Root, Fio);
    let line = "--name=a --filename=m/f --ioengine=psync --rw=write --bs=64k --fallocate=none";
    let ran_on_small = |options: &str| {
        pair_at_once_in(&format!("{line} {options}"), |scratch| {
            std::fs::create_dir(scratch.path("m")).unwrap();
            let mut mount = Command::new("mount");
            mount.args(["-t", "tmpfs", "-o", "size=3m", "none"]).arg(scratch.path("m"));
            assert!(mount.status().unwrap().success());
        })
    };
    let end = |ran: &[PairedRun; 2]| {
        for ran in ran {
            assert!(Command::new("umount").arg(ran.scratch.path("m")).status().unwrap().success());
        }
    };
    let full = ran_on_small("--size=10m --ignore_error=,ENOSPC");
    // The default `fallocate` reserves nothing for an empty file.
    let device = ran_on_small("--fill_device=1 --fallocate=native");
    let sizes = device.each_ref().map(|ran| ran.scratch.path("m/f").metadata().unwrap().len());
    end(&full);
    end(&device);
    assert_equal("ignore_error", &full, |ran| {
        let job = &jobs(ran)[0];
        (ran.outcome.code(), job.whole("error"), job.whole("total_err"), job.whole("first_error"))
    });
    assert_equal("fill_device", &device, |ran| (ran.outcome.code(), jobs(ran)[0].whole("error")));
    assert_eq!(sizes, [3 << 20; 2]);
}

#[test]
fn a_job_ends_others_as_in_fio() {
    require!(Fio);
    timed("exit_what", || {
        let cases = [
            ("--exitall=1", [1, 1, 2, 1]),
            ("--exitall=1 --exit_what=stonewall", [1, 1, 1, 1]),
            ("--exitall=1 --exit_what=all", [1, 1, 1, 0]),
        ];
        let ran = at_once(&cases, |(options, _)| {
            pair_at_once(&format!(
                "--ioengine=null --size=1g --rw=randread --time_based --rate_iops=100 --name=a --runtime=1 {options} \
                 --name=b --runtime=3 --name=c --new_group=1 --runtime=2 --name=d --stonewall=1 --runtime=1"
            ))
        });
        for ((options, expected), both) in cases.into_iter().zip(&ran) {
            for ran in both {
                let seconds = |job: &Json| (job.whole("read/total_ios") + 40) / 100;
                let jobs: Vec<u64> = jobs(ran).iter().map(seconds).collect();
                // fio leaves out a job that never began.
                let jobs = [jobs[0], jobs[1], jobs[2], jobs.get(3).copied().unwrap_or(0)];
                if jobs != expected {
                    return Err(format!("{options}: {jobs:?} instead of {expected:?}"));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn a_job_that_waits_begins_when_the_other_has_ended() {
    require!(Fio);
    timed("wait_for", || {
        let line = "--ioengine=null --size=1g --rw=read --time_based --runtime=1 --rate_iops=100 --group_reporting=0 \
                    --name=a --numjobs=2 --name=b --wait_for=a --write_bw_log=b --log_avg_msec=0";
        for ran in &pair_at_once(line) {
            let jobs = jobs(ran);
            if jobs.len() != 3 || jobs.iter().any(|job| job.whole("read/total_ios").abs_diff(100) > 15) {
                return Err("each of the three workers reads for a second".to_owned());
            }
            if ran.outcome.took < std::time::Duration::from_millis(1900) {
                return Err(format!("the whole run took {:?}", ran.outcome.took));
            }
        }
        Ok(())
    });
}

#[test]
fn flows_share_by_weight() {
    require!(Fio);
    timed("flow", || {
        // Idle time, because the last worker to end is alone in its flow for a moment.
        let line = "--ioengine=null --size=1g --rw=read --time_based --runtime=700ms --thinktime=100 --name=a --flow=3 --name=b --flow=2 \
                    --name=c --flow=1 --name=d --flow=5 --flow_id=1";
        for ran in &pair(line) {
            let ios: Vec<u64> = jobs(ran).iter().map(|job| job.whole("read/total_ios")).collect();
            let is_near = |ios: u64, expected: u64| ios.abs_diff(expected) * 20 <= expected;
            if !is_near(ios[0], 3 * ios[2]) || !is_near(ios[1], 2 * ios[2]) {
                return Err(format!("{ios:?} are not as 3:2:1"));
            }
        }
        Ok(())
    });
}

#[test]
fn a_latency_target_leads_to_a_depth() {
    require!(Fio);
    timed("latency_target", || {
        let line = "--name=a --ioengine=null --size=1g --rw=read --time_based --runtime=10 --iodepth=8 \
                    --latency_target=1s --latency_window=100ms --latency_percentile=99.5";
        for ran in &pair_at_once(line) {
            let job = &jobs(ran)[0];
            let found = ["latency_depth", "latency_target", "latency_window"].map(|key| job.whole(key));
            if found != [8, 1_000_000_000, 100_000] || job.number("latency_percentile") != 99.5 {
                return Err(format!("{found:?}"));
            }
            // A search without an end takes all of the ten seconds.
            if job.whole("job_runtime") > 5000 {
                return Err(format!("the job went on for {} ms", job.whole("job_runtime")));
            }
        }
        Ok(())
    });
}

/// Revision dbd633a4 named files by `name`, so jobs of one name shared a file, and kept the blanks around `filename`.
#[test]
fn files_of_sections_had_other_names_than_in_fio() {
    require!(Fio);
    let sections = [
        "[one]\nname=same\nwrite_lat_log\n[two]\nname=same\nrw=write\nverify=md5\n[global]\nname=unused\n[three]\n",
        "[a]\nname=b\nfilename_format=$jobname.$filenum\nnrfiles=2\n[b]\nname=a\n",
        "[a]\nfilename = x\n[b]\nfilename =  y : z \n[c]\nfilename=u:v\n",
    ];
    for section in sections {
        let ran = pair_at_once_in("j.fio", |scratch| {
            scratch.write("j.fio", format!("[global]\nrw=read\nsize=16k\nioengine=psync\n{section}"));
        });
        assert_equal(section, &ran, |ran| {
            let entries = std::fs::read_dir(ran.scratch.path(".")).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            let jobs: Vec<_> =
                jobs(ran).iter().map(|job| (job.text("jobname").to_owned(), job.whole("error"))).collect();
            (names, jobs, ran.outcome.code())
        });
    }
}

/// Revision 33a84f5e showed them as `randrepeat` and `log_alternate_epoch`, and wrote absolute paths to logs of operations.
#[test]
fn options_and_files_had_other_names_in_outputs() {
    require!(Fio);
    let line = "--name=a --size=64k --rw=write --bs=32k --ioengine=psync --allrandrepeat=1 --log_unix_epoch=1 --write_iolog=log";
    assert_equal(line, &pair_at_once(line), |ran| {
        let shown = ["allrandrepeat", "log_unix_epoch"].map(|key| {
            let jobs = jobs(ran);
            jobs[0].find(&format!("job options/{key}")).is_some()
        });
        let words = |line: &str| line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>();
        (shown, ran.scratch.read("log").lines().skip(1).map(words).collect::<Vec<_>>())
    });
}

/// Revision dbd633a4 ended with success if all files together were smaller than a block.
#[test]
fn files_that_are_too_small_fail_as_in_fio() {
    require!(Fio);
    let cases = [
        ("--size=8k --filesize=2k", 1),
        ("--size=8k --filesize=4 --nrfiles=4", 1),
        ("--size=8k --filesize=4k --offset=2k", 1),
        ("--size=8k --filesize=2k --nrfiles=2", 0),
        ("--size=2k --filesize=8k", 1),
        ("--size=10% --filesize=8k", 1),
        ("--size=8k --nrfiles=4", 0),
    ];
    at_once(&cases, |(rest, code)| {
        let line = format!("--name=a --rw=randread --ioengine=psync {rest}");
        let codes = pair_at_once(&line).map(|ran| ran.outcome.code());
        assert_eq!(codes, [Some(*code); 2], "{rest}");
    });
}

/// The journal of ext4 commits a transaction for each file that is flushed.
#[test]
fn files_are_flushed_as_in_fio() {
    require!(Fio, Root);
    let backing = Scratch::new();
    backing.sparse("backing", 64 << 20);
    let device = LoopDevice::over(&backing.path("backing"));
    tool("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", &device.path]);
    let mount = Mount::new(&device.path, backing.path("mounted"));
    // The kernel commits every five seconds otherwise.
    tool("mount", &["-o", "remount,commit=300", &mount.at.to_string_lossy()]);
    let journal = format!("/proc/fs/jbd2/{}-8/info", device.path.trim_start_matches("/dev/"));
    let transactions = || -> u64 {
        let text = std::fs::read_to_string(&journal).expect("the kernel shows the journal");
        text.split_whitespace().next().and_then(|count| count.parse().ok()).expect("a number")
    };
    for (rest, are_flushed) in [("--create_fsync=0", false), ("--create_fsync=1", true), ("--rw=write", false)] {
        let common = "--name=a --nrfiles=30 --filesize=64k --rw=read --create_only=1 --ioengine=psync";
        let line = format!("{common} --directory={} {rest}", mount.at.display());
        let programs = ["Fathom", "fio"].map(|program| {
            for file in std::fs::read_dir(&mount.at).unwrap().map(|entry| entry.unwrap().path()) {
                if file.is_file() {
                    std::fs::remove_file(file).unwrap();
                }
            }
            tool("sync", &["-f", &mount.at.to_string_lossy()]);
            let before = transactions();
            let outcome =
                run(&mut if program == "fio" { fio(words(&line)) } else { fathom(words(&format!("fio {line}"))) });
            assert_eq!(outcome.code(), Some(0), "{}", outcome.stderr);
            transactions() - before
        });
        // The kernel commits now and then, too.
        let is_as_asked = |count: &u64| if are_flushed { *count >= 30 } else { *count < 15 };
        assert!(programs.iter().all(is_as_asked), "{rest}: {programs:?} transactions");
    }
}

#[test]
fn files_are_made_used_and_removed_as_in_fio() {
    require!(Fio);
    let made = pair_at_once("--name=a --size=1m --rw=write --ioengine=psync --create_only=1");
    assert_equal("create_only", &made, |ran| (ran.outcome.code(), ran.scratch.path("a.0.0").metadata().unwrap().len()));
    let removed = pair_at_once("--name=a --size=1m --rw=read --ioengine=psync --unlink=1 --pre_read=1");
    assert_equal("unlink", &removed, |ran| (counts(ran), ran.scratch.path("a.0.0").exists()));
    let below = pair_at_once_in("--name=a --opendir=d --rw=read --ioengine=psync --bs=1k", |scratch| {
        std::fs::create_dir_all(scratch.path("d/sub")).unwrap();
        for (name, bytes) in [("d/one", 50_000), ("d/sub/two", 100_000), ("d/sub/three", 777)] {
            scratch.write(name, vec![7; bytes]);
        }
    });
    assert_equal("opendir", &below, counts);
    let hinted = ["none", "short", "medium", "long", "extreme"].map(|hint| {
        format!("--name={hint} --size=64k --rw=write --ioengine=psync --write_hint={hint} --fadvise_hint=random")
    });
    let ran = pair_at_once(&hinted.join(" "));
    assert_equal("write_hint", &ran, |ran| (ran.outcome.code(), counts(ran)));
    assert_eq!(counts(&ran[0]).len(), hinted.len());
}

/// What a process says of its own attributes.
const ATTRIBUTES: &str = "id -u; id -g; nice; ionice; grep Cpus_allowed_list /proc/self/status; \
     head -1 /proc/self/numa_maps | cut -d' ' -f2; grep VmLck /proc/$PPID/status";

#[test]
fn workers_have_the_attributes_that_the_job_asks_for() {
    require!(Root, Fio);
    let lines = [
        "--nice=7 --prio=3 --cpumask=1 --numa_mem_policy=interleave:0 --lockmem=2m",
        "--prioclass=3 --numa_cpu_nodes=0 --numa_mem_policy=local",
        "--uid=65534 --gid=65534 --prioclass=2 --prio=7",
    ];
    for line in lines {
        let job = format!("--name=a --ioengine=null --size=1m {line} --exec_prerun=./say");
        let ran = pair_at_once_in(&job, |scratch| {
            use std::os::unix::fs::PermissionsExt;
            let everyone = |mode| std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(scratch.path("."), everyone(0o777)).unwrap();
            scratch.write("say", format!("#!/bin/sh\n{ATTRIBUTES}\n"));
            std::fs::set_permissions(scratch.path("say"), everyone(0o755)).unwrap();
        });
        assert_equal(line, &ran, |ran| ran.scratch.read("a.prerun.txt"));
    }
}

#[test]
fn a_command_runs_after_the_job() {
    require!(Fio);
    let ran = pair_at_once("--name=a --ioengine=psync --size=64k --rw=write --exec_postrun=ls");
    for ran in &ran {
        let said = ran.scratch.read("a.postrun.txt");
        assert!(said.contains("a.0.0"), "{said}");
    }
    assert_equal("exec_prerun", &pair_at_once("--name=a --ioengine=null --size=4k --exec_prerun=false"), |ran| {
        ran.outcome.code()
    });
}

#[test]
fn results_of_all_kinds_together_have_the_keys_of_fio() {
    require!(Fio);
    for (unified, terse_fields) in [("mixed", 80), ("both", 162), ("none", 121), ("1", 80), ("0", 121)] {
        let line = format!(
            "--name=a --ioengine=null --size=1m --rw=rw --rwmixread=30 --disk_util=0 --unified_rw_reporting={unified} \
             --output-format=json,terse"
        );
        let ran = pair_at_once(&line);
        assert_equal(&line, &ran, |ran| {
            let job = &jobs(ran)[0];
            let shape: Vec<String> = job.shape().into_iter().filter(|key| !key.contains("percentile")).collect();
            let totals = job.find("mixed").map(|mixed| (mixed.whole("total_ios"), mixed.whole("io_bytes")));
            (shape, totals)
        });
        for ran in &ran {
            let terse = ran.outcome.stdout.lines().next().unwrap();
            assert_eq!(terse.split(';').count(), terse_fields, "{unified}: {terse}");
        }
    }
}

#[test]
fn sizes_and_rates_have_the_figures_that_the_job_asks_for() {
    require!(Fio);
    let jobs = [1, 2, 4, 7, 10].map(|figures| {
        format!("--name=of{figures} --ioengine=null --size=1234567k --bs=64k --rw=read --significant_figures={figures}")
    });
    let words = words(&jobs.join(" "));
    let [ours, theirs] = [fathom(["fio".to_owned()].into_iter().chain(words.clone())), fio(words)].map(|mut one| {
        let outcome = run(&mut one);
        let size = |line: &str| {
            let size = line.rsplit('(').next().unwrap().split('/').next().unwrap().to_owned();
            (size, line.to_owned())
        };
        outcome.stdout.lines().filter(|line| line.contains("IOPS=")).map(size).collect::<Vec<_>>()
    });
    assert_eq!((ours.len(), theirs.len()), (jobs.len(), jobs.len()));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours.0, theirs.0, "{} and {}", ours.1, theirs.1);
    }
}

#[test]
fn a_steady_state_ends_a_job_as_in_fio() {
    require!(Fio);
    timed("steadystate", || {
        let line = |options: &str| {
            format!(
                "--name=a --ioengine=null --size=1g --rw=randrw --time_based --runtime=20 --rate_iops=1000 {options}"
            )
        };
        let cases = [
            ("--ss=iops:5% --ss_dur=3 --ss_ramp=1", true),
            ("--ss=bw_slope:20% --ss_dur=2", true),
            ("--ss=iops:0 --ss_dur=2 --runtime=5", false),
        ];
        let all = at_once(&cases, |(options, _)| pair_at_once(&line(options)));
        for ((options, attained), ran) in cases.into_iter().zip(&all) {
            let found = ran.each_ref().map(|ran| {
                let steady = jobs(ran)[0].at("steadystate").clone();
                let samples = steady.items("data/iops").len();
                (steady.text("ss").to_owned(), steady.whole("duration"), steady.whole("attained"), samples, steady)
            });
            let [ours, theirs] = &found;
            if (&ours.0, ours.1, ours.2, ours.3) != (&theirs.0, theirs.1, theirs.2, theirs.3) {
                return Err(format!("{options}: {ours:?} and {theirs:?}"));
            }
            if (ours.2 == 1) != attained || ours.4.whole("data/iops_mean").abs_diff(2000) > 40 {
                return Err(format!("{options}: {ours:?}"));
            }
            assert_eq!(ours.4.shape(), theirs.4.shape());
        }
        Ok(())
    });
}

#[test]
fn a_log_of_operations_is_replayed_by_the_other_program() {
    require!(Fio);
    let line = "--name=a --filename=f --ioengine=psync --bs=4k --rw=write --size=64k --fsync=4 --write_iolog=log";
    let ran = pair_at_once(line);
    let operations = |ran: &PairedRun| -> Vec<String> {
        let log = ran.scratch.read("log");
        let lines = log.lines().skip(1).filter(|line| line.contains(" write "));
        lines.map(|line| line.split(' ').skip(2).collect::<Vec<_>>().join(" ")).collect()
    };
    assert_equal(line, &ran, operations);
    let replay =
        "--name=a --ioengine=psync --read_iolog=log --replay_no_stall=1 --output-format=json --replay_redirect=f";
    let [ours, theirs] = &ran;
    let replayed_by_fio = run(fio(words(replay)).current_dir(&ours.scratch)).expect_code(0);
    let words_of_ours = ["fio".to_owned()].into_iter().chain(words(replay));
    let replayed_by_us = run(fathom(words_of_ours).current_dir(&theirs.scratch)).expect_code(0);
    for outcome in [replayed_by_fio, replayed_by_us] {
        assert_eq!(Json::read_after_notes(&outcome.stdout).whole("jobs/0/write/total_ios"), 16);
    }
}

/// fio 3.33 has no steady states of latency; the names of the fields are those of later versions.
#[test]
fn a_steady_latency_ends_a_job() {
    let line = |options: &str| {
        format!(
            "fio --name=a --ioengine=null --size=1g --rw=randread --time_based --runtime=20 --rate_iops=2000 --output-format=json \
             {options}"
        )
    };
    // Every limit holds for latencies below a second.
    at_once(&["--ss=lat:1000000000 --ss_dur=2", "--ss=lat_slope:900% --ss_dur=2"], |options| {
        // A busy host may complete nothing for a second, and latencies that vary more may be steady later.
        timed("fio_options::a_steady_latency_ends_a_job", || {
            let found = Json::read_after_notes(&run(&mut fathom(words(&line(options)))).expect_code(0).stdout);
            let steady = found.at("jobs/0/steadystate");
            assert!(options.contains(steady.text("ss").split(':').next().unwrap()), "{options}");
            let is_steady = (steady.whole("attained"), steady.items("data/lat_ns").len()) == (1, 2);
            let is_early = found.whole("jobs/0/read/runtime") < 10_000;
            let is_low = steady.whole("data/lat_mean") < 1_000_000_000;
            if is_steady && is_early && is_low { Ok(()) } else { Err(format!("{options}: {steady:?}")) }
        });
    });
    for (options, message) in [
        ("--ss=lat:5% --ss_dur=2 --disable_clat=1", "needs completion latencies"),
        ("--ss=latency:5% --ss_dur=2", "is not a steady-state criterion"),
        ("--ss=lat --ss_dur=2", "a limit is missing"),
    ] {
        let refused = run(&mut fathom(words(&line(options)))).expect_code(1);
        assert!(refused.stderr.contains(message), "{options}: {}", refused.stderr);
    }
}

#[test]
fn idle_processors_are_listed_as_in_fio() {
    require!(Fio);
    let job = "--name=a --ioengine=null --size=1g --rw=read --rate_iops=1000 --time_based --runtime=100ms";
    let lines = |text: &str| -> Vec<String> {
        let from = text.lines().skip_while(|line| !line.starts_with("CPU idleness"));
        // Numbers differ from run to run.
        let shape = |line: &str| line.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        // fio lists all processors, also those that it may not use.
        from.map(|line| shape(line).replace(".%, .%", ".%")).collect()
    };
    let of = |options: &str| {
        let words = words(options);
        let commands = [fathom(["fio".to_owned()].into_iter().chain(words.clone())), fio(words)];
        commands.map(|mut one| run(&mut one).expect_code(0).stdout)
    };
    let each = of(&format!("--idle-prof=percpu --output-format=json,normal {job}"));
    for [ours, theirs] in [of("--idle-prof=calibrate"), of(&format!("--idle-prof=system {job}")), each.clone()] {
        assert_eq!(lines(&ours), lines(&theirs));
        assert!(!lines(&ours).is_empty());
    }
    let idleness = each.map(|text| {
        let document = text.split_inclusive('\n').skip_while(|line| *line != "{\n");
        let end = document.clone().position(|line| line == "}\n").expect("a document");
        let read = Json::read(&document.take(end + 1).collect::<String>());
        ["system", "cpu-0", "unit_mean", "unit_stddev"].map(|key| read.at(&format!("cpu_idleness/{key}")).shape())
    });
    assert_eq!(idleness[0], idleness[1]);
    let refused = run(&mut fathom(words(&format!("fio --idle-prof=all {job}")))).expect_code(1);
    assert!(refused.stderr.contains("one of system, percpu, calibrate"), "{}", refused.stderr);
}
