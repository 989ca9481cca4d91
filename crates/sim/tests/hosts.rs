//! Simulated hosts that share volumes, in virtual time, where results are exact.

use std::sync::{Arc, Mutex};

use job::limits::Capacity;
use job::{InjectedOptions, JobArguments, Plan, SplitKind};
use meter::LogChunk;
use record::{Run, ServiceStage, StageHosts};
use runner::{LogPlan, LogSink, NullObserver, RunOptions, Runner, Seeds, Uninterrupted, WorkerLog};
use sim::model::ModelRunner;
use units::{Problem, ProblemCode};

/// A volume of 10,000 IOPS on machines of 1,000.
const FILE: &str = r#"
[[volume]]
id = "disk"
title = "Disk behind a slow machine"
media = "SSD"
key.size = { unit = "GiB", default = 100, min = 1, max = 10_000 }
limit = [
    { name = "volume IOPS", iops = "10_000" },
    { name = "machine IOPS", scope = "machine", iops = "1_000" },
]
latency.read = { law = "constant", us = 500 }
latency.write = { law = "constant", us = 500 }
"#;

/// Keeps the offsets of logged operations, by worker.
#[derive(Clone, Debug, Default)]
struct KeptOffsets(Arc<Mutex<Vec<Vec<u64>>>>);

#[derive(Debug)]
struct KeptLog(KeptOffsets, usize);

impl LogSink for KeptOffsets {
    fn create(&self, plan: &LogPlan) -> Result<Box<dyn WorkerLog>, Problem> {
        // `PREFIX_lat.3.log` belongs to the third worker.
        let number: usize = plan.files[0].path.split('.').nth(1).unwrap().parse().unwrap();
        let mut kept = self.0.lock().unwrap();
        let workers = kept.len().max(number);
        kept.resize(workers, Vec::new());
        Ok(Box::new(KeptLog(self.clone(), number - 1)))
    }
}

impl WorkerLog for KeptLog {
    fn exchange(&mut self, filled: LogChunk) -> LogChunk {
        self.0.0.lock().unwrap()[self.1].extend(filled.operations.iter().map(|operation| operation.offset));
        LogChunk::default()
    }

    fn finish(self: Box<Self>) -> Result<(), Problem> {
        Ok(())
    }
}

fn plan(volume: &str, words: &str, hosts: Option<u32>, split: Option<SplitKind>) -> Plan {
    let words: Vec<String> = words.split_whitespace().map(|word| format!("--{word}")).collect();
    let before = [("ioengine", "model"), ("volume", volume)].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let around = InjectedOptions { before: before.into(), after: Vec::new() };
    let arguments = JobArguments { words: &words, sections: &[], around: &around, source: &job::EmptySource };
    job::parse_on_hosts(arguments, hosts, split).into_result().unwrap().0
}

fn run_with(sink: &KeptOffsets, volume: &str, words: &str, hosts: Option<u32>) -> Result<Run, String> {
    run_split(sink, volume, words, hosts, None)
}

fn run_split(
    sink: &KeptOffsets,
    volume: &str,
    words: &str,
    hosts: Option<u32>,
    split: Option<SplitKind>,
) -> Result<Run, String> {
    let read = |path: &str| {
        if path == "./disk.toml" {
            Ok(FILE.to_owned())
        } else {
            Err(Problem::error(ProblemCode::UnreadableInput, "no file"))
        }
    };
    let runner = ModelRunner::in_virtual_time(Capacity::default(), read, Arc::new(sink.clone()));
    let plan = plan(volume, words, hosts, split);
    let prepared = runner.prepare(&plan, Seeds::fixed(7)).map_err(|problems| format!("{problems:?}"))?;
    let completed = prepared.run(&RunOptions::default(), &Uninterrupted, &mut NullObserver).unwrap();
    assert_eq!(completed.workers.len(), prepared.workers().len());
    Ok(completed.run)
}

fn run(volume: &str, words: &str, hosts: Option<u32>) -> Run {
    run_with(&KeptOffsets::default(), volume, words, hosts).unwrap()
}

fn ios(run: &Run) -> Vec<u64> {
    run.fleet.as_ref().unwrap().members.iter().map(record::RankRecord::ios).collect()
}

fn stage<'a>(run: &'a Run, name: &str) -> &'a ServiceStage {
    let model = run.model.as_ref().unwrap();
    let found: Vec<_> = model.stages.iter().filter(|stage| stage.name == name).collect();
    assert_eq!(found.len(), 1, "{:?}", model.stages);
    found[0]
}

const READS: &str = "name=a rw=randread bs=4k iodepth=8 runtime=10 time_based";

#[test]
fn a_shared_limit_divides_equally() {
    for hosts in [2, 4, 8] {
        let run = run("custom,size=10GiB,iops=4000,latency=500us,jitter=0ms", READS, Some(hosts));
        let (each, total) = (ios(&run), run.jobs[0].result.ios());
        let iops = run.jobs[0].result.iops();
        assert!((iops / 4_000.0 - 1.0).abs() < 0.002, "{iops}");
        assert_eq!((each.len() as u32, each.iter().sum::<u64>()), (hosts, total));
        let (least, most) = (each.iter().min().unwrap(), each.iter().max().unwrap());
        assert!(most - least <= 8, "{each:?}");
        let limit = stage(&run, "volume IOPS");
        assert_eq!((limit.hosts, limit.requests), (Some(StageHosts { hosts, stages: 1, hosts_of_run: 0 }), total));
        assert_eq!(limit.label(), format!("volume IOPS shared by {hosts} hosts"));
        assert_eq!((run.jobs[0].workers, run.jobs[0].declared.in_flight_asked), (hosts, Some(8 * u64::from(hosts))));
        assert_eq!(run.fleet.unwrap().hosts(), hosts as usize);
    }
}

#[test]
fn the_limit_of_each_machine_binds_before_that_of_the_volume() {
    let few = run("./disk.toml", READS, Some(4));
    assert!((few.jobs[0].result.iops() / 4_000.0 - 1.0).abs() < 0.01);
    let (machine, volume) = (stage(&few, "machine IOPS"), stage(&few, "volume IOPS"));
    assert_eq!(
        (machine.hosts, machine.owner.as_str()),
        (Some(StageHosts { hosts: 4, stages: 4, hosts_of_run: 0 }), "host0 to host3")
    );
    assert_eq!(machine.label(), "machine IOPS per host");
    assert!((machine.utilisation - 1.0).abs() < 0.01 && (volume.utilisation - 0.4).abs() < 0.01);
    assert!(machine.decided as f64 > 0.9 * machine.requests as f64 && volume.decided == 0, "{machine:?}");
    assert_eq!(machine.requests, few.jobs[0].result.ios());
    let many = run("./disk.toml", READS, Some(20));
    assert!((many.jobs[0].result.iops() / 10_000.0 - 1.0).abs() < 0.01);
    assert!((stage(&many, "machine IOPS").utilisation - 0.5).abs() < 0.01);
    // The waits of all hosts at their machines are one stage, so waits add up to the service time.
    let (waits, rest) = many.model.as_ref().unwrap().waits_of(&many.jobs[0]);
    let service = many.jobs[0].result.service_mean_ns().unwrap();
    let sum = waits.iter().map(|wait| wait.mean_ns).sum::<f64>() + rest.unwrap();
    assert!((sum / service - 1.0).abs() < 1e-9 && (rest.unwrap() / 500_000.0 - 1.0).abs() < 0.02, "{rest:?}");
}

#[test]
fn one_host_is_the_run_without_hosts() {
    for (volume, words) in [
        (
            "aws/gp3,size=1TiB,iops=16000,machine=m5.large",
            "name=a rw=randrw iodepth=16 numjobs=2 runtime=2 name=b rw=write bs=64k size=1g stonewall",
        ),
        ("hdd/7200rpm", "name=a rw=randread iodepth=4 numjobs=3 group_reporting runtime=5"),
        ("custom,iops=500,latency=1ms,size=8GiB", "name=a rw=read ioengine=psync size=100m rate_iops=900 filename=x"),
    ] {
        let (without, with) = (run(volume, words, None), run(volume, words, Some(1)));
        assert!(without.jobs[0].result.ios() > 100);
        assert_eq!(without.jobs, with.jobs);
        let mut model = with.model.clone().unwrap();
        for stage in &mut model.stages {
            assert_eq!(stage.hosts.take(), Some(StageHosts { hosts: 1, stages: 1, hosts_of_run: 0 }));
        }
        model.page_caches.iter_mut().for_each(|cache| cache.host = "host".to_owned());
        let machines = model.stages.iter_mut().filter(|stage| stage.owner == "host0");
        machines.for_each(|stage| stage.owner = "host".to_owned());
        assert_eq!(without.model, Some(model));
        assert_eq!((with.fleet.unwrap().members.len(), without.fleet), (1, None));
    }
}

#[test]
fn each_host_has_random_numbers_of_its_own_and_a_seed_repeats_them() {
    let offsets = |hosts| {
        let sink = KeptOffsets::default();
        let words = "name=a rw=randread iodepth=1 number_ios=50 numjobs=2 size=1g write_lat_log=a";
        run_with(&sink, "custom,size=10GiB,iops=4000,latency=500us", words, hosts).unwrap();
        std::mem::take(&mut *sink.0.lock().unwrap())
    };
    let (one, three) = (offsets(None), offsets(Some(3)));
    assert_eq!((one.len(), three.len()), (2, 6));
    // Workers of one number on all hosts are consecutive.
    assert_eq!((&one[0], &one[1]), (&three[0], &three[3]));
    for (number, worker) in three.iter().enumerate() {
        assert!(worker.len() >= 50 && three[..number].iter().all(|other| other != worker), "worker {number}");
    }
    assert_eq!(three, offsets(Some(3)));
}

#[test]
fn each_host_has_a_page_cache_of_its_own() {
    let words = "name=a rw=read bs=128k ioengine=psync size=64m filename=data name=b rw=read bs=128k ioengine=psync \
                 size=64m filename=data stonewall invalidate=0";
    let run = run("custom,size=10GiB,iops=4000,latency=500us", words, Some(3));
    let caches = &run.model.as_ref().unwrap().page_caches;
    assert_eq!(caches.len(), 1);
    assert_eq!((caches[0].read_bytes, caches[0].fetched_bytes), (3 * 2 * (64 << 20), 3 * (64 << 20)));
    assert_eq!((caches[0].host.as_str(), caches[0].memory_bytes), ("total of 3 machines", 3 * (8 << 30)));
}

#[test]
fn a_path_of_its_own_is_a_volume_of_its_own() {
    let words = format!("{READS} filename=/dev/disk${{RANK}}");
    let run = run("custom,size=10GiB,iops=1000,latency=500us,jitter=0ms", &words, Some(5));
    assert!((run.jobs[0].result.iops() / 5_000.0 - 1.0).abs() < 0.01);
    let limit = stage(&run, "volume IOPS");
    assert_eq!(limit.hosts, Some(StageHosts { hosts: 5, stages: 5, hosts_of_run: 0 }));
    assert_eq!((run.model.as_ref().unwrap().volumes.len(), run.jobs.len()), (5, 1));
    // Files of all hosts lie on one volume, unless their volumes differ.
    let words = format!("{READS} size=1g filename=data.${{RANK}}");
    let run = self::run("custom,size=10GiB,iops=1000,latency=500us,jitter=0ms", &words, Some(5));
    assert!((run.jobs[0].result.iops() / 1_000.0 - 1.0).abs() < 0.02);
    assert_eq!(run.model.unwrap().volumes.len(), 1);
}

#[test]
fn stages_and_jobs_of_hosts_belong_together() {
    let words = "name=a rw=randread runtime=3 iodepth=4 filename=/dev/a name=b rw=randread runtime=1 filename=/dev/b \
                 numjobs=2 name=c rw=randread runtime=1 filename=/dev/c stonewall";
    let run = run("custom,size=10GiB,iops=1000,latency=500us,jitter=0ms", words, Some(3));
    let jobs: Vec<_> = run.jobs.iter().map(|job| (job.name.as_str(), job.number, job.workers)).collect();
    assert_eq!(jobs, [("a", 0, 3), ("b", 3, 3), ("b", 6, 3), ("c", 9, 3)]);
    let model = run.model.as_ref().unwrap();
    for (job, path) in run.jobs.iter().zip(["/dev/a", "/dev/b", "/dev/b", "/dev/c"]) {
        let owners: Vec<_> = model.stages_of(job).map(|stage| stage.owner.as_str()).collect();
        assert_eq!(owners, [path], "{}", job.name);
    }
    // Job c of all hosts begins after job a of all hosts.
    assert!((3.9..4.1).contains(&(model.elapsed_ns as f64 / 1e9)), "{}", model.elapsed_ns);
}

#[test]
fn what_hosts_cannot_do_is_refused_with_the_reason() {
    let refusal =
        |volume: &str, words: &str, hosts| run_with(&KeptOffsets::default(), volume, words, Some(hosts)).unwrap_err();
    let text = refusal("custom,iops=1000", "name=a rw=read numjobs=200 runtime=1", 10_000);
    assert!(
        text.contains("2,000,000 workers") && text.contains("1,048,576") && text.contains("simulate fewer hosts"),
        "{text}"
    );
    let text = refusal("custom,iops=1000", "name=a rw=read numjobs=4294967 iodepth=65536 runtime=1", 10_000);
    assert!(text.contains("workers") && text.contains("simulate fewer hosts"), "{text}");
    let text = refusal("custom,iops=1000", "name=a rw=read iodepth=512 runtime=1", 10_000);
    assert!(text.contains("5120000 operations in flight") && text.contains("2097152"), "{text}");
    let text = refusal("custom,size=10GiB,iops=1000", "name=a rw=read size=1g filename=f.${RANK}", 11);
    assert!(text.contains("f.10 needs 1 GiB") && text.contains("has 0 B left"), "{text}");
    let text = refusal("custom,size=10GiB,iops=100${RANK}", "name=a rw=read filename=/dev/a runtime=1", 3);
    assert!(
        text.contains("iops=1000 on host0")
            && text.contains("iops=1001 on host1")
            && text.contains("is one volume, but"),
        "{text}"
    );
}

#[test]
fn burst_credits_of_machines_are_those_of_one_host_on_average() {
    let words = "name=a rw=randread iodepth=32 runtime=60 time_based";
    let volume = "aws/io2,size=1TiB,iops=64000,machine=m5.large";
    let (one, many) = (run(volume, words, Some(1)), run(volume, words, Some(3)));
    let left = |run: &Run| stage(run, "machine IOPS").credits.unwrap();
    assert!((left(&many).left / left(&one).left - 1.0).abs() < 0.001, "{:?} {:?}", left(&one), left(&many));
    let last = |run: &Run| stage(run, "machine IOPS").levels.last().copied().unwrap().1;
    assert!((last(&many) / last(&one) - 1.0).abs() < 0.001);
    assert!((many.jobs[0].result.iops() / one.jobs[0].result.iops() - 3.0).abs() < 0.01);
}

const STEADY: &str = "custom,size=10GiB,iops=4000,latency=500us,jitter=0ms";

#[test]
fn a_job_runs_on_the_hosts_of_its_ranks() {
    let run = run("./disk.toml", &format!("{READS} ranks=0-2,7"), Some(8));
    let each = ios(&run);
    assert!((run.jobs[0].result.iops() / 4_000.0 - 1.0).abs() < 0.01);
    for (rank, ios) in each.iter().enumerate() {
        assert_eq!(*ios > 9_900, [0, 1, 2, 7].contains(&rank), "{each:?}");
    }
    let machine = stage(&run, "machine IOPS");
    assert_eq!(machine.hosts, Some(StageHosts { hosts: 4, stages: 4, hosts_of_run: 8 }));
    assert_eq!(
        (machine.label().as_str(), machine.owner.as_str()),
        ("machine IOPS on each of 4 hosts", "host0 and 3 more")
    );
    assert!((machine.utilisation - 1.0).abs() < 0.01, "hosts without the job do not count: {}", machine.utilisation);
    assert_eq!((run.jobs[0].workers, run.fleet.unwrap().members.len()), (4, 8));
}

#[test]
fn ranks_of_all_hosts_are_the_run_without_them() {
    let words = "name=a rw=randrw iodepth=4 numjobs=2 runtime=1 name=b rw=write bs=64k size=1g stonewall";
    let without = run(STEADY, words, Some(4));
    for options in ["ranks=0-3", "ranks=0,1,2-9", "rank_hosts=host*", "ranks=0-3 rank_hosts=host0,*1,h*2,host3"] {
        let with = run(STEADY, &words.replace(" runtime", &format!(" {options} runtime")), Some(4));
        let results = |run: &Run| run.jobs.iter().map(|job| (job.number, job.result.clone())).collect::<Vec<_>>();
        assert!(results(&with) == results(&without), "{options}");
        assert!(with.model == without.model && ios(&with) == ios(&without), "{options}");
    }
}

#[test]
fn hosts_with_different_jobs_have_limits_of_their_own() {
    let words = "name=few rw=randread iodepth=1 runtime=10 time_based filename=/dev/x rate_iops=100 \
                 name=many rw=randread iodepth=8 runtime=10 time_based filename=/dev/x ranks=0,2";
    let run = run("./disk.toml", words, Some(6));
    let model = run.model.as_ref().unwrap();
    let machines: Vec<&ServiceStage> = model.stages.iter().filter(|stage| stage.name == "machine IOPS").collect();
    let described: Vec<_> = machines.iter().map(|stage| (stage.label(), stage.owner.as_str())).collect();
    let expected = [
        ("machine IOPS on each of 2 hosts".to_owned(), "host0 and host2"),
        ("machine IOPS on each of 4 hosts".to_owned(), "host1 and 3 more"),
    ];
    assert_eq!(described, expected);
    assert!((machines[0].utilisation - 1.0).abs() < 0.01 && (machines[1].utilisation - 0.1).abs() < 0.01);
    let [few, many] = &run.jobs[..] else { panic!("{:?}", run.jobs) };
    assert_eq!((few.name.as_str(), few.number, few.workers, many.number, many.workers), ("few", 0, 6, 6, 2));
    let of_job = |job| model.stages_of(job).filter(|stage| stage.name == "machine IOPS").count();
    assert_eq!((of_job(few), of_job(many)), (2, 1));
    // Each operation waits at one machine: the sum of the means is below the time of service.
    let (waits, rest) = model.waits_of(many);
    let sum = waits.iter().map(|wait| wait.mean_ns).sum::<f64>() + rest.unwrap();
    assert!((sum / many.result.service_mean_ns().unwrap() - 1.0).abs() < 1e-9);
    let weighted: f64 = model.waits_of(few).0.iter().map(|wait| wait.mean_ns).sum();
    let delays: u64 = machines.iter().map(|stage| stage.delay_ns).sum();
    let requests: u64 = machines.iter().map(|stage| stage.requests).sum();
    let at_volume = stage(&run, "volume IOPS");
    let expected = delays as f64 / requests as f64 + at_volume.delay_ns as f64 / at_volume.requests as f64;
    assert!((weighted - expected).abs() < 1.0, "{weighted} {expected}");
}

#[test]
fn stages_keep_their_places_on_hosts_that_lack_some() {
    let words = "name=a rw=randread runtime=1 time_based ranks=1 name=b rw=randread runtime=2 time_based stonewall ranks=2 \
                 name=c rw=randread runtime=1 time_based stonewall rank_hosts=host0,host2 numjobs=2";
    let run = run(STEADY, words, Some(4));
    let jobs: Vec<_> = run.jobs.iter().map(|job| (job.name.as_str(), job.number, job.workers)).collect();
    assert_eq!(jobs, [("a", 0, 1), ("b", 1, 1), ("c", 2, 2), ("c", 4, 2)]);
    let seconds = run.model.as_ref().unwrap().elapsed_ns as f64 / 1e9;
    assert!((3.99..4.01).contains(&seconds), "{seconds}");
    let each = ios(&run);
    assert!(each[0] > 0 && each[1] > 0 && each[2] > 0 && each[3] == 0, "{each:?}");
}

#[test]
fn variables_and_ranks_select_together() {
    let words =
        format!("{READS} filename=/dev/disk${{RANK}} ranks=1-2 name=b rw=randread runtime=1 ranks=${{RANK}} stonewall");
    let run = run("custom,size=10GiB,iops=1000,latency=500us,jitter=0ms", &words, Some(4));
    let jobs: Vec<_> = run.jobs.iter().map(|job| (job.name.as_str(), job.number, job.workers)).collect();
    assert_eq!(jobs, [("a", 0, 2), ("b", 2, 4)]);
    assert!((run.jobs[0].result.iops() / 2_000.0 - 1.0).abs() < 0.01);
    let volumes: Vec<_> = run.model.as_ref().unwrap().volumes.iter().filter_map(|one| one.path.as_deref()).collect();
    assert_eq!(volumes, ["/dev/disk1", "/dev/disk2", "/dev/modelled"]);
}

#[test]
fn divided_work_adds_up_to_the_whole() {
    let mib = |mib: u64| mib << 20;
    let split = |words: &str, hosts, kind| {
        let sink = KeptOffsets::default();
        let run = run_split(&sink, STEADY, words, Some(hosts), Some(kind)).unwrap();
        let offsets = std::mem::take(&mut *sink.0.lock().unwrap());
        (run, offsets)
    };
    let job = "name=a rw=write bs=1m size=100m filename=data write_lat_log=a iodepth=4";
    let bytes = |run: &Run| -> Vec<u64> {
        run.fleet.as_ref().unwrap().members.iter().map(|member| member.bytes.iter().sum()).collect()
    };
    // The time is that of the whole, because the volume is the limit.
    let whole = run("custom,size=10GiB,throughput=10MiB/s,latency=0ms,jitter=0ms", job, None).model.unwrap().elapsed_ns;
    for hosts in [1, 3, 7] {
        let (run, offsets) = split(job, hosts, SplitKind::Size);
        let each = bytes(&run);
        assert_eq!((each.iter().sum::<u64>(), run.jobs[0].result.bytes()), (mib(100), mib(100)), "{each:?}");
        assert!(each.iter().max().unwrap() - each.iter().min().unwrap() <= mib(1), "{each:?}");
        assert!(offsets.iter().all(|offsets| offsets[0] == 0), "each begins at the start of the file");

        let (run, offsets) = split(job, hosts, SplitKind::Offsets);
        assert_eq!(bytes(&run), each, "{hosts}");
        // Each operation is in several logs.
        let regions = offsets.into_iter().map(|mut offsets| {
            offsets.dedup();
            assert!(offsets.is_sorted());
            offsets
        });
        let regions: Vec<Vec<u64>> = regions.collect();
        let all: std::collections::BTreeSet<u64> = regions.iter().flatten().copied().collect();
        let count: usize = regions.iter().map(Vec::len).sum();
        assert_eq!((all.len(), count), (100, 100), "regions are disjoint and cover the file");
        let volume = "custom,size=10GiB,throughput=10MiB/s,latency=0ms,jitter=0ms";
        let divided = run_split(&KeptOffsets::default(), volume, job, Some(hosts), Some(SplitKind::Offsets)).unwrap();
        let elapsed = divided.model.unwrap().elapsed_ns;
        assert!((elapsed as f64 / whole as f64 - 1.0).abs() < 1e-6, "{elapsed} {whole}");
    }
    let files = "name=a rw=write bs=1m size=100m nrfiles=10 write_lat_log=a ranks=0,2,3";
    let (run, _) = split(files, 4, SplitKind::Files);
    assert_eq!(bytes(&run), [mib(40), 0, mib(30), mib(30)]);
}

#[test]
fn parts_of_one_file_lie_on_one_place_of_the_volume() {
    // Parts of 3 and 4 MiB of a file that fills the volume.
    let words = "name=a rw=write bs=1m size=10m filename=data";
    let volume = "custom,size=6MiB,iops=4000,latency=500us";
    let run = run_split(&KeptOffsets::default(), volume, words, Some(3), Some(SplitKind::Size)).unwrap();
    assert_eq!(run.jobs[0].result.bytes(), 10 << 20);
}

#[test]
fn what_cannot_be_divided_or_run_is_refused() {
    let refusal =
        |words: &str, hosts, kind| run_split(&KeptOffsets::default(), STEADY, words, Some(hosts), kind).unwrap_err();
    let text = refusal(&format!("{READS} ranks=4"), 4, None);
    assert!(text.contains("none of the 4 simulated hosts is selected by `ranks`"), "{text}");
    let text = refusal(&format!("{READS} rank_hosts=web*"), 4, None);
    assert!(text.contains("named host0 to host3"), "{text}");
    let text = refusal(&format!("{READS} filename=/dev/${{HOST}} rank_hosts=db"), 4, None);
    assert!(text.contains("selected by `rank_hosts`"), "{text}");
    let text = refusal("name=a rw=read bs=1m size=3m", 4, Some(SplitKind::Offsets));
    assert!(text.contains("3 blocks of 1048576 bytes, too few for 4 ranks"), "{text}");
    // Only hosts that run a job count for the limits of all together.
    let text = refusal("name=a rw=read numjobs=300000 ranks=0-3 runtime=1", 10_000, None);
    assert!(text.contains("1,200,000 workers"), "{text}");
    let text = run_with(&KeptOffsets::default(), STEADY, &format!("{READS} ranks=0"), None).unwrap_err();
    assert!(text.contains("this run has no ranks") && text.contains("fathom sim --hosts N"), "{text}");
}
