//! `fathom sim`, compared with measurements of the modelled volumes.

use record::Run;

use crate::common::host::timed;
use crate::common::model::{assert_near, pace, read, record, record_of_file, refused, simulate};
use crate::common::{Scratch, fathom, flat, run, words};

const HYPERDISK: &str = "gcp/hyperdisk-balanced,size=1TiB,iops=160000,throughput=2400MiB/s";

#[test]
fn hyperdisk_at_depth_32_gives_the_figures_of_the_article() {
    let run = record(HYPERDISK, "--name=a --rw=randread --iodepth=32 --runtime=5 --time_based");
    let reads = read(&run.jobs[0]);
    assert_near("IOPS", reads.iops(), 24_097.3, 0.01);
    assert_near("mean", reads.service.mean_ns, 1_314_620.0, 0.01);
    assert_near("deviation", reads.service.stddev_ns, 210_370.0, 0.05);
    let printed =
        [(1.0, 980), (5.0, 1057), (10.0, 1123), (50.0, 1303), (90.0, 1565), (95.0, 1696), (99.0, 2057), (99.9, 2933)];
    for (percent, us) in printed {
        let found = reads.service.percentile_ns(percent).expect("histograms are kept") as f64 / 1e3;
        assert_near(&format!("p{percent}"), found, f64::from(us), 0.03);
    }
}

#[test]
fn hyperdisk_names_its_limit_and_the_depth_that_reaches_it() {
    let shallow = simulate(HYPERDISK, "--name=a --rw=randread --iodepth=32 --runtime=5 --time_based").expect_clean();
    let text = flat(&shallow.stdout);
    assert!(text.contains("reaching it takes 212 in flight. DO Set iodepth=212."), "{text}");
    let deep = simulate(HYPERDISK, "--name=a --rw=randread --iodepth=320 --runtime=5 --time_based").expect_clean();
    assert!(deep.stdout.contains("limit is volume IOPS"), "{}", deep.stdout);
}

#[test]
fn burst_credits_have_a_duration_and_an_end() {
    let printed = |volume: &str, seconds: u32| {
        let words = format!("--name=a --rw=randread --bs=4k --iodepth=32 --runtime={seconds} --time_based");
        flat(&simulate(volume, &words).expect_clean().stdout)
    };
    let lasting = printed("aws/gp2", 10);
    assert!(lasting.contains("limit is burst IOPS"), "{lasting}");
    assert!(lasting.contains("Burst credits: 5.37M left; at 2.70k/s they last 33.2 min."), "{lasting}");
    let empty = printed("vultr/hdd-block", 120);
    assert!(empty.contains("IOPS for 59.9 s, then 500: the burst credits of volume IOPS ran out."), "{empty}");
    assert!(empty.contains("DO Plan with the sustained 500 IOPS; ramp_time=60s"), "{empty}");
}

#[test]
fn vultr_keeps_its_limits_at_small_and_large_blocks() {
    // After the burst of 60 s at 150 %.
    let job = "--name=a --rw=randrw --iodepth=32 --ramp_time=70 --runtime=20 --time_based";
    for (block, expected) in [("4k", 500.0), ("1m", 100e6 / 1_048_576.0)] {
        let run = record("vultr/hdd-block", &format!("{job} --bs={block}"));
        let (iops, mean_us) = pace(&run);
        assert_near(block, iops, expected, 0.01);
        assert_near(&format!("{block} latency"), mean_us, 32.0 / expected * 1e6, 0.01);
    }
}

#[test]
fn vultr_bursts_for_a_minute_and_earns_its_credit_back() {
    let jobs = "[global]\nrw=randread\niodepth=32\ntime_based\nioengine=model\n\
                [burst]\nruntime=60\n[after]\nstonewall\nruntime=30\n\
                [rest]\nstonewall\nrate_iops=250\nruntime=60\n[again]\nstonewall\nruntime=59\n";
    let run = record_of_file("vultr/hdd-block", jobs);
    let iops: Vec<f64> = run.jobs.iter().map(|job| job.result.iops()).collect();
    for (found, expected) in iops.iter().zip([750.0, 500.0, 250.0, 750.0]) {
        assert_near("a stage", *found, expected, 0.01);
    }
}

/// Simulates the job file of the recipe: twelve disks, each with twelve workers of depth 8.
fn nutanix(threads: u32) -> Run {
    let jobs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/nutanix-2m-iops.fio");
    let volume = format!("nutanix/ahv-4node,frodo_threads={threads}");
    let mut command = fathom(["sim", "--on", &volume, jobs, "--format", "json"]);
    command.env("TARGET", "/dev/vdisk").env("SIZE", "1g").env("RUNTIME", "300ms").env("CPUS", "0-11");
    let outcome = run(&mut command).expect_clean();
    record::from_json(&outcome.stdout).expect("sim prints a record")
}

#[test]
fn nutanix_gives_the_figures_of_the_recipe() {
    for (threads, iops, mean_us, limit) in [(12, 2_018_000.0, 570.3, "vCPUs"), (2, 850_000.0, 1_355.3, "FRODO threads")]
    {
        let run = nutanix(threads);
        let (found, mean) = pace(&run);
        assert_near(&format!("IOPS with {threads} threads"), found, iops, 0.01);
        assert_near(&format!("mean with {threads} threads"), mean, mean_us, 0.01);
        let model = run.model.expect("a simulation has a model");
        let binding = model.stages.iter().max_by_key(|stage| stage.delay_ns).expect("it has stages");
        assert_eq!(binding.name, limit);
        assert!(model.volumes.iter().any(|volume| volume.notes.iter().any(|note| note.contains("explanations"))));
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let job = "--name=a --rw=randrw --iodepth=16 --numjobs=3 --runtime=2 --time_based --format json";
    let first = simulate(HYPERDISK, &format!("{job} --seed=5")).expect_clean().stdout;
    assert_eq!(first, simulate(HYPERDISK, &format!("{job} --seed=5")).expect_clean().stdout);
    assert_ne!(first, simulate(HYPERDISK, &format!("{job} --seed=6")).expect_clean().stdout);
}

#[test]
fn a_sweep_has_a_row_for_each_value() {
    let outcome =
        simulate(HYPERDISK, "--name=a --rw=randread --runtime=1 --time_based --vary iodepth=1..4").expect_clean();
    assert!(
        outcome
            .stdout
            .starts_with("ANSWER    iodepth=4 gives 3.03k IOPS at 1.32 ms (limit: latency), the most of 3, and"),
        "{}",
        outcome.stdout
    );
    let table = outcome.stdout.lines().skip_while(|line| !line.trim_start().starts_with("iodepth "));
    let rows: Vec<&str> = table.filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(rows, ["iodepth", "1", "2", "4"]);
    // The depth from which more is no use, on the page beside its curves; many values fit a screen.
    let scratch = Scratch::new();
    let page = scratch.text("vary.html");
    let job = "--name=a --rw=randread --runtime=1 --time_based --seed=1 --vary iodepth=1..24/1";
    let text = simulate("aws/gp3", &format!("{job} -o {page}")).expect_clean().stdout;
    assert!(
        text.starts_with("ANSWER    iodepth=3 is enough: ") || text.starts_with("ANSWER    iodepth=4 is enough: "),
        "{text}"
    );
    assert!(text.contains("iodepth=24 gives no more:") && text.lines().count() <= 24, "{text}");
    let html = std::fs::read_to_string(page).unwrap();
    assert!(
        html.contains(" is enough: ") && html.contains("aria-label=\"IOPS against") && !html.contains("differs from"),
        "{html}"
    );
    let volume = "gcp/hyperdisk-balanced,size=1TiB";
    let outcome =
        simulate(volume, "--name=a --rw=randread --iodepth=512 --runtime=3 --time_based --vary on.iops=10000,20000")
            .expect_clean();
    assert!(outcome.stdout.contains("10.0k") && outcome.stdout.contains("20.0k"), "{}", outcome.stdout);
}

#[test]
fn bad_volumes_are_located_and_explained() {
    for (volume, message) in
        [("gcp/hyperdisk-balance", "did you mean `hyperdisk-balanced`?"), ("./no-such-file.toml", "no-such-file.toml")]
    {
        let outcome = simulate(volume, "--name=a --rw=randread --runtime=1").expect_code(2);
        assert!(
            outcome.stderr.contains("error[volume]") && outcome.stderr.contains(message),
            "{volume}: {}",
            outcome.stderr
        );
        assert_eq!(outcome.stdout, "");
    }
}

#[test]
fn volumes_on_one_machine_share_its_limits() {
    // By its size, each sustains 15,000 reads per second; eight vCPUs allow 15,000 for both.
    let jobs = "[global]\nrw=randread\niodepth=64\ntime_based\nruntime=1\nioengine=model\n\
                [one]\nfilename=/dev/sdb\n[two]\nfilename=/dev/sdc\n";
    let run = record_of_file("gcp/pd-ssd@2019,size=500GB,vcpus=8", jobs);
    let each: Vec<f64> = run.jobs.iter().map(|job| job.result.iops()).collect();
    assert_near("both together", each.iter().sum(), 15_000.0, 0.01);
    assert_near("the first", each[0], 7_500.0, 0.02);
    // Without a binding machine limit, the limits of the sizes add up.
    let run = record_of_file("gcp/pd-ssd@2019,size=500GB,vcpus=32", jobs);
    assert_near("on 32 vCPUs", pace(&run).0, 30_000.0, 0.01);
}

#[test]
fn machines_that_read_one_volume_share_its_limits() {
    let jobs = "[global]\nrw=randread\niodepth=256\ntime_based\nruntime=1\nioengine=model\nfilename=/dev/sdb\n\
                [one]\nvolume=gcp/hyperdisk-ml,size=1TiB,throughput=400MiB/s,host=a\n\
                [two]\nvolume=gcp/hyperdisk-ml,size=1TiB,throughput=400MiB/s,host=b\n";
    let run = record_of_file("gcp/hyperdisk-ml,size=1TiB,throughput=400MiB/s", jobs);
    // 16 IOPS per MiB/s, shared by both.
    assert_near("both together", pace(&run).0, 6_400.0, 0.01);
}

#[test]
fn a_model_runs_in_real_time() {
    let volume = "vultr/hdd-block";
    let words = words("--name=a --rw=randread --iodepth=16 --runtime=2 --time_based --format json --progress off");
    // Limits follow their schedule: 150 % at the start.
    timed("simulations::a_model_runs_in_real_time", || {
        let outcome = run(fathom(["run", "--on", volume]).args(&words)).expect_one_of(&[0, 4]);
        if outcome.code() == Some(4) {
            return Err(format!("distrusted: {outcome:#?}"));
        }
        assert_eq!(outcome.stderr, "");
        assert!(outcome.took.as_secs_f64() > 2.0, "{:?}", outcome.took);
        let run = record::from_json(&outcome.stdout).expect("run prints a record");
        assert!(!run.model.as_ref().expect("it is a model").virtual_time);
        let iops = pace(&run).0;
        if (iops / 750.0 - 1.0).abs() <= 0.03 { Ok(()) } else { Err(format!("{iops} IOPS of 750")) }
    });
}

#[test]
fn devices_and_models_are_not_mixed_in_one_run() {
    let scratch = Scratch::new();
    let jobs = "[a]\nioengine=model\nvolume=hdd/7200rpm\nruntime=1\n[b]\nfilename=x\nsize=1m\n";
    let outcome = run(fathom(["run"]).arg(scratch.write("jobs.fio", jobs))).expect_code(2);
    assert!(outcome.stderr.contains("modelled"), "{}", outcome.stderr);
    assert_eq!(scratch.names(), ["jobs.fio"]);
}

/// Exit code of a run whose figures are not those of the volume.
const DISTRUSTED: i32 = 4;

/// Returns the record of a simulation that does not measure its volume, according to its verdict.
#[track_caller]
fn distrusted(volume: &str, text: &str) -> Run {
    let outcome = simulate(volume, &format!("{text} --format json")).expect_code(DISTRUSTED);
    record::from_json(&outcome.stdout).expect("sim prints a record")
}

#[test]
fn a_buffered_job_is_reported_to_measure_the_page_cache() {
    let text = "--name=a --rw=randread --size=4m --loops=4 --invalidate=0 --ioengine=psync";
    let warm = simulate("custom,latency=2ms,size=10GiB", &format!("{text} --details")).expect_code(DISTRUSTED);
    assert!(warm.stdout.starts_with("ANSWER    Do not trust 2.00k IOPS"), "{}", warm.stdout);
    assert!(flat(&warm.stdout).contains("This measured the page cache, not the device"), "{}", warm.stdout);
    assert!(warm.stdout.contains("page cache    75.0% of reads hit"), "{}", warm.stdout);
    let run = distrusted("custom,latency=2ms,size=10GiB", text);
    let cache = &run.model.expect("the run was modelled").page_caches[0];
    assert_eq!((cache.reads, cache.read_hits, cache.fetched_bytes), (4 << 10, 3 << 10, 4 << 20));
    // `direct=1` and the engine of models bypass the page cache.
    for bypass in ["--direct=1 --ioengine=libaio", "--ioengine=model"] {
        let run = record("custom,latency=2ms,size=10GiB", &format!("--name=a --rw=randread --size=1m {bypass}"));
        assert!(run.model.is_some_and(|model| model.page_caches.is_empty()), "{bypass}");
    }
}

#[test]
fn read_ahead_and_memory_are_keys_of_a_volume() {
    let text = "--name=a --rw=read --bs=256k --size=128m --ioengine=psync";
    let throughput = |volume: &str| {
        let run = record(volume, text);
        read(&run.jobs[0]).bytes as f64 / (1 << 20) as f64 / (run.model.expect("modelled").elapsed_ns as f64 / 1e9)
    };
    assert_near("far", throughput("custom,latency=2ms,throughput=400MiB/s,size=10GiB,read_ahead=8MiB"), 400.0, 0.02);
    assert!(throughput("custom,latency=2ms,throughput=400MiB/s,size=10GiB") < 260.0);
    let text = "--name=a --rw=write --bs=1m --size=1g --ioengine=psync";
    let run = distrusted("custom,latency=2ms,throughput=100MiB/s,size=10GiB,memory=1GiB", text);
    let cache = &run.model.expect("modelled").page_caches[0];
    assert_eq!((cache.written_bytes, cache.memory_bytes), (1 << 30, 1 << 30));
    assert!(cache.writes_held > 0 && cache.unwritten_bytes > 100 << 20, "{cache:?}");
}

/// The simulation ran forever at time zero, and no signal could end it.
#[test]
fn a_loop_in_which_no_time_passes_is_refused() {
    let job = "--name=a --rw=randrw --runtime=1 --time_based --size=1g";
    for (volume, kind) in [("custom", "reads"), ("custom,read_iops=100", "writes")] {
        let error = refused(volume, job);
        assert!(
            error.contains(&format!("{kind} on {volume} have no latency and no limit")) && error.contains("`latency=`"),
            "{error}"
        );
    }
    assert_near("IOPS", pace(&record("custom", &format!("{job} --rate_iops=1000"))).0, 2000.0, 0.01);
}

/// More operations than can be numbered caused a panic.
#[test]
fn too_many_operations_in_flight_are_refused() {
    let error = refused("custom,iops=10", "--name=a --rw=randread --size=1m --numjobs=1000 --iodepth=10000");
    assert!(error.contains("10000000 operations in flight") && error.contains("numjobs"), "{error}");
}

/// Errors of `--on` were marked in the text of the jobs.
#[test]
fn an_error_of_a_volume_is_marked_in_its_own_text() {
    let drawn = "--> --on:1:13\n  |\n1 | custom,iops=0\n  |             ^\n";
    let error = refused("custom,iops=0", "--name=a --rw=randread --size=1m");
    assert!(error.contains(drawn), "{error}");
    let error = refused("custom,iops=5", "--name=a --rw=randread --size=1m --vary on.iops=0,1");
    assert!(error.contains(drawn) && error.contains("with on.iops=0"), "{error}");
    let scratch = Scratch::new();
    let text = "[a]\nioengine=model\nvolume=custom,iops=0\nsize=1m\n";
    let outcome = run(fathom(["sim"]).arg(scratch.write("jobs.fio", text))).expect_code(2);
    assert!(outcome.stderr.contains("jobs.fio:3:20"), "{}", outcome.stderr);
}

#[test]
fn exitall_ends_the_other_jobs_of_the_stage() {
    let text = "[global]\nrw=randread\nsize=1g\ntime_based\n[a]\nruntime=1\nexitall\n[b]\nruntime=100\n[c]\n\
                stonewall\nruntime=2\n";
    let run = record_of_file("custom,latency=1ms", text);
    let ios: Vec<u64> = run.jobs.iter().map(|job| job.result.ios()).collect();
    assert_eq!(ios, [1000, 1000, 2000], "the next stage is unaffected");
}

/// An unknown file extension was reported after the files before it had been emptied.
#[test]
fn a_mistyped_output_leaves_result_files_unchanged() {
    let scratch = Scratch::new();
    let (good, bad) = (scratch.path("good.json"), scratch.path("bad.zip"));
    std::fs::write(&good, "results").expect("the scratch directory is writable");
    for sweep in [&[][..], &["--vary", "iodepth=1,2"]] {
        for again in [&bad, &good] {
            let mut command = fathom(["sim", "--on", "custom,iops=9", "--name=a", "--size=1m", "-o"]);
            run(command.arg(&good).arg("-o").arg(again).args(sweep)).expect_code(2);
            assert_eq!(std::fs::read_to_string(&good).expect("it exists"), "results");
        }
    }
}

#[test]
fn a_sweep_refuses_shared_logs_and_has_dry_runs() {
    let job = "--name=a --rw=randread --size=1m --vary iodepth=1,2";
    let scratch = Scratch::new();
    let (log, events) = (scratch.path("log"), scratch.path("events"));
    for text in [format!("--write_lat_log={}", log.display()), format!("--events {}", events.display())] {
        let error = refused("custom,iops=9", &format!("{job} {text}"));
        assert!(error.contains("omit"), "{error}");
    }
    assert!(!events.exists() && !scratch.path("log_lat.1.log").exists());
    for (word, message) in [("--dry-run", "touches nothing"), ("--show-jobs", "iodepth")] {
        let printed = simulate("custom,iops=9", &format!("{job} {word}")).expect_clean().stdout;
        assert!(
            printed.contains("with iodepth=1:") && printed.contains("with iodepth=2:") && printed.contains(message),
            "{printed}"
        );
        assert!(!printed.contains("bandwidth"), "{printed}");
    }
}

/// The time before the first job does not count for the utilization.
#[test]
fn a_delayed_start_does_not_lower_utilization() {
    let job = "--name=a --rw=randread --size=1g --runtime=5 --time_based";
    for delay in ["", " --startdelay=20"] {
        let text = flat(&simulate("custom,iops=5000,latency=1ms", &format!("{job}{delay}")).expect_clean().stdout);
        assert!(text.contains("used to 20.0%; reaching it takes 5 in flight"), "{text}");
    }
}

#[test]
fn azure_bursts_until_its_credits_are_spent() {
    // 2 % of the credits for 30 minutes at 3,500 above 2,300.
    let run = record("azure/p20,credits=2%", "--name=a --rw=randread --iodepth=64 --runtime=50 --time_based");
    let series = &run.jobs[0].result.series;
    let rate = |at_s: u64| {
        let interval = &series.intervals[(at_s * 1_000_000_000 / series.width_ns) as usize];
        interval.ios[0] as f64 / (series.width_ns as f64 / 1e9)
    };
    assert_near("in its burst", rate(20), 3_500.0, 0.01);
    assert_near("after it", rate(45), 2_300.0, 0.01);
    let model = run.model.as_ref().expect("a simulation has a model");
    let empty_ns = model.stages.iter().filter_map(|stage| stage.credits.as_ref()?.empty_at_ns).min();
    assert_near("it runs out", empty_ns.expect("it runs out") as f64 / 1e9, 36.0, 0.005);
}
