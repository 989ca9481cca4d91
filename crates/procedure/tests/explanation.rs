//! Explanations and needs of what other programs print.

use analyse::{Code, Database, Explanation, Quantity, Remedy};
use plan::workload::LoadDoubt;
use procedure::expected::ExpectedVolume;
use procedure::explanation::ExplanationQuestion;
use procedure::purchase::need_of;
use record::{Claim, Input, read_input};
use runner::Uninterrupted;

use units::random::Random;

use crate::cases::cases;
use crate::fio_truths::{Truth, output};
use crate::model::model;

fn explained(text: &str, volume: Option<&str>, device: Option<&str>) -> Vec<Explanation> {
    let input = read_input("input", text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}"));
    explain(vec![("input".to_owned(), input)], Vec::new(), volume, device)
}

fn explain(
    inputs: Vec<(String, Input)>,
    claims: Vec<(String, Claim)>,
    volume: Option<&str>,
    device: Option<&str>,
) -> Vec<Explanation> {
    let look_up = |words: &str| ExpectedVolume::look_up(words, volume::catalogue::no_files).unwrap();
    let (expected, device) = (volume.map(look_up), device.map(str::to_owned));
    let question = ExplanationQuestion { inputs, claims, expected, device, database: None };
    question.explain(&model(), &Uninterrupted).into_iter().flat_map(|one| one.explanations).collect()
}

fn claimed(text: &str, volume: Option<&str>) -> Explanation {
    let claims = vec![(text.to_owned(), Claim::parse(text).unwrap())];
    explain(Vec::new(), claims, volume, None).remove(0)
}

fn figure(explanation: &Explanation, quantity: Quantity) -> Option<f64> {
    explanation.figures.iter().find(|figure| figure.quantity == quantity).map(|figure| figure.value)
}

/// 7,100 IOPS were called more than the volume can give, although bursts to 7,500 are published: their length is not.
#[test]
fn published_bursts_of_unknown_length_were_called_impossible() {
    let of = |iops: u32| claimed(&format!("iops={iops},lat=2ms,qd=16,bs=4k"), Some("hetzner/volume"));
    let has = |iops, code| of(iops).findings.iter().any(|finding| finding.code == code);
    assert!(has(7_100, Code::BurstRunning) && !has(7_100, Code::AboveExpectation));
    // Fewer in flight would not give the same.
    let rate = |finding: &analyse::Finding| finding.counterfactual.as_ref().map(|point| point.iops);
    assert!(of(7_100).findings.iter().all(|finding| rate(finding).is_none_or(|iops| iops >= 7_100.0)));
    assert!(has(7_800, Code::AboveExpectation) && !has(7_800, Code::BurstRunning));
    assert!(has(5_050, Code::VolumeIopsCap) && !has(5_050, Code::BurstRunning) && !has(4_000, Code::VolumeIopsCap));
    // The model itself keeps to what is sustained.
    let spec = volume::catalogue::resolve("hetzner/volume").unwrap();
    assert_eq!(spec.limits[0].rate.read, Some(5_000));
}

const STACKED: &str = "\
Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz  aqu-sz  %util
sdb            100.00    400.00     0.00   0.00    1.00     4.00    0.00      0.00     0.00   0.00    0.00     0.00    0.10   9.00
sda            500.00   2000.00     0.00   0.00    2.00     4.00    0.00      0.00     0.00   0.00    0.00     0.00    1.00  98.00
sda1           500.00   2000.00     0.00   0.00    2.00     4.00    0.00      0.00     0.00   0.00    0.00     0.00    1.00  98.00
dm-0           500.00   2000.00     0.00   0.00    2.00     4.00    0.00      0.00     0.00   0.00    0.00     0.00    1.00  98.00

";

/// Partitions, logical volumes and all disks were explained one by one, each as the expected volume.
#[test]
fn the_busiest_disk_is_explained_and_its_partitions_count_once() {
    let all = explained(STACKED, Some("aws/gp3,size=1TiB"), None);
    let names: Vec<&str> = all.iter().map(|one| one.subject.as_str()).collect();
    assert_eq!(names, ["sda", "sdb"]);
    assert!(!all[0].findings.is_empty() && all[1].findings.is_empty() && all[1].only_figures);
    assert!(all[0].notes.iter().any(|note| note.contains("sda1") && note.contains("dm-0")), "{:?}", all[0].notes);
    let chosen = explained(STACKED, None, Some("sdb"));
    assert_eq!((chosen[0].subject.as_str(), chosen[0].only_figures), ("sdb", false));
    let need = |device| need_of("input", STACKED.as_bytes(), (None, device), &job::EmptySource);
    assert_eq!(need(None).unwrap().need.iops, Some(500.0));
    assert_eq!(need(Some("sdb")).unwrap().need.iops, Some(100.0));
    assert_eq!(need(Some("sdz")).unwrap_err()[0].code.name(), "no-such-device");
}

/// A log with times in brackets, and a job file beside its output, were read as job files.
#[test]
fn a_measurement_beside_sections_is_no_job_file() {
    let job = "[write]\nrw=randwrite\nbs=4k\nrate_iops=100\nsize=1g\n";
    let need = |text: &str| need_of("input", text.as_bytes(), (None, None), &job::EmptySource);
    let log = format!("[2023-11-20 23:29:08.711158] [ DPDK ]\n{STACKED}");
    assert_eq!(need(&log).unwrap().need.iops, Some(500.0));
    assert_eq!(need(&format!("{job}\n{STACKED}")).unwrap().need.iops, Some(500.0));
    assert_ne!(need("[2023-11-20 23:29:08] nothing\n").unwrap_err()[0].code.name(), "section");
}

/// A rate that is the limit of a machine was blamed on a setting of the host.
#[test]
fn a_rate_at_the_limit_of_a_machine_asks_for_the_machine() {
    let volume = "aws/gp3,size=1TiB,iops=16000";
    let asked = claimed("iops=10000,lat=6.4ms,qd=64,bs=4k", Some(volume));
    assert!(asked.notes.iter().any(|note| note.contains("machine=")), "{:?}", asked.notes);
    let named = claimed("iops=10000,lat=6.4ms,qd=64,bs=4k", Some("aws/gp3,size=1TiB,iops=16000,machine=c5.2xlarge"));
    assert!(!named.notes.iter().any(|note| note.contains("no machine specified")), "{:?}", named.notes);
}

/// 8 in flight were called 64 times the 1 that suffices, as 0.125 would, and blocks of a disk drive were to be smaller than
/// a sector.
#[test]
fn sentences_about_limits_are_true_of_their_figures() {
    let shallow = claimed("bw=125MiB/s,bs=1m,qd=8", Some("aws/gp3,size=500GiB"));
    let beyond = shallow.findings.iter().find(|one| one.code == Code::BeyondKnee).unwrap();
    assert_eq!(beyond.value(Quantity::KneeFactor), Some(8.0));
    let drive = claimed("iops=500,rw=randread,bs=4k,lat=2ms", Some("aws/st1,size=2TiB"));
    assert!(drive.findings.iter().all(|one| one.code != Code::BytesBeforeIops), "{:?}", drive.findings);
}

#[test]
fn two_figures_of_a_claim_give_the_third() {
    for (claim, iops, latency_ns) in [
        ("qd=16,iops=610", 610.0, 16.0 / 610.0 * 1e9),
        ("qd=3.5,lat=2ms", 1750.0, 2e6),
        ("iops=24.1k,lat=1.31ms", 24_100.0, 1.31e6),
    ] {
        let one = claimed(claim, None);
        let [found, latency, in_flight] =
            [Quantity::Iops, Quantity::LatencyMean, Quantity::InFlightAchieved].map(|of| figure(&one, of).unwrap());
        assert!((found / iops - 1.0).abs() < 1e-9 && (latency / latency_ns - 1.0).abs() < 1e-9, "{claim}");
        assert!((in_flight / (found * latency / 1e9) - 1.0).abs() < 1e-9, "{claim}: {in_flight}");
    }
    let shallow = claimed("iops=160,lat=1ms", None);
    assert!(shallow.findings.iter().all(|one| one.code != Code::DepthNeeded), "0.16 in flight need no depth");
    let old = claimed("tps=100,await=10,svctm=8", None);
    assert!((figure(&old, Quantity::BusyShare).unwrap() - 0.8).abs() < 1e-9, "{old:?}");
}

/// Operations that take 41 s stall: more of them in flight do not help.
#[test]
fn no_depth_is_advised_for_operations_that_stall() {
    for claim in ["iops=24,lat=41s", "iops=24,lat=41s,qd=1000", "iops=3,lat=41s,qd=128,jobs=4"] {
        for volume in [None, Some("aws/gp3,size=1TiB")] {
            let one = claimed(claim, volume);
            let said = format!("{:?}", one.findings);
            assert!(!said.contains("iodepth") && !said.contains("MoreInFlight"), "{claim}: {said}");
            assert!(one.findings.iter().all(|finding| finding.code != Code::DepthNeeded), "{claim}");
        }
    }
}

#[test]
fn a_load_that_ran_at_a_limit_is_said_to_be_one() {
    let report = |number: u32, iops: f64| {
        let at = format!("11/29/26 10:00:{number:02}");
        format!(
            "{at}\nDevice r/s rkB/s r_await rareq-sz aqu-sz %util\nsda {iops:.2} {:.2} 5.00 4.00 15.00 100.00\n\n",
            4.0 * iops
        )
    };
    let flat: String = (0..20).map(|second| report(second, 3000.0 + f64::from(second % 3))).collect();
    let varied: String = (0..20).map(|second| report(second, 3000.0 + 400.0 * f64::from(second % 3))).collect();
    let at_limit = |text: &str| {
        let derived = need_of("input", text.as_bytes(), (None, None), &job::EmptySource).unwrap();
        matches!(derived.doubt, Some(LoadDoubt::Ceiling(_)))
    };
    assert_eq!((at_limit(&flat), at_limit(&varied)), (true, false));
}

/// The mean over intervals with requests was planned for as if there were no others.
#[test]
fn a_need_of_some_intervals_names_the_mean_of_all() {
    let report = |reads: u32| format!("Device r/s rkB/s r_await aqu-sz %util\nsda {reads}.00 4.00 1.00 0.10 9.00\n\n");
    let idle = "Device r/s rkB/s r_await aqu-sz %util\nsda 0.00 0.00 0.00 0.00 0.00\n\n";
    let text = format!("{}{idle}{idle}{}", report(1000), report(1000));
    let derived = need_of("input", text.as_bytes(), (None, None), &job::EmptySource).unwrap();
    assert_eq!(derived.need.iops, Some(1000.0));
    let said = "1.00k IOPS is the mean over the 2 of 4 intervals with requests; over all intervals it is 500";
    assert!(derived.lines.iter().any(|line| line == said), "{:?}", derived.lines);
}

/// What fio reports as one (`unified_rw_reporting`) was planned for as reads, without a word.
#[test]
fn a_mix_that_is_not_known_is_said_to_be_assumed() {
    let text = "{\"fio version\": \"fio-3.33\", \"jobs\": [{\"jobname\": \"a\", \"groupid\": 0, \"error\": 0, \"job options\": \
                {\"rw\": \"randrw\", \"bs\": \"4k\"}, \"job_runtime\": 1000, \"mixed\": {\"io_bytes\": 36864000, \
                \"io_kbytes\": 36000, \"bw\": 36000, \"runtime\": 1000, \"total_ios\": 9000, \"iops\": 9000.0}}]}";
    let derived = need_of("input", text.as_bytes(), (None, None), &job::EmptySource).unwrap();
    assert_eq!(derived.need.iops.map(f64::round), Some(9000.0));
    assert!(derived.lines.iter().any(|line| line.contains("read percentage unknown")), "{:?}", derived.lines);
    // Without options, the pattern is not known either.
    let text = text.replace(", \"job options\": {\"rw\": \"randrw\", \"bs\": \"4k\"}", "");
    let derived = need_of("input", text.as_bytes(), (None, None), &job::EmptySource).unwrap();
    for what in ["read percentage", "access pattern"] {
        let said = format!("{what} unknown");
        assert!(derived.lines.iter().any(|line| line.contains(&said)), "{:?}", derived.lines);
    }
}

/// Writes of dd were planned for as reads, and of several the last one.
#[test]
fn writes_without_counted_operations_are_planned_for_as_writes() {
    let dd = |seconds: &str| {
        format!(
            "$ dd if=/dev/zero of=x bs=1M count=1k conv=fdatasync\n1024+0 records in\n1024+0 records out\n1073741824 bytes (1.1 \
                 GB) copied, {seconds} s, 1 MB/s\n"
        )
    };
    let text = format!("{}{}", dd("8"), dd("16"));
    let derived = need_of("input", text.as_bytes(), (None, None), &job::EmptySource).unwrap();
    let need = &derived.need;
    assert_eq!((need.read_share, need.sequential, need.bytes_per_sec), (0.0, true, Some(134_217_728.0)));
    assert!(derived.lines.iter().any(|line| line.contains("assuming 1 MiB")), "{:?}", derived.lines);
    assert!(derived.lines.iter().any(|line| line.ends_with("fdatasync, 64 MiB/s")), "{:?}", derived.lines);
    let synced = dd("8").replace("bs=1M", "bs=8k").replace("conv=fdatasync", "oflag=dsync");
    let error = need_of("dd.txt", synced.as_bytes(), (None, None), &job::EmptySource).unwrap_err();
    assert!(error[0].what.contains("timed only sequential syncs"), "{error:?}");
}

/// All of them stood at the first result.
#[test]
fn notes_stand_at_their_own_one_of_results_with_one_name() {
    let result = |reads: &str, events: u32, mean: &str| {
        format!(
            "File operations:\n    reads/s:  {reads}\n    writes/s: 479.19\n    fsyncs/s: 1522.55\n\nGeneral statistics:\n    total \
                 time:  10.0003s\n    total number of events:  {events}\n\nLatency (ms):\n    avg:  {mean}\n"
        )
    };
    let all =
        explained(&format!("{}\n{}", result("718.79", 27_217, "0.37"), result("818.79", 28_217, "0.35")), None, None);
    assert_eq!(all.iter().map(|one| one.subject.as_str()).collect::<Vec<_>>(), ["sysbench fileio"; 2]);
    for (one, mean) in all.iter().zip(["0.370 ms", "0.350 ms"]) {
        let latencies: Vec<&String> = one.notes.iter().filter(|note| note.contains("the mean latency of")).collect();
        assert!(matches!(latencies[..], [note] if note.contains(mean)), "{latencies:?}");
    }
}

/// Verification after the writes was averaged into them.
#[test]
fn verification_after_the_writes_is_none_of_their_load() {
    let text = "{\"fio version\": \"fio-3.19\", \"jobs\": [{\"jobname\": \"a\", \"job_runtime\": 61752, \"job options\": \
                {\"rw\": \"write\", \"bs\": \"1m\", \"direct\": \"1\", \"verify\": \"md5\"}, \"read\": {\"io_bytes\": 1073741824, \
                \"total_ios\": 1024, \"runtime\": 20216, \"lat_ns\": {\"N\": 1024, \"mean\": 14836585.7}}, \"write\": {\"io_bytes\": \
                1073741824, \"total_ios\": 1024, \"runtime\": 41536, \"lat_ns\": {\"N\": 1024, \"mean\": 40532803.3}}}]}";
    let all = explained(text, None, None);
    let figure = |of: Quantity| all[0].figures.iter().find(|one| one.quantity == of).unwrap().value;
    assert_eq!(
        ((figure(Quantity::Iops) * 10.0).round(), (figure(Quantity::LatencyMean) / 1e5).round()),
        (247.0, 405.0)
    );
    assert!(all[0].notes.iter().any(|note| note.contains("50.7 IOPS for 20.2 s")), "{:?}", all[0].notes);
    let need = need_of("input", text.as_bytes(), (None, None), &job::EmptySource).unwrap().need;
    assert_eq!((need.iops.map(f64::round), need.read_share), (Some(25.0), 0.0));
}

#[test]
fn counts_without_a_time_have_no_need() {
    let text = "disk- ------------reads------------ ------------writes----------- -----IO------\n\
                sda     1000      0    8000    2000      0      0       0       0      0      2\n";
    let error = need_of("vmstat.txt", text.as_bytes(), (None, None), &job::EmptySource).unwrap_err();
    assert_eq!(error[0].code.name(), "no-results");
}

/// What workers did must be what `explain` and `plan --from` say, whatever the grouping.
#[test]
fn explanations_and_needs_are_those_of_what_workers_did() {
    const SEED: u64 = 41;
    for seed in SEED..SEED + cases(100) {
        let made = output(&mut Random::new(seed, 0));
        let of = format!("seed {seed}\n{}", made.text);
        let all = explained(&made.text, None, None);
        assert_eq!(all.len(), made.truths.len(), "{of}");
        // The sections of some results cannot be told from clones.
        let is_hidden = made.truths.iter().any(|truth| truth.is_hidden);
        let mut findings = all.iter().filter(|_| !is_hidden).flat_map(|one| &one.findings);
        let doubted = findings.find(|one| matches!(one.code, Code::LittleContradicted | Code::FiguresDisagree));
        assert!(doubted.is_none(), "{doubted:?}: {of}");
        for truth in &made.truths {
            let iops = rate(truth);
            let in_flight = truth.busy_ns / (truth.longest_ms as f64 * 1e6);
            let is_it = |one: &&Explanation| {
                figure(one, Quantity::Iops).is_some_and(|found| (found / iops - 1.0).abs() < 0.005)
                    && figure(one, Quantity::InFlightAchieved)
                        .is_some_and(|found| (found / in_flight - 1.0).abs() < 0.01)
            };
            assert!(all.iter().any(|one| is_it(&one)), "{iops} IOPS, {in_flight} in flight: {of}");
        }
        let need = need_of("input", made.text.as_bytes(), (None, None), &job::EmptySource).unwrap();
        let Ok(Input::Run(run)) = read_input("input", made.text.as_bytes(), None) else { panic!("{of}") };
        let together = |phase: &Vec<usize>| {
            let ios: u64 = phase.iter().map(|&job| made.truths[job].ios.iter().sum::<u64>()).sum();
            ios as f64 * 1000.0 / phase.iter().map(|&job| made.truths[job].longest_ms).max().unwrap() as f64
        };
        let most = run.phases().iter().map(together).fold(0.0, f64::max);
        let iops = need.need.iops.unwrap();
        assert!((iops / most - 1.0).abs() < 0.005, "{iops} instead of {most}: {of}");
    }
}

fn rate(truth: &Truth) -> f64 {
    (truth.ios[0] + truth.ios[1]) as f64 * 1000.0 / truth.longest_ms as f64
}

#[test]
fn idle_devices_are_called_idle() {
    let idle = STACKED.lines().next().unwrap().to_owned() + "\nsda" + &"   0.00".repeat(14) + "\n\n";
    let all = explained(&idle, None, None);
    assert_eq!((all.len(), all[0].only_figures), (1, true));
    assert!(all[0].notes[0].contains("no device had I/O"), "{:?}", all[0].notes);
}

/// Too few requests and an assumed latency were blamed on the host.
#[test]
fn a_latency_that_the_provider_does_not_exclude_is_no_fault_of_the_host() {
    for (figures, volume) in [
        ("iops=500,lat=2ms,qd=1,bs=4k", "aws/gp3"),
        ("iops=100,lat=2ms,bs=4k", "aws/gp3"),
        ("iops=250,lat=4ms,qd=1,bs=4k", "azure/p30"),
    ] {
        let explained = claimed(figures, Some(volume));
        let codes: Vec<Code> = explained.findings.iter().map(|one| one.code).collect();
        assert!(
            codes.contains(&Code::QueueTooShallow) && !codes.contains(&Code::BelowExpectation),
            "{figures}: {codes:?}"
        );
        assert!(explained.notes.iter().any(|note| note.contains("model latency is assumed")), "{figures}");
    }
    let slow = claimed("iops=300,lat=50ms,qd=16,bs=4k", Some("azure/p30"));
    assert!(slow.findings.iter().any(|one| one.code == Code::BelowExpectation), "{:?}", slow.findings);
}

/// A forecast with the latency of the model was below what was measured.
#[test]
fn forecasts_are_made_for_latencies_like_those_of_the_model() {
    let forecast = |figures: &str| {
        let explained = claimed(figures, Some("aws/gp3,size=1TiB,iops=16000"));
        explained.findings.iter().find(|one| one.code == Code::QueueTooShallow).unwrap().counterfactual.is_some()
    };
    assert!(!forecast("iops=1600,lat=0.6ms,qd=1,bs=4k"));
    assert!(forecast("iops=1000,lat=1ms,qd=1,bs=4k"));
}

/// 420 MB/s of a volume with 250 MiB/s gave no finding without a block size.
#[test]
fn throughput_alone_is_compared_with_the_limits_on_throughput() {
    let codes = |figures, volume| {
        let explained = claimed(figures, Some(volume));
        assert!(explained.findings.iter().all(|one| one.value(Quantity::Iops).is_none()), "{:?}", explained.findings);
        explained.findings.iter().map(|one| one.code).collect::<Vec<_>>()
    };
    assert_eq!(codes("bw=420MB/s", "aws/gp2,size=5TB"), [Code::AboveExpectation]);
    assert!(codes("bw=125MiB/s", "aws/gp3").contains(&Code::VolumeThroughputCap));
    assert!(codes("bw=50MiB/s", "aws/gp3").is_empty());
}

/// More size was advised where IOPS are provisioned apart.
#[test]
fn what_is_provisioned_apart_is_advised_before_more_size() {
    let remedy = |figures, volume| {
        let explained = claimed(figures, Some(volume));
        explained.findings.iter().find_map(|one| one.remedy.filter(|_| one.code == Code::ProvisionedTooLow))
    };
    let balanced = remedy("iops=3600,bs=4k,qd=64", "gcp/hyperdisk-balanced,size=100GiB");
    assert_eq!(balanced, Some(Remedy::ProvisionIops { iops: 50_000 }));
    assert_eq!(remedy("iops=6000,bs=4k,qd=64", "custom,iops=6000"), None);
}

/// The remedy of a burst was to measure for less than the run, and a mean that credits do not last for was in part burst.
#[test]
fn credits_last_for_the_time_that_the_rate_takes() {
    let finding = |figures: &str, volume| claimed(figures, Some(volume)).findings.remove(0);
    let slow = finding("iops=600,time=10000s,bs=16k", "aws/gp2,size=30GiB");
    assert_eq!((slow.code, slow.remedy), (Code::BurstRunning, Some(Remedy::RunLonger { runtime_s: 21_600 })));
    let long = finding("iops=3000,qd=32,bs=4k,time=60min", "aws/gp2,size=100GiB");
    assert_eq!(long.code, Code::AboveExpectation);
    assert!((long.value(Quantity::CapIops).unwrap() - 1800.0).abs() < 20.0, "{long:?}");
    assert_eq!(finding("iops=3000,qd=32,bs=4k", "aws/gp2,size=100GiB,credits=0%").code, Code::AboveExpectation);
}

/// The end of the machine's credits was taken for that of the volume's, at a rate that spends only these.
#[test]
fn each_bucket_of_credits_lasts_for_its_own_time() {
    let volume = Some("aws/st1,size=2TiB,machine=m5.2xlarge");
    let of_rate = claimed("bw=250MiB/s,bs=1m,qd=16,rw=read", volume);
    let burst = of_rate.findings.iter().find(|one| one.code == Code::BurstRunning).unwrap();
    let hours = burst.value(Quantity::BurstLasts).unwrap() / 3.6e12;
    assert!((hours - 2_097_152.0 / 170.0 / 3_600.0).abs() < 0.05, "{hours}");
    let long = claimed("bw=250MiB/s,bs=1m,qd=16,rw=read,time=2h", volume);
    assert!(long.findings.iter().all(|one| one.code != Code::AboveExpectation), "{:?}", long.findings);
}

/// A volume at its own low limit was called a disk drive.
#[test]
fn a_rate_that_a_limit_explains_is_no_drive() {
    let seen = claimed("iops=120,qd=16,bs=4k,rw=randread", Some("azure/p4"));
    assert!(seen.findings.iter().all(|one| one.code != Code::MechanicalDisk), "{:?}", seen.findings);
}

/// More was advised than the machine admits, or a size that the provisioned IOPS do not need.
#[test]
fn no_more_is_advised_than_helps() {
    let remedy = |figures, volume| {
        claimed(figures, Some(volume))
            .findings
            .iter()
            .find_map(|one| one.remedy.filter(|_| matches!(one.code, Code::ProvisionedTooLow | Code::SizeTooSmall)))
    };
    let machine = remedy("iops=3000,qd=64,bs=4k", "aws/gp3,size=500GiB,machine=c6i.large");
    assert!(matches!(machine, Some(Remedy::ProvisionIops { iops: 3_600..=3_620 })), "{machine:?}");
    let grown = remedy("iops=2000,qd=32,bs=4k", "gcp/hyperdisk-balanced,size=4GiB");
    let more = Remedy::GrowVolume { bytes: 320 << 30, iops: Some(160_000), bytes_per_second: Some(625 << 20) };
    assert_eq!(grown, Some(more));
    let given = remedy("iops=2000,qd=32,bs=4k", "gcp/hyperdisk-balanced,size=4GiB,iops=2000");
    assert_eq!(given, Some(more));
}

/// A limit within three percent of the one that was reached was passed over.
#[test]
fn the_next_limit_may_be_as_low() {
    let seen = claimed("iops=6000,qd=64,bs=4k", Some("aws/gp3,size=500GiB,iops=6000,machine=m5.xlarge"));
    let cap = seen.findings.iter().find(|one| one.code == Code::VolumeIopsCap).unwrap();
    assert_eq!(cap.value(Quantity::NextCapIops), Some(6_000.0));
}

/// One in flight was advised where the provider asks for four.
#[test]
fn volumes_of_slow_media_keep_a_few_in_flight() {
    let seen = claimed("bw=40MiB/s,bs=1m,rw=read,qd=4", Some("aws/st1,size=1TiB,credits=0%"));
    assert!(seen.findings.iter().all(|one| one.code != Code::BeyondKnee), "{:?}", seen.findings);
}

fn found(explanation: &Explanation, code: Code) -> Option<&analyse::Finding> {
    explanation.findings.iter().find(|one| one.code == code)
}

/// At 96 % of a cap, 21 times the depth that reaches it was no finding.
#[test]
fn a_full_queue_slightly_below_a_cap_had_no_limit() {
    for (figures, volume) in [
        ("iops=2880,lat=22ms,qd=64,bs=4k", "aws/gp3,size=100GiB"),
        ("iops=2800,qd=64,bs=4k", "aws/gp3,size=100GiB"),
        ("iops=14800,lat=8.6ms,qd=128,bs=8k", "gcp/hyperdisk-balanced,size=500GiB,iops=16000,throughput=250MiB/s"),
    ] {
        let seen = claimed(figures, Some(volume));
        assert!(found(&seen, Code::VolumeIopsCap).is_some() && found(&seen, Code::BeyondKnee).is_some(), "{seen:?}");
    }
    // A queue of the length that reaches it may have been empty at times.
    assert!(found(&claimed("iops=2800,qd=4,bs=4k", Some("aws/gp3")), Code::VolumeIopsCap).is_none());
    // Nor is a queue always full in which half of the operations do not wait.
    let uneven = claimed("iops=2800,p50=1ms,p99=120ms,bs=16k,qd=16", Some("aws/gp3"));
    assert!(found(&uneven, Code::VolumeIopsCap).is_none(), "{uneven:?}");
}

/// The mean that depth and rate give was not stated beside percentiles.
#[test]
fn percentiles_hid_the_mean_of_littles_law() {
    let mean = |figures| figure(&claimed(figures, Some("aws/gp3")), Quantity::LatencyMean);
    assert!((mean("iops=2800,p50=1ms,p99=120ms,bs=16k,qd=16").unwrap() - 16e9 / 2800.0).abs() < 1.0);
    // A mean above all percentiles, or below half of the median, is of another depth.
    assert_eq!(mean("iops=1000,p50=1ms,p99=2ms,bs=16k,qd=32"), None);
    assert_eq!(mean("iops=1000,p50=3ms,p99=9ms,bs=16k,qd=1"), None);
}

/// The limit of the machine was said to be what the volume can do.
#[test]
fn a_limit_of_the_machine_was_taken_for_the_volumes() {
    let shallow = |volume| {
        let seen = claimed("iops=1000,qd=1,bs=4k", Some(volume));
        found(&seen, Code::QueueTooShallow).unwrap().clone()
    };
    let machine = shallow("aws/gp3,size=500GiB,iops=16000,machine=m5.large");
    assert!(machine.subject.as_deref().is_some_and(volume::names_machine), "{machine:?}");
    assert_eq!(machine.value(Quantity::CapIops), Some(3_600.0));
    assert_eq!(machine.value(Quantity::NextCapIops), Some(16_000.0));
    assert_eq!(machine.value(Quantity::BurstIops), Some(16_000.0));
    assert!(machine.value(Quantity::BurstLasts).is_some_and(|ns| ns > 30.0 * 60e9), "{machine:?}");
    assert_eq!(shallow("aws/gp3,size=500GiB,iops=16000").value(Quantity::NextCapIops), None);
}

/// An administrator who ran no job was told to set iodepth.
#[test]
fn counters_of_an_application_were_told_to_set_iodepth() {
    let report = "Device r/s rkB/s r_await rareq-sz aqu-sz %util\nsda 3000.00 48000.00 20.67 16.00 62.01 100.00\n\n";
    let seen = explained(&report.repeat(2), Some("aws/gp3,size=500GiB"), None).remove(0);
    assert_eq!(found(&seen, Code::BeyondKnee).unwrap().remedy, Some(Remedy::FewerInFlight { in_flight: 3 }));
}

/// One depth was advised by the limit that is reached, and 75 times as much by Little's law.
#[test]
fn two_depths_were_advised_at_once() {
    let seen = claimed("iops=300,lat=250ms,rw=randwrite,bs=8k", Some("aws/gp2,size=100GiB"));
    assert!(found(&seen, Code::BeyondKnee).is_some() && found(&seen, Code::DepthNeeded).is_none(), "{seen:?}");
}

/// Four in flight and two were said to reach one limit.
#[test]
fn one_function_decides_which_depth_reaches_a_limit() {
    for figures in ["bw=160MiB/s,bs=1m,rw=write,qd=16", "iops=160,lat=100ms,bs=1m,qd=16,rw=write"] {
        let seen = claimed(figures, Some("aws/st1,size=4TiB"));
        for code in [Code::VolumeThroughputCap, Code::BeyondKnee] {
            assert_eq!(found(&seen, code).unwrap().value(Quantity::KneeInFlight), Some(4.0), "{seen:?}");
        }
    }
    let shallow = claimed("bw=70MiB/s,bs=1m,rw=write,qd=1", Some("aws/st1,size=2TiB,credits=0%"));
    assert_eq!(found(&shallow, Code::QueueTooShallow).unwrap().remedy, Some(Remedy::RaiseDepth { iodepth: 4 }));
}

/// A network volume was called a disk drive.
#[test]
fn volumes_of_a_provider_are_no_drives() {
    let figures = "iops=320,bs=64k,rw=randwrite,qd=16";
    assert!(found(&claimed(figures, Some("aws/st1,size=4TiB")), Code::MechanicalDisk).is_none());
    assert!(found(&claimed(figures, None), Code::MechanicalDisk).is_some());
    assert!(found(&claimed("iops=80,bs=4k,rw=randread,qd=1", Some("hdd/7200rpm")), Code::MechanicalDisk).is_some());
}

/// 4 % above the baseline of a machine, a full queue was said to spend credits for a day and a half.
#[test]
fn spent_credits_were_taken_for_a_burst() {
    let volume = "aws/gp2,size=5TiB,machine=r5.xlarge";
    let seen = claimed("bw=150MB/s,bs=128k,rw=write,qd=32", Some(volume));
    let cap = found(&seen, Code::MachineCap).unwrap();
    assert!(found(&seen, Code::BurstRunning).is_none(), "{seen:?}");
    assert!(cap.value(Quantity::AboveNominal).is_some_and(|above| above < 0.05), "{cap:?}");
    assert!(cap.value(Quantity::BurstIops).is_some_and(|burst| burst > 1_900.0), "{cap:?}");
    // With few in flight the rate is that of the load, and credits that last for days ask for no such run.
    let shallow = claimed("bw=150MB/s,bs=128k,rw=write,qd=2", Some(volume));
    assert_eq!(found(&shallow, Code::BurstRunning).unwrap().remedy, None, "{shallow:?}");
}

/// More was forecast than the cap that the same answer names.
#[test]
fn no_forecast_is_above_its_cap() {
    let seen = claimed("iops=90000,bs=4k,rw=randwrite,qd=256", Some("gcp/local-ssd-nvme,disks=1"));
    let beyond = found(&seen, Code::BeyondKnee).unwrap();
    let cap = found(&seen, Code::VolumeThroughputCap).unwrap().value(Quantity::CapIops).unwrap();
    assert!(beyond.counterfactual.is_some_and(|point| point.iops <= cap), "{beyond:?} above {cap}");
}

/// A latency that rounding and the published average allow was blamed on the host, and on a machine that one in flight
/// does not reach.
#[test]
fn a_rounded_latency_was_blamed_on_the_host() {
    let volume = Some("aws/io2,size=500GiB,iops=20000");
    for figures in
        ["iops=2000,lat=0.5ms,qd=1,bs=16k", "iops=4000,lat=0.5ms,qd=2,bs=16k", "iops=1900,lat=0.52ms,qd=1,bs=16k"]
    {
        let seen = claimed(figures, volume);
        assert!(found(&seen, Code::BelowExpectation).is_none() && seen.notes.is_empty(), "{figures}: {seen:?}");
    }
}

/// 32,008 IOPS were to be provisioned where 32,000 suffice.
#[test]
fn what_suffices_is_provisioned_to_the_operation() {
    let more =
        |figures, volume| found(&claimed(figures, Some(volume)), Code::ProvisionedTooLow).and_then(|one| one.remedy);
    let remedy = more("iops=3000,qd=32,bs=4k", "aws/gp3,size=500GiB");
    assert_eq!(remedy, Some(Remedy::ProvisionIops { iops: 32_000 }));
    assert_eq!(more("iops=3000,qd=32,bs=16k", "aws/gp3,size=500GiB"), Some(Remedy::ProvisionIops { iops: 8_000 }));
}

/// The volume was accused where the credits of its machine do not last for the rate.
#[test]
fn credits_of_a_machine_bound_the_mean_of_a_long_run() {
    let volume = "aws/gp3,size=1TiB,iops=16000,throughput=500MiB/s,machine=m5.2xlarge";
    let above = claimed("iops=14000,bs=8k,qd=64,time=8h,rw=randread", Some(volume)).findings.remove(0);
    assert_eq!((above.code, above.subject.as_deref()), (Code::AboveExpectation, Some("machine IOPS")));
    let mean = (12_000.0 * 28_800.0 + 1_800.0 * 6_750.0) / 28_800.0;
    assert!((above.value(Quantity::CapIops).unwrap() - mean).abs() < 1.0, "{above:?}");
}

/// A rate within the published range of a volume was said to be above all it can give.
#[test]
fn rates_within_a_published_range_are_possible() {
    let code =
        |iops: u64| claimed(&format!("iops={iops},bs=4k,qd=8"), Some("aws/standard,size=500GiB")).findings[0].code;
    assert_eq!([180, 250].map(code), [Code::BurstRunning, Code::AboveExpectation]);
}

/// "Grow the volume" gave nothing as long as the IOPS or the throughput that the volume was given stayed.
#[test]
fn a_larger_volume_is_advised_with_what_must_be_provisioned() {
    let grown = |figures: &str, volume| {
        let findings = claimed(figures, Some(volume)).findings;
        findings.into_iter().find(|one| one.code == Code::SizeTooSmall).and_then(|one| one.remedy)
    };
    let iops = Remedy::GrowVolume { bytes: 1_280 << 30, iops: Some(64_000), bytes_per_second: None };
    assert_eq!(grown("bw=495MiB/s,bs=512k,qd=16,rw=randread", "aws/io1,size=500GiB,iops=2000"), Some(iops));
    let throughput = grown("bw=715MiB/s,bs=1m,qd=64,rw=read", "gcp/hyperdisk-throughput,size=8TiB,throughput=720MiB/s");
    let Some(Remedy::GrowVolume { bytes_per_second, .. }) = throughput else { panic!("{throughput:?}") };
    assert_eq!(bytes_per_second, Some(2_400 << 20));
    let plain = grown("iops=300,bs=4k,qd=16", "aws/gp2,size=100GiB,credits=0%");
    assert!(matches!(plain, Some(Remedy::GrowVolume { iops: None, bytes_per_second: None, .. })), "{plain:?}");
}

/// The host was accused where the limit of the machine is not known.
#[test]
fn a_machine_with_unknown_limits_comes_before_the_host() {
    let volume = "gcp/hyperdisk-balanced,size=500GiB,iops=50000,throughput=1000MiB/s";
    let remedy = |volume: &str| {
        let seen = claimed("iops=24800,bs=4k,qd=64,lat=2.58ms", Some(volume));
        found(&seen, Code::BelowExpectation).unwrap_or_else(|| panic!("{seen:?}")).remedy
    };
    assert_eq!(remedy(&format!("{volume},machine=n4-standard-4")), None);
    assert_eq!(remedy(volume), Some(Remedy::Doctor));
}

/// Reads were said to be served from a cache by a latency that is assumed, or was measured with a queue, and a depth was
/// derived from the latency of the cache.
#[test]
fn assumed_latencies_prove_no_cache() {
    let cached = |figures: &str, volume| found(&claimed(figures, Some(volume)), Code::UnwrittenBlocks).is_some();
    assert!(!cached("iops=1800,lat=0.55ms,qd=1,bs=16k,rw=randread", "gcp/hyperdisk-balanced,size=100GiB"));
    assert!(!cached("iops=2900,lat=0.34ms,qd=1,bs=4k,rw=randread", "aws/gp3"));
    assert!(cached("iops=9000,lat=0.11ms,qd=1,bs=4k,rw=randread", "aws/gp3,iops=16000"));
    assert!(cached("iops=4900,lat=0.20ms,qd=1,bs=4k,rw=randread", "aws/io2,iops=16000"), "450 us are published");
    let fast = claimed("iops=9000,lat=0.11ms,qd=1,bs=4k,rw=randread", Some("aws/gp3,iops=16000"));
    assert!(found(&fast, Code::QueueTooShallow).is_none(), "{fast:?}");
    assert!(fast.notes.iter().any(|note| note.contains("assumed")), "{:?}", fast.notes);
}

/// A depth was advised from figures that had just been called contradictory.
#[test]
fn contradictory_figures_give_no_advice() {
    let seen = claimed("iops=600,lat=2.1ms,qd=1,bs=4k", Some("aws/gp3,size=100GiB"));
    let codes: Vec<Code> = seen.findings.iter().map(|one| one.code).collect();
    assert!(codes.contains(&Code::LittleContradicted) && !codes.contains(&Code::QueueTooShallow), "{codes:?}");
}

/// Contradictions were not seen: of a percentile without a mean, and of a stream beyond the outer tracks of a drive.
#[test]
fn impossible_percentiles_and_streams_are_seen() {
    let implied = |figures: &str| {
        let seen = claimed(figures, None);
        found(&seen, Code::LittleContradicted).and_then(|one| one.value(Quantity::InFlightImplied))
    };
    assert_eq!(implied("iops=3000,p50=10ms,p99=12ms,qd=8"), Some(15.0), "half take 10 ms or more");
    assert_eq!(implied("iops=1000,p50=10ms,p99=12ms,qd=8"), None, "half may take no time");
    let stream = |rate: &str| {
        let figures = format!("bw={rate},bs=1m,qd=4,rw=read");
        found(&claimed(&figures, Some("hdd/7200rpm,size=16TB")), Code::AboveExpectation).is_some()
    };
    assert!(stream("200MB/s") && !stream("149MB/s"));
}

/// A claim was answered in job options although a database was named, or not at all.
#[test]
fn claims_of_a_database_are_answered_in_its_settings() {
    let findings = |figures: &str, volume: Option<&str>, database: Database| {
        let claims = vec![(figures.to_owned(), Claim::parse(figures).unwrap())];
        let look_up = |words: &str| ExpectedVolume::look_up(words, volume::catalogue::no_files).unwrap();
        let expected = volume.map(look_up);
        let (inputs, device, database) = (Vec::new(), None, Some(database));
        let question = ExplanationQuestion { inputs, claims, expected, device, database };
        let explained = question.explain(&model(), &Uninterrupted);
        explained.into_iter().flat_map(|one| one.explanations).flat_map(|one| one.findings).collect::<Vec<_>>()
    };
    let of_database = |remedy: &Option<Remedy>| matches!(remedy, Some(Remedy::MoreInFlight { database: Some(_), .. }));
    let shallow = findings(
        "iops=1800,lat=2.2ms,qd=4,bs=8k,rw=randread",
        Some("aws/gp3,size=500GiB,iops=10000"),
        Database::PostgreSql,
    );
    let shallow = shallow.iter().find(|one| one.code == Code::QueueTooShallow).unwrap();
    assert!(of_database(&shallow.remedy), "{shallow:?}");
    let needed = findings("iops=20000,lat=1ms", None, Database::MySql);
    assert!(needed.iter().any(|one| of_database(&one.remedy)), "{needed:?}");
    let slow = findings("p99=25ms,iops=300,rw=write", None, Database::Etcd);
    assert!(slow.iter().any(|one| one.code == Code::SyncsTooSlow), "{slow:?}");
}
