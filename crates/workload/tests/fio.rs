//! Compares counts with fio's for the same job, where they do not depend on random numbers.
//!
//! fio runs each job with its null engine. Without fio the comparison is skipped with a message.

#![allow(clippy::disallowed_macros, reason = "a test says why it was skipped")]

use job::{BlockSizes, FileOrder, FileService, Job, Size};
use std::process::Command;
use units::{Bytes, Nanos, OpKind, PerKind};
use workload::{Decision, FileFact, Issuer, WorkerIndex, plan_files};

use crate::common::*;

/// fio's arguments and the same job for Fathom.
struct Case {
    arguments: &'static str,
    job: Job,
}

fn case(arguments: &'static str, word: &str, size: u64, change: impl Fn(&mut Job)) -> Case {
    let mut job = rw(word);
    job.files.filenames = vec!["f".to_owned()];
    job.extent.size = Some(Size::Bytes(Bytes::new(size)));
    change(&mut job);
    Case { arguments, job }
}

fn cases() -> Vec<Case> {
    let k = KIB;
    let io_size = |job: &mut Job, size| job.extent.io_size = Some(Size::Bytes(Bytes::new(size)));
    let bs = |job: &mut Job, size| sizes(job, &BlockSizes::Fixed(size));
    vec![
        case("--rw=read --size=1m", "read", MIB, |_| {}),
        case("--rw=randread --size=1m", "randread", MIB, |_| {}),
        case("--rw=randtrim --size=1m", "randtrim", MIB, |_| {}),
        case("--rw=read --size=100k --bs=16k", "read", 100 * k, |job| bs(job, 16 << 10)),
        case("--rw=randread --size=100k --bs=3k", "randread", 100 * k, |job| bs(job, 3 << 10)),
        case("--rw=randwrite --size=1m --norandommap", "randwrite", MIB, |job| job.pattern.norandommap = true),
        case("--rw=trimwrite --size=64k", "trimwrite", 64 * k, |_| {}),
        case("--rw=randtrimwrite --size=64k", "randtrimwrite", 64 * k, |_| {}),
        case("--rw=trimwrite --size=64k --number_ios=9", "trimwrite", 64 * k, |job| job.extent.number_ios = Some(9)),
        case("--rw=trimwrite --size=64k --io_size=32k", "trimwrite", 64 * k, |job| io_size(job, 32 * KIB)),
        case("--rw=trimwrite --size=64k --fsync=2", "trimwrite", 64 * k, |job| job.sync.fsync = 2),
        case("--rw=read:8k --size=64k", "read", 64 * k, |job| job.pattern.modifier = 8192),
        case("--rw=read:4k --size=64k", "read", 64 * k, |job| job.pattern.modifier = 4096),
        case("--rw=read:3k --size=64k", "read", 64 * k, |job| job.pattern.modifier = 3072),
        case("--rw=read:8k --size=72k", "read", 72 * k, |job| job.pattern.modifier = 8192),
        case("--rw=read:-8k --size=64k", "read", 64 * k, |job| job.pattern.modifier = -8192),
        case("--rw=read:-12k --size=64k", "read", 64 * k, |job| job.pattern.modifier = -12_288),
        case("--rw=read:4k --size=66k", "read", 66 * k, |job| job.pattern.modifier = 4096),
        case("--rw=read:4k --size=64k --offset=64k", "read", 64 * k, |job| {
            (job.pattern.modifier, job.extent.offset) = (4096, Size::Bytes(Bytes::new(64 * KIB)));
        }),
        case("--rw=read --size=64k --io_size=160k --loops=2", "read", 64 * k, |job| {
            io_size(job, 160 * KIB);
            job.extent.loops = 2;
        }),
        case("--rw=randread --size=64k --io_size=160k --loops=5", "randread", 64 * k, |job| {
            io_size(job, 160 * KIB);
            job.extent.loops = 5;
        }),
        case("--rw=read:8k --size=64k --loops=2", "read", 64 * k, |job| {
            (job.pattern.modifier, job.extent.loops) = (8192, 2);
        }),
        case("--rw=randread:3 --size=1m", "randread", MIB, |job| job.pattern.modifier = 3),
        case("--rw=randread:8 --size=60k", "randread", 60 * k, |job| job.pattern.modifier = 8),
        case("--rw=randread --size=1m --percentage_random=50", "randread", MIB, |job| {
            job.pattern.percentage_random.read = 50;
        }),
        case("--rw=read --size=64k --io_size=30k", "read", 64 * k, |job| io_size(job, 30 * KIB)),
        case("--rw=read --size=64k --io_size=30k --loops=2", "read", 64 * k, |job| {
            io_size(job, 30 * KIB);
            job.extent.loops = 2;
        }),
        case("--rw=randread --size=65k --io_size=200k", "randread", 65 * k, |job| io_size(job, 200 * KIB)),
        // Regression: the last block was left out, and a further pass began for less than a block.
        case("--rw=randwrite --size=61k --norandommap", "randwrite", 61 * k, |job| job.pattern.norandommap = true),
        case("--rw=rw --size=61k --rwmixread=100", "rw", 61 * k, |job| job.pattern.set_read_percent(100)),
        case("--rw=read --size=64k --io_size=67k", "read", 64 * k, |job| io_size(job, 67 * KIB)),
        case("--rw=randread --size=64k --io_size=131k", "randread", 64 * k, |job| io_size(job, 131 * KIB)),
        case("--rw=randread --size=64k --io_size=133k", "randread", 64 * k, |job| io_size(job, 133 * KIB)),
        case("--rw=randread --size=64k --number_ios=20 --io_size=200k --loops=2", "randread", 64 * k, |job| {
            io_size(job, 200 * KIB);
            (job.extent.number_ios, job.extent.loops) = (Some(20), 2);
        }),
        case("--rw=read --size=64k --loops=2 --number_ios=20", "read", 64 * k, |job| {
            (job.extent.number_ios, job.extent.loops) = (Some(20), 2);
        }),
        case("--rw=read --size=64k --number_ios=5 --loops=3", "read", 64 * k, |job| {
            (job.extent.number_ios, job.extent.loops) = (Some(5), 3);
        }),
        case("--rw=write --size=64k --fsync=4", "write", 64 * k, |job| job.sync.fsync = 4),
        case("--rw=write --size=64k --fsync=5 --end_fsync=1", "write", 64 * k, |job| {
            (job.sync.fsync, job.sync.end_fsync) = (5, true);
        }),
        case("--rw=write --size=64k --fsync=4 --fdatasync=3", "write", 64 * k, |job| {
            (job.sync.fsync, job.sync.fdatasync) = (4, 3);
        }),
        case("--rw=write --size=64k --fsync=5 --loops=3", "write", 64 * k, |job| {
            (job.sync.fsync, job.extent.loops) = (5, 3);
        }),
        case("--rw=write --size=64k --fsync=4 --number_ios=8 --loops=2", "write", 64 * k, |job| {
            (job.sync.fsync, job.extent.number_ios, job.extent.loops) = (4, Some(8), 2);
        }),
        case("--rw=write --size=64k --fsync=3 --number_ios=6", "write", 64 * k, |job| {
            (job.sync.fsync, job.extent.number_ios) = (3, Some(6));
        }),
        case("--rw=randrw --size=64k --rwmixread=100", "randrw", 64 * k, |job| job.pattern.set_read_percent(100)),
        case("--rw=randread --size=1m --random_distribution=zipf:1.2", "randread", MIB, |job| {
            let zipf = job::Distribution::Zipf { theta: 1.2, center: None };
            job.pattern.distribution = PerKind { read: zipf.clone(), write: zipf.clone(), trim: zipf };
        }),
        case("--rw=randread --size=1m --bs=16k --blockalign=4k", "randread", MIB, |job| {
            bs(job, 16 << 10);
            job.pattern.blockalign = Some(PerKind { read: 4096, write: 4096, trim: 4096 });
        }),
        case("--rw=read --filename=f:g --size=100k", "read", 100 * k, two_files),
        case("--rw=randread --filename=f:g:h --size=1m --file_service_type=random", "randread", MIB, |job| {
            two_files(job);
            job.files.filenames.push("h".to_owned());
            job.files.service = FileService { order: FileOrder::Random, switch_every: 1 };
        }),
        case("--rw=read --filename=f:g --size=64k --io_size=200k", "read", 64 * k, |job| {
            two_files(job);
            io_size(job, 200 * KIB);
        }),
        case(
            "--rw=write --filename=f:g --size=64k --end_fsync=1 --file_service_type=sequential",
            "write",
            64 * k,
            |job| {
                two_files(job);
                job.sync.end_fsync = true;
                job.files.service = FileService { order: FileOrder::Sequential, switch_every: 1 };
            },
        ),
        case("--rw=randread --filename=f:g --size=200k --filesize=20k", "randread", 200 * k, |job| {
            two_files(job);
            job.files.filesize = Some((Bytes::new(20 * KIB), Bytes::new(20 * KIB)));
        }),
        case("--rw=randread --size=64k --filesize=128k", "randread", 64 * k, |job| {
            job.files.filesize = Some((Bytes::new(128 * KIB), Bytes::new(128 * KIB)));
        }),
        case("--rw=write --size=64k --verify=crc32c", "write", 64 * k, verified),
        case("--rw=randwrite --size=100k --bs=8k --verify=md5", "randwrite", 100 * k, |job| {
            verified(job);
            bs(job, 8192);
        }),
        case("--rw=randread --size=250k --bsrange=4k-32k", "randread", 250 * k, |job| {
            sizes(job, &BlockSizes::Range(4096, 32768));
        }),
        case("--rw=read --size=250k --bsrange=4k-32k", "read", 250 * k, |job| {
            sizes(job, &BlockSizes::Range(4096, 32768));
        }),
        case("--rw=randread --size=1m --bssplit=4k/50:64k/50", "randread", MIB, |job| {
            sizes(job, &BlockSizes::Split(vec![(4096, 50), (65536, 50)]));
        }),
        case("--rw=randrw --size=1m --rwmixread=70", "randrw", MIB, |job| job.pattern.set_read_percent(70)),
        case("--rw=rw --size=1m", "rw", MIB, |_| {}),
        case("--rw=rw:4k --size=64k", "rw", 64 * k, |job| job.pattern.modifier = 4096),
    ]
}

fn two_files(job: &mut Job) {
    job.files.filenames.push("g".to_owned());
}

fn verified(job: &mut Job) {
    job.verify.method = Some(job::VerifyMethod::Crc32c);
}

/// Operations and bytes of each kind, and syncs as fio counts them: only `fsync`, without those at the end.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    kinds: [(u64, u64); 3],
    syncs: u64,
}

impl Counts {
    fn of(ops: &[Decision]) -> Self {
        let kinds = [OpKind::Read, OpKind::Write, OpKind::Trim].map(|kind| {
            let ops: Vec<_> = ops.iter().filter(|op| op.kind == kind).copied().collect();
            (ops.len() as u64, bytes(&ops))
        });
        let syncs = ops.iter().filter(|op| op.kind == OpKind::Sync && !op.closing).count() as u64;
        Self { kinds, syncs }
    }

    /// Returns the counts that do not depend on random numbers: all for one kind of one size, else the bytes only.
    fn certain(&self, job: &Job) -> Vec<u64> {
        let fixed = matches!(job.pattern.block_sizes.read, BlockSizes::Fixed(_));
        let mixed = job.pattern.direction == job::Direction::ReadWrite;
        let total = |pick: fn(&(u64, u64)) -> u64| self.kinds.iter().map(pick).sum();
        match (fixed, mixed) {
            (true, false) => self.kinds.iter().flat_map(|&(ops, bytes)| [ops, bytes]).chain([self.syncs]).collect(),
            (true, true) => vec![total(|kind| kind.0), total(|kind| kind.1)],
            (false, _) => vec![total(|kind| kind.1)],
        }
    }
}

fn ours(job: &Job) -> Counts {
    let plan = plan_files(job, job::Dialect::Strict, WorkerIndex::default(), 1, &|_| None::<FileFact>)
        .expect("the job is sound");
    let mut issuer = Issuer::new(job, WorkerIndex::default(), &plan.layout(), 1).expect("the job is sound");
    let mut ops = drain(&mut issuer, usize::MAX);
    ops.extend(issuer.verify_pass().map(|mut pass| drain(&mut pass, usize::MAX)).unwrap_or_default());
    Counts::of(&ops)
}

/// Returns the number after `"key" :` in `section`.
fn number(json: &str, section: &str, key: &str) -> u64 {
    let start = json.find(&format!("\"{section}\" : {{")).expect("fio's JSON has the section");
    let key = format!("\"{key}\" : ");
    let at = start + json[start..].find(&key).expect("fio's JSON has the key") + key.len();
    let digits: String = json[at..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

/// Runs the jobs of all cases by one start of fio, which takes longer than they do.
fn fio(cases: &[Case]) -> Option<Vec<Counts>> {
    let mut command = Command::new("fio");
    command.current_dir(std::env::temp_dir()).arg("--output-format=json");
    for (number, Case { arguments, .. }) in cases.iter().enumerate() {
        command.args([&format!("--name=case{number}"), "--ioengine=null", "--thread"]);
        if !arguments.contains("--filename") {
            command.arg("--filename=f");
        }
        command.args(arguments.split(' '));
    }
    let output = command.output().ok()?;
    let json = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "fio: {json}{}", String::from_utf8_lossy(&output.stderr));
    let counts = |(index, text): (usize, &str)| {
        assert!(text.starts_with(&format!("\"case{index}\"")), "{index}: {text}");
        let of = |kind| (number(text, kind, "total_ios"), number(text, kind, "io_bytes"));
        Counts { kinds: ["read", "write", "trim"].map(of), syncs: number(text, "sync", "total_ios") }
    };
    Some(json.split("\"jobname\" : ").skip(1).enumerate().map(counts).collect())
}

#[test]
fn counts_match_fio() {
    if Command::new("fio").arg("--version").output().is_err() {
        eprintln!("skipped: fio is not installed");
        return;
    }
    let (cases, mut wrong) = (cases(), Vec::new());
    let all = fio(&cases).expect("fio runs");
    assert_eq!(all.len(), cases.len(), "fio reports every job");
    for (Case { arguments, job }, theirs) in cases.iter().zip(all) {
        let ours = ours(job);
        if ours.certain(job) != theirs.certain(job) {
            wrong.push(format!("{arguments}\n  ours {ours:?}\n  fio  {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares with fio 3.33 for six files of two blocks each and `openfiles=2`, as traced by strace.
#[test]
fn at_most_openfiles_are_open_in_fios_order() {
    use workload::Next;
    let cases = [
        (FileOrder::RoundRobin, "0 1 0 -0 1 -1 2 3 2 -2 3 -3 4 5 4 -4 5 -5"),
        (FileOrder::Sequential, "0 0 -0 1 1 -1 2 2 -2 3 3 -3 4 4 -4 5 5 -5"),
    ];
    for (order, expected) in cases {
        let mut job = rw("read");
        job.files.openfiles = Some(2);
        job.files.service.order = order;
        let mut issuer = issuer(&job, &files(&[8192; 6]), 1);
        let mut trace = Vec::new();
        loop {
            match issuer.next(Nanos::ZERO) {
                Next::Issue(op) => {
                    issuer.complete(&op, Nanos::ZERO);
                    trace.push(op.file.to_string());
                }
                Next::Close(file) => trace.push(format!("-{file}")),
                Next::Renew(_) | Next::Spin(_) => panic!("the job has neither new files nor think cycles"),
                Next::Done => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(trace.join(" "), expected);
    }
}
