//! Tests that written blocks are recognised and a changed byte is located.

use job::{BlockSizes, Distribution, FIO_HEADER_BYTES, Job, VerifyFormat, VerifyMethod};
use std::sync::Arc;
use units::random::Random;
use units::{Nanos, OpKind, PerKind, Rate};
use workload::{
    Checked, Decision, HEADER_BYTES, Issuer, JobLayout, Next, VerifyState, WorkerIndex, Writers, WrongData,
};

use crate::cases::cases;
use crate::common::*;

/// Jobs of each method that compares the payload, in both layouts of headers.
fn jobs_of_methods(word: &str) -> impl Iterator<Item = Job> {
    let methods =
        VerifyMethod::ALL.into_iter().filter(|method| !matches!(method, VerifyMethod::Null | VerifyMethod::Meta));
    methods.flat_map(move |method| {
        [(VerifyFormat::Fathom, 0), (VerifyFormat::Fio, 0), (VerifyFormat::Fathom, 200), (VerifyFormat::Fio, 200)].map(
            |(format, offset)| {
                let mut job = verified(word, method);
                (job.verify.format, job.verify.offset) = (format, offset);
                job
            },
        )
    })
}

/// Describes the verification of a job.
fn named(job: &Job) -> String {
    format!("{:?} {:?} {}", job.verify.method, job.verify.format, job.verify.offset)
}

/// Files in memory, the number of reads that another worker may have overwritten, and of those of which only headers were
/// compared.
struct Disk(Vec<Vec<u8>>, usize, usize);

impl Disk {
    fn new(lengths: &[u64]) -> Self {
        Self(lengths.iter().map(|&length| vec![0xee; length as usize]).collect(), 0, 0)
    }

    fn range(&mut self, op: &Decision) -> &mut [u8] {
        let start = op.offset as usize;
        &mut self.0[op.file as usize][start..start + op.length as usize]
    }

    /// Executes up to `most` operations and returns the number of checked reads, or the first mismatch.
    fn run(&mut self, issuer: &mut Issuer, most: usize) -> Result<usize, workload::Mismatch> {
        let (mut now, mut checked) = (Nanos::ZERO, 0);
        for _ in 0..most {
            match issuer.next(now) {
                Next::Issue(op) | Next::IssueAnew(op) => {
                    match op.kind {
                        OpKind::Write => issuer.fill(&op, self.range(&op)),
                        OpKind::Trim => self.range(&op).fill(0),
                        OpKind::Read if op.checked => match issuer.check(&op, self.range(&op))? {
                            Checked::Good => checked += 1,
                            Checked::HeaderOnly => (checked, self.2) = (checked + 1, self.2 + 1),
                            Checked::Overwritten => self.1 += 1,
                        },
                        _ => {}
                    }
                    issuer.complete(&op, now);
                }
                Next::Until(instant) => now = instant,
                Next::Blocked => panic!("blocked with nothing in flight"),
                Next::Close(_) | Next::Renew(_) | Next::Spin(_) | Next::Command(_) => {}
                Next::Done => break,
            }
        }
        Ok(checked)
    }
}

fn verified(word: &str, method: VerifyMethod) -> Job {
    let mut job = rw(word);
    (job.verify.method, job.verify.format) = (Some(method), VerifyFormat::Fathom);
    if matches!(method, VerifyMethod::Pattern | VerifyMethod::PatternHdr) {
        job.verify.pattern.bytes = b"%o------pattern".to_vec();
        job.verify.pattern.offsets = vec![0];
    }
    job
}

/// Issues up to `most` operations, reads back, and returns the number of checked reads.
fn round_trip(job: &Job, lengths: &[u64], most: usize) -> usize {
    let mut disk = Disk::new(lengths);
    let mut writer = issuer(job, &files(lengths), 5);
    disk.run(&mut writer, most).expect("writes are not checked");
    let mut reader = writer.verify_pass().expect("there is something to check");
    disk.run(&mut reader, usize::MAX).expect("the written blocks are intact")
}

#[test]
fn every_method_accepts_its_own_blocks() {
    for job in jobs_of_methods("randwrite") {
        assert_eq!(round_trip(&job, &[256 * KIB, 64 * KIB], usize::MAX), 80, "{}", named(&job));
    }
}

#[test]
fn every_method_finds_any_changed_byte() {
    for job in jobs_of_methods("write") {
        let (method, name) = (job.verify.method.expect("the job verifies"), named(&job));
        let mut disk = Disk::new(&[64 * KIB]);
        let mut writer = issuer(&job, &one_file(64 * KIB), 5);
        disk.run(&mut writer, usize::MAX).expect("writes are not checked");
        let mut random = Random::new(method as u64, 0);
        let header = match job.verify.format {
            VerifyFormat::Fathom => HEADER_BYTES,
            VerifyFormat::Fio => (FIO_HEADER_BYTES + method.fio_checksum_bytes()) as usize,
        };
        let start = job.verify.offset as usize;
        for _ in 0..cases(40) {
            let at = random.below(64 * KIB) as usize;
            disk.0[0][at] ^= 1 << random.below(8);
            let in_header = (start..start + header).contains(&(at % 4096)) && method.has_header();
            match disk.run(&mut writer.verify_pass().expect("writes"), usize::MAX) {
                Err(mismatch) => {
                    assert_eq!((mismatch.file, mismatch.block), (0, at as u64 / 4096 * 4096), "{name}");
                    assert!(in_header || mismatch.offset == at as u64, "{name}: {at} is named as {mismatch}");
                    assert_ne!(mismatch.expected, mismatch.found, "{mismatch}");
                }
                Ok(_) => panic!("{name} misses byte {at}"),
            }
            fill_again(&writer, &mut disk, at);
        }
    }
}

/// Writes blocks of 4 KiB with each method in both layouts, and returns the job, the blocks and the writer.
fn written_by_each_method() -> impl Iterator<Item = (Job, Disk, Issuer)> {
    VerifyMethod::ALL.into_iter().flat_map(|method| {
        [VerifyFormat::Fathom, VerifyFormat::Fio].map(|format| {
            let mut job = verified("write", method);
            (job.verify.format, job.verify.nonce) = (format, Some(9));
            let (mut disk, mut writer) = (Disk::new(&[16 * KIB]), issuer(&job, &one_file(16 * KIB), 5));
            disk.run(&mut writer, usize::MAX).expect("writes are not checked");
            (job, disk, writer)
        })
    })
}

/// SHA-512 in fio's layout covers the ends of the payload, and CRC-7 misses the change 0x89.
#[test]
fn changed_payloads_were_called_good() {
    for (job, mut disk, writer) in written_by_each_method() {
        let (method, name) = (job.verify.method.expect("the job verifies"), named(&job));
        if method == VerifyMethod::Null {
            continue;
        }
        let mut only = job.clone();
        only.verify.only = true;
        let reader = Job { pattern: rw("read").pattern, ..job };
        let readers = |kind: usize| match kind {
            0 => writer.verify_pass().expect("writes"),
            1 => issuer(&only, &one_file(16 * KIB), 5),
            _ => issuer(&reader, &one_file(16 * KIB), 77),
        };
        for (at, kind) in [0, 20, 39, 111, 200, 2000, 4095].into_iter().flat_map(|at| [(at, 0), (at, 1), (at, 2)]) {
            for change in [0x01, 0x10, 0x89, 0xff] {
                disk.0[0][4096 + at] ^= change;
                disk.2 = 0;
                let found = disk.run(&mut readers(kind), usize::MAX);
                let said = if method == VerifyMethod::Meta { 4 } else { 0 };
                assert!(found.is_err() || (disk.2 == said && said > 0), "{name}: {at} {change} {kind}");
                disk.0[0][4096 + at] ^= change;
            }
        }
        disk.2 = 0;
        assert!(disk.run(&mut readers(2), usize::MAX).is_ok(), "{name}");
        assert!(disk.2 == 0 || method == VerifyMethod::Meta, "{name}: {} payloads were not compared", disk.2);
    }
}

/// Such a payload follows neither from the header nor from a pattern of the reader.
#[test]
fn a_payload_that_sha512_of_fio_does_not_cover_was_called_good() {
    let job = |word: &str, pattern: &[u8]| {
        let mut job = verified(word, VerifyMethod::Sha512);
        (job.verify.format, job.verify.pattern.bytes) = (VerifyFormat::Fio, pattern.to_vec());
        job
    };
    let mut disk = Disk::new(&[64 * KIB]);
    disk.run(&mut issuer(&job("write", b"abcdef"), &one_file(64 * KIB), 5), usize::MAX).expect("writes");
    assert_eq!(disk.run(&mut issuer(&job("read", b""), &one_file(64 * KIB), 5), usize::MAX), Ok(16));
    assert_eq!(disk.2, 16, "only headers can be compared");
    assert_eq!(disk.run(&mut issuer(&job("read", b"abcdef"), &one_file(64 * KIB), 5), usize::MAX), Ok(16));
}

/// The greatest common divisor of the sizes is the distance of headers in fio's layout; 5aa1e091 wrote no header and
/// called all blocks good.
#[test]
fn blocks_of_fios_layout_without_room_for_a_header_were_called_good() {
    for (sizes_of, is_sound) in [(BlockSizes::Range(4096, 4100), false), (BlockSizes::Range(4096, 6144), true)] {
        let mut job = verified("write", VerifyMethod::Crc32c);
        job.verify.format = VerifyFormat::Fio;
        sizes(&mut job, &sizes_of);
        let created = Issuer::new(&job, WorkerIndex::default(), &one_file(MIB), 1);
        assert_eq!(created.err().as_ref().map(option_of), (!is_sound).then_some("bsrange"));
    }
}

/// Rewrites the block at `at`.
fn fill_again(writer: &Issuer, disk: &mut Disk, at: usize) {
    let mut again = writer.verify_pass().expect("writes");
    while let Next::Issue(op) | Next::IssueAnew(op) = again.next(Nanos::ZERO) {
        if (op.offset..op.offset + u64::from(op.length)).contains(&(at as u64)) {
            writer.fill(&op, disk.range(&op));
        }
    }
}

#[test]
fn a_wrong_byte_in_a_header_is_located() {
    let job = verified("write", VerifyMethod::Sha256);
    let layout = one_file(64 * KIB);
    for at in [0u64, 5, 20, 40, 97] {
        let mut disk = Disk::new(&[64 * KIB]);
        let mut writer = issuer(&job, &layout, 5);
        disk.run(&mut writer, usize::MAX).expect("writes are not checked");
        disk.0[0][(8192 + at) as usize] ^= 1;
        let flaw = disk.run(&mut writer.verify_pass().expect("writes"), usize::MAX).expect_err("a bad block");
        assert_eq!((flaw.block, flaw.offset, flaw.wrong), (8192, 8192 + at, WrongData::HeaderDamaged));
    }
}

#[test]
fn lost_moved_and_stale_blocks_are_distinguished() {
    let job = verified("write", VerifyMethod::Crc32c);
    let layout = one_file(64 * KIB);
    let wrong = |change: &dyn Fn(&mut Disk)| {
        let mut disk = Disk::new(&[64 * KIB]);
        let mut writer = issuer(&job, &layout, 5);
        disk.run(&mut writer, usize::MAX).expect("writes are not checked");
        change(&mut disk);
        disk.run(&mut writer.verify_pass().expect("writes"), usize::MAX).expect_err("a bad block").wrong
    };
    assert_eq!(wrong(&|disk| disk.0[0][8192..12288].fill(0)), WrongData::Header);
    assert_eq!(wrong(&|disk| disk.0[0].copy_within(4096..8192, 8192)), WrongData::Offset);
    let stale = |disk: &mut Disk| {
        let mut other = issuer(&job, &layout, 6);
        disk.run(&mut other, 1).expect("writes are not checked");
    };
    assert_eq!(wrong(&stale), WrongData::Seed);
}

/// f52613e wrote the same bytes in every identical run, and so accepted those of an earlier run.
#[test]
fn blocks_of_an_identical_run_were_accepted() {
    let is_random = |method: &VerifyMethod| method.has_header() && *method != VerifyMethod::PatternHdr;
    for method in VerifyMethod::ALL.into_iter().filter(is_random) {
        let with_nonce = |nonce| {
            let mut job = verified("randwrite", method);
            job.verify.nonce = nonce;
            job
        };
        let mut disk = Disk::new(&[64 * KIB]);
        let layout = one_file(64 * KIB);
        disk.run(&mut issuer(&with_nonce(Some(1)), &layout, 5), usize::MAX).expect("writes are not checked");
        let stale = disk.0[0].clone();
        let mut second = issuer(&with_nonce(Some(2)), &layout, 5);
        disk.run(&mut second, usize::MAX).expect("writes are not checked");
        assert_eq!(disk.run(&mut second.verify_pass().expect("writes"), usize::MAX), Ok(16));
        // The header differs, and the payload too.
        let differing = stale.iter().zip(&disk.0[0]).filter(|(a, b)| a != b).count();
        assert!(differing > 60_000, "{method:?}: {differing}");
        disk.0[0][8192..12288].copy_from_slice(&stale[8192..12288]);
        let mut reader = second.verify_pass().expect("writes");
        let mismatch = disk.run(&mut reader, usize::MAX).expect_err("a block of the first run");
        assert_eq!(
            (mismatch.wrong, mismatch.offset, mismatch.expected),
            (WrongData::Nonce, 8192 + 100, vec![2, 0, 0, 0])
        );

        // A job that only checks takes the nonce from the first block, unless it has one.
        let only = |nonce| {
            let mut job = with_nonce(nonce);
            job.verify.only = true;
            issuer(&job, &layout, 5)
        };
        assert_eq!(disk.run(&mut only(None), usize::MAX).expect_err("two runs").wrong, WrongData::Nonce);
        disk.0[0] = stale;
        let mut checker = only(None);
        assert_eq!((disk.run(&mut checker, usize::MAX), checker.nonce()), (Ok(16), Some(1)));
        assert_eq!(disk.run(&mut only(Some(2)), usize::MAX).expect_err("another run").wrong, WrongData::Nonce);
    }
}

/// fio's layout has no room for nonce and file, so the seed depends on them and on the number of the write.
#[test]
fn headers_of_fio_show_run_file_and_write() {
    let layout = files(&[64 * KIB, 64 * KIB]);
    let job = |nonce, norandommap| {
        let mut job = verified("randwrite", VerifyMethod::Crc32c);
        (job.verify.format, job.verify.nonce) = (VerifyFormat::Fio, Some(nonce));
        (job.pattern.norandommap, job.extent.loops) = (norandommap, if norandommap { 4 } else { 1 });
        job
    };
    let wrong = |norandommap, change: &dyn Fn(&mut Disk, &Disk)| {
        let (mut disk, mut stale) = (Disk::new(&[64 * KIB; 2]), Disk::new(&[64 * KIB; 2]));
        stale.run(&mut issuer(&job(1, norandommap), &layout, 5), usize::MAX).expect("writes are not checked");
        let mut writer = issuer(&job(2, norandommap), &layout, 5);
        disk.run(&mut writer, usize::MAX).expect("writes are not checked");
        assert!(disk.run(&mut writer.verify_pass().expect("writes"), usize::MAX).is_ok());
        change(&mut disk, &stale);
        let mut writer = writer.verify_pass().expect("writes");
        disk.run(&mut writer, usize::MAX).expect_err("a bad block").wrong
    };
    let stale = |disk: &mut Disk, stale: &Disk| disk.0[0][..4096].copy_from_slice(&stale.0[0][..4096]);
    assert_eq!(wrong(false, &stale), WrongData::Seed);
    let swapped = |disk: &mut Disk, _: &Disk| disk.0.swap(0, 1);
    assert_eq!(wrong(false, &swapped), WrongData::File);
    // Half of the writes are lost.
    let mut disk = Disk::new(&[64 * KIB; 2]);
    let mut writer = issuer(&job(3, true), &layout, 5);
    disk.run(&mut writer, 64).expect("writes are not checked");
    let before = disk.0.clone();
    disk.run(&mut writer, usize::MAX).expect("writes are not checked");
    disk.0 = before;
    let mismatch = disk.run(&mut writer.verify_pass().expect("writes"), usize::MAX).expect_err("lost writes");
    assert!(matches!(mismatch.wrong, WrongData::Write | WrongData::Header), "{mismatch}");
}

/// `verify_header_seed=0` and `verify_write_sequence=0`.
#[test]
fn seed_and_sequence_are_compared_unless_the_job_forbids_it() {
    for format in [VerifyFormat::Fathom, VerifyFormat::Fio] {
        let stale = |change: &dyn Fn(&mut Job), randseed| {
            let mut job = verified("write", VerifyMethod::Crc32c);
            (job.verify.format, job.extent.loops) = (format, 2);
            change(&mut job);
            let mut disk = Disk::new(&[64 * KIB]);
            let mut writer = issuer(&job, &one_file(64 * KIB), 5);
            disk.run(&mut writer, usize::MAX).expect("writes are not checked");
            if randseed {
                disk.run(&mut issuer(&job, &one_file(64 * KIB), 6), usize::MAX).expect("writes are not checked");
            } else {
                assert!(writer.resume(None));
                let before = disk.0.clone();
                disk.run(&mut writer, usize::MAX).expect("writes are not checked");
                disk.0 = before;
            }
            disk.run(&mut writer.verify_pass().expect("writes"), usize::MAX).map_err(|mismatch| mismatch.wrong)
        };
        assert_eq!(stale(&|_| (), true), Err(WrongData::Seed));
        assert_eq!(stale(&|job| job.verify.any_seed = true, true), Ok(16));
        assert_eq!(stale(&|_| (), false), Err(WrongData::Pass), "{format:?}");
        assert_eq!(stale(&|job| job.verify.any_sequence = true, false), Ok(16));
    }
}

/// Without a nonce, blocks are those of versions before nonces, which can still be checked.
#[test]
fn blocks_without_a_nonce_match_earlier_versions() {
    let mut disk = Disk::new(&[64 * KIB]);
    disk.run(&mut issuer(&verified("write", VerifyMethod::Crc32c), &one_file(64 * KIB), 5), usize::MAX)
        .expect("writes");
    assert_eq!(crc32fast::hash(&disk.0[0]), 1_473_112_563, "what f52613e wrote");
}

#[test]
fn endless_jobs_are_verified_pass_by_pass() {
    for norandommap in [false, true] {
        let mut job = verified("randwrite", VerifyMethod::Crc32c);
        (job.extent.time_based, job.pattern.norandommap) = (true, norandommap);
        let mut disk = Disk::new(&[64 * KIB]);
        let mut writer = issuer(&job, &one_file(64 * KIB), 5);
        for _ in 0..3 {
            disk.run(&mut writer, 1000).expect("writes are not checked");
            let mut reader = writer.verify_pass().expect("a pass was written");
            let distinct = reader.to_read_back() as usize;
            assert!(if norandommap { (5..16).contains(&distinct) } else { distinct == 16 }, "{distinct}");
            assert_eq!(disk.run(&mut reader, usize::MAX), Ok(distinct));
            assert!(writer.resume(Some(&reader)));
        }
        disk.run(&mut writer, 5).expect("writes are not checked");
        writer.finish();
        disk.run(&mut writer, 5).expect("nothing is left");
        let mut reader = writer.verify_pass().expect("five writes");
        let distinct = reader.to_read_back() as usize;
        assert!(if norandommap { distinct <= 5 } else { distinct == 5 }, "{distinct}");
        assert_eq!(disk.run(&mut reader, usize::MAX), Ok(distinct));
        assert_eq!((writer.writes(), writer.resume(None)), (53, false));
    }
}

#[test]
fn a_lost_write_of_a_later_pass_is_found() {
    for format in [VerifyFormat::Fathom, VerifyFormat::Fio] {
        let mut job = verified("randwrite", VerifyMethod::Md5);
        job.verify.format = format;
        finds_a_lost_write(job);
    }
}

fn finds_a_lost_write(mut job: Job) {
    job.extent.loops = 3;
    let mut disk = Disk::new(&[64 * KIB]);
    let mut writer = issuer(&job, &one_file(64 * KIB), 5);
    disk.run(&mut writer, usize::MAX).expect("writes are not checked");
    assert!(writer.resume(None));
    disk.run(&mut writer, usize::MAX).expect("writes are not checked");
    let before = disk.0[0][..4096].to_vec();
    assert!(writer.resume(None));
    disk.run(&mut writer, usize::MAX).expect("writes are not checked");
    assert_eq!(disk.run(&mut writer.verify_pass().expect("writes"), usize::MAX), Ok(16));
    disk.0[0][..4096].copy_from_slice(&before);
    let mismatch = disk.run(&mut writer.verify_pass().expect("writes"), usize::MAX).expect_err("pass 1 in place of 2");
    assert_eq!((mismatch.wrong, mismatch.block), (WrongData::Pass, 0));
}

/// A job that only checks knows by the saved state which write each block must be of.
#[test]
fn a_state_shows_stale_blocks_of_earlier_passes() {
    for format in [VerifyFormat::Fathom, VerifyFormat::Fio] {
        for (norandommap, nonce) in [(false, 0), (true, 0), (false, 9), (true, 9)] {
            let mut job = verified("randwrite", VerifyMethod::Crc32c);
            (job.verify.format, job.verify.nonce) = (format, Some(nonce));
            (job.pattern.norandommap, job.extent.loops, job.verify.do_verify) = (norandommap, 4, false);
            let layout = files(&[64 * KIB, 64 * KIB]);
            let mut disk = Disk::new(&[64 * KIB; 2]);
            let mut writer = issuer(&job, &layout, 5);
            disk.run(&mut writer, 60).expect("writes are not checked");
            let before = disk.0.clone();
            disk.run(&mut writer, 15).expect("writes are not checked");
            let origin = Some(writer.write_origin());
            let state = VerifyState { depth: 1, issued: 75, origin, ..VerifyState::default() };
            let check = |disk: &mut Disk, issued: u64| {
                let mut job = job.clone();
                (job.verify.only, job.verify.nonce) = (true, None);
                let state = VerifyState { issued, ..state.clone() };
                let mut checker = issuer(&job, &layout, 5).checking_only_written(state);
                disk.run(&mut checker, usize::MAX).map_err(|mismatch| mismatch.wrong)
            };
            let whole = check(&mut disk, 75).expect("all writes are there");
            assert!(if norandommap { whole > 15 } else { whole == 31 }, "one write may not have completed: {whole}");
            disk.0 = before;
            // Without nonce, Fathom's blocks do not show the order of writes that overlap.
            let is_shown = !norandommap || nonce != 0 || format == VerifyFormat::Fio;
            if is_shown {
                let found = check(&mut disk, 75).expect_err("15 writes are lost");
                assert!(matches!(found, WrongData::Pass | WrongData::Write), "{found:?}");
            }
            assert!(check(&mut disk, 60).is_ok(), "{format:?} {norandommap} {nonce}");
        }
    }
}

/// Each write is read back once, at the latest after as many as `verify_backlog`.
#[test]
fn a_backlog_is_read_back_within_the_pass() {
    for format in [VerifyFormat::Fathom, VerifyFormat::Fio] {
        for (word, norandommap) in [("write", false), ("randwrite", false), ("randwrite", true), ("randrw", false)] {
            for backlog in [1, 5, 16, 100] {
                let mut job = verified(word, VerifyMethod::Crc32c);
                (job.verify.format, job.verify.backlog) = (format, Some(backlog));
                (job.pattern.norandommap, job.extent.loops) = (norandommap, 2);
                let mut disk = Disk::new(&[64 * KIB, 64 * KIB]);
                let mut writer = issuer(&job, &files(&[64 * KIB, 64 * KIB]), 5);
                let mut before = 0;
                loop {
                    disk.run(&mut writer, usize::MAX).expect("writes are not checked");
                    let written = writer.writes() - before;
                    before = writer.writes();
                    assert!(written <= backlog, "{word} {backlog}: {written}");
                    let Some(mut reader) = writer.verify_pass() else { break };
                    let distinct = reader.to_read_back() as usize;
                    assert!(norandommap || distinct == written as usize, "{word} {backlog}");
                    assert_eq!(disk.run(&mut reader, usize::MAX), Ok(distinct), "{word} {backlog}");
                    if !writer.resume(Some(&reader)) {
                        break;
                    }
                }
                assert!(word == "randrw" || before == 64, "{word} {backlog}: {before}");
            }
        }
    }
}

/// Passes were read back only after all had been written.
#[test]
fn every_pass_is_read_back_before_the_next_overwrites_it() {
    let counts = |change: &dyn Fn(&mut Job), io_size: Option<u64>| {
        let mut job = verified("randwrite", VerifyMethod::Crc32c);
        change(&mut job);
        let (mut disk, mut counts) = (Disk::new(&[64 * KIB]), Vec::new());
        let mut writer = issuer(&job, &JobLayout { io_size, ..one_file(64 * KIB) }, 5);
        loop {
            disk.run(&mut writer, usize::MAX).expect("writes are not checked");
            let mut reader = writer.verify_pass().expect("something was written");
            counts.push(disk.run(&mut reader, usize::MAX).expect("the written blocks are intact"));
            if !writer.resume(Some(&reader)) {
                return counts;
            }
        }
    };
    assert_eq!(counts(&|job| job.extent.loops = 3, None), [16; 3]);
    // A loop that ends within a pass is read back with the pass.
    assert_eq!(counts(&|job| job.extent.loops = 3, Some(32 * KIB)), [16, 8]);
    assert_eq!(counts(&|job| (job.extent.loops, job.extent.number_ios) = (3, Some(4)), None), [12]);
    // Read-back counts towards io_size.
    for (io_size, phases) in [(128, 1), (160, 2), (256, 2), (260, 3)] {
        assert_eq!(counts(&|_| (), Some(io_size * KIB)), vec![16; phases], "{io_size} KiB");
    }
    let free = |job: &mut Job| (job.extent.loops, job.pattern.norandommap) = (3, true);
    let read = counts(&free, None);
    assert!(matches!(read[..], [12..=16]), "where no pass ends, all is read back at the end: {read:?}");
}

#[test]
fn overlapping_writes_of_any_size_are_accepted() {
    for seed in 0..20 {
        let mut job = verified("randwrite", VerifyMethod::Crc32c);
        job.pattern.norandommap = true;
        sizes(&mut job, &BlockSizes::Range(4096, 65536));
        if seed % 2 == 0 {
            let zipf = Distribution::Zipf { theta: 1.1, center: None };
            job.pattern.distribution = PerKind { read: zipf.clone(), write: zipf.clone(), trim: zipf };
        }
        job.extent.loops = 1 + seed;
        assert!(round_trip(&job, &[512 * KIB, 100 * KIB], usize::MAX) > 5);
    }
}

#[test]
fn only_written_blocks_are_checked() {
    for word in ["rw", "randrw"] {
        for most in [1000, 7] {
            let mut job = verified(word, VerifyMethod::Crc32c);
            job.pattern.set_read_percent(30);
            let mut disk = Disk::new(&[256 * KIB]);
            let mut writer = issuer(&job, &one_file(256 * KIB), 5);
            disk.run(&mut writer, most).expect("writes are not checked");
            let written = disk.0[0].chunks(4096).filter(|block| block[0] != 0xee).count();
            assert_eq!(disk.run(&mut writer.verify_pass().expect("writes"), usize::MAX), Ok(written), "{word}");
        }
    }
}

#[test]
fn rated_and_interrupted_jobs_are_replayed() {
    let mut job = verified("randrw", VerifyMethod::Crc32);
    job.pace.rate_iops = PerKind { read: Some(Rate::per_sec(700)), write: Some(Rate::per_sec(300)), trim: None };
    assert_eq!(round_trip(&job, &[256 * KIB], usize::MAX), 19);
    let job = verified("randwrite", VerifyMethod::Crc32);
    assert_eq!(round_trip(&job, &[256 * KIB], 40), 40);
    let pairs = verified("randtrimwrite", VerifyMethod::Crc32);
    assert_eq!(round_trip(&pairs, &[256 * KIB], 40), 20);
}

#[test]
fn intervals_divide_blocks() {
    let mut job = verified("write", VerifyMethod::Sha512);
    sizes(&mut job, &BlockSizes::Fixed(64 << 10));
    job.verify.interval = Some(512);
    assert_eq!(round_trip(&job, &[256 * KIB], usize::MAX), 4);
    job.verify.interval = Some(64);
    let error = Issuer::new(&job, WorkerIndex::default(), &one_file(MIB), 1).expect_err("no room for a header");
    assert_eq!(option_of(&error), "verify_interval");
}

#[test]
fn a_separate_reader_accepts_any_run_in_any_order() {
    let mut disk = Disk::new(&[256 * KIB]);
    disk.run(&mut issuer(&verified("write", VerifyMethod::Xxhash), &one_file(256 * KIB), 1), usize::MAX)
        .expect("write");
    let reader = verified("randread", VerifyMethod::Xxhash);
    assert_eq!(disk.run(&mut issuer(&reader, &one_file(256 * KIB), 77), usize::MAX), Ok(64));
    let mut only = verified("write", VerifyMethod::Xxhash);
    only.verify.only = true;
    assert_eq!(disk.run(&mut issuer(&only, &one_file(256 * KIB), 1), usize::MAX), Ok(64));
    let other = verified("read", VerifyMethod::Md5);
    let mismatch = disk.run(&mut issuer(&other, &one_file(256 * KIB), 1), usize::MAX).expect_err("another method");
    assert_eq!(mismatch.wrong, WrongData::Method);
}

#[test]
fn without_writes_there_is_no_verification_pass() {
    let mut job = verified("write", VerifyMethod::Crc32c);
    let fresh = issuer(&job, &one_file(MIB), 1);
    assert!(fresh.verify_pass().is_none(), "nothing was written");
    job.verify.do_verify = false;
    let mut writer = issuer(&job, &one_file(MIB), 1);
    drain(&mut writer, 10);
    assert!(writer.verify_pass().is_none());
}

#[test]
fn unverifiable_writes_are_refused() {
    let mut torn = verified("randwrite", VerifyMethod::Crc32c);
    torn.pattern.norandommap = true;
    sizes(&mut torn, &BlockSizes::Range(1000, 9000));
    torn.pattern.bs_unaligned = true;
    let mut timed = verified("randrw", VerifyMethod::Crc32c);
    timed.pace.rate_iops.write = Some(Rate::per_sec(10));
    for job in [torn, timed] {
        let error = Issuer::new(&job, WorkerIndex::default(), &one_file(MIB), 1).expect_err("cannot be verified");
        assert_eq!(option_of(&error), "verify");
    }
}

#[test]
fn blocks_overwritten_by_another_clone_were_called_good() {
    for nonce in [None, Some(7)] {
        let (mut clones, mut disk) = (clones(nonce), Disk::new(&[64 * KIB]));
        for (clone, passes) in [(0, 7), (1, 2)] {
            for _ in 0..passes {
                clones[clone].resume(None);
                disk.run(&mut clones[clone], usize::MAX).expect("writes are not checked");
            }
        }
        let read = [0, 1].map(|clone: usize| disk.run(&mut clones[clone].verify_pass().expect("writes"), usize::MAX));
        // Without a nonce, blocks do not say which worker wrote them.
        assert_eq!(read, [Ok(0), Ok(if nonce.is_some() { 16 } else { 0 })]);
        assert!(disk.1 >= 16, "{} blocks may be of another worker", disk.1);
    }
}

/// 692e655 accepted any pass of any clone.
#[test]
fn lost_writes_of_clones_of_one_file_were_called_good() {
    let (mut clones, mut disk) = (clones(Some(7)), Disk::new(&[64 * KIB]));
    for clone in &mut clones {
        disk.run(clone, usize::MAX).expect("writes are not checked");
    }
    let before = disk.0[0].clone();
    assert!(clones[1].resume(None));
    disk.run(&mut clones[1], usize::MAX).expect("writes are not checked");
    assert_eq!(disk.run(&mut clones[1].verify_pass().expect("writes"), usize::MAX), Ok(16));
    // All writes of the second pass are lost: the blocks are of the first pass of the same clone.
    disk.0[0] = before;
    let lost = disk.run(&mut clones[1].verify_pass().expect("writes"), usize::MAX).expect_err("a lost pass");
    assert_eq!(lost.wrong, WrongData::Pass);
    // A block of a worker that does not write there is wrong.
    let mut other_worker = clone_at(2, Some(7));
    disk.run(&mut other_worker, usize::MAX).expect("writes are not checked");
    let foreign = disk.run(&mut clones[0].verify_pass().expect("writes"), usize::MAX).expect_err("another worker");
    assert_eq!(foreign.wrong, WrongData::Worker);
}

/// Creates two clones that write one shared file.
fn clones(nonce: Option<u32>) -> Vec<Issuer> {
    (0..2).map(|clone| clone_at(clone, nonce)).collect()
}

fn clone_at(clone: u32, nonce: Option<u32>) -> Issuer {
    let mut job = verified("randwrite", VerifyMethod::Crc32c);
    job.grouping.numjobs = 2;
    job.files.filenames = vec!["shared".to_owned()];
    (job.extent.loops, job.verify.nonce) = (9, nonce);
    let mut layout = one_file(64 * KIB);
    let mut writers = Writers::default();
    (0..2).for_each(|worker| writers.add(worker, 0, layout.files[0]));
    layout.writers = Some(Arc::new(writers));
    Issuer::new(&job, WorkerIndex { index: clone, clone }, &layout, 5).expect("sound")
}

/// 692e655 wrote the same bytes each time, and so accepted those of an earlier write.
#[test]
fn a_lost_write_over_an_earlier_one_of_the_same_pass_was_called_good() {
    for word in ["randwrite", "randrw", "randtrimwrite"] {
        let mut job = verified(word, VerifyMethod::Crc32c);
        (job.pattern.norandommap, job.verify.nonce) = (true, Some(7));
        let layout = JobLayout { io_size: Some(MIB), ..one_file(64 * KIB) };
        let (mut disk, mut writer) = (Disk::new(&[64 * KIB]), issuer(&job, &layout, 5));
        disk.run(&mut writer, 200).expect("writes are not checked");
        let before = disk.0[0].clone();
        disk.run(&mut writer, usize::MAX).expect("writes are not checked");
        let mut reader = writer.verify_pass().expect("writes");
        assert_eq!((reader.to_read_back(), disk.run(&mut reader, usize::MAX)), (16, Ok(16)), "{word}");
        disk.0[0][8192..12288].copy_from_slice(&before[8192..12288]);
        let lost = disk.run(&mut writer.verify_pass().expect("writes"), usize::MAX).expect_err("a lost write");
        assert_eq!((lost.wrong, lost.block), (WrongData::Write, 8192), "{word}");
    }
}

/// If two writes to one block are in flight, it is unknown which one is the last.
#[test]
fn numbered_writes_to_one_block_do_not_overtake_each_other() {
    for word in ["randwrite", "randtrimwrite"] {
        let mut job = verified(word, VerifyMethod::Crc32c);
        (job.pattern.norandommap, job.verify.nonce) = (true, Some(7));
        sizes(&mut job, &BlockSizes::Range(4096, 16384));
        job.extent.loops = 20;
        let mut writer = issuer(&job, &one_file(64 * KIB), 5);
        let (mut in_flight, mut blocked): (Vec<Decision>, _) = (Vec::new(), 0);
        let mut random = Random::new(1, 1);
        loop {
            match writer.next(Nanos::ZERO) {
                Next::Issue(op) | Next::IssueAnew(op) => {
                    let end = |op: &Decision| op.offset + u64::from(op.length);
                    assert!(!in_flight.iter().any(|other| other.offset < end(&op) && op.offset < end(other)), "{word}");
                    in_flight.push(op);
                }
                Next::Blocked => {
                    blocked += 1;
                    assert!(!in_flight.is_empty(), "{word} waits for nothing");
                    let op = in_flight.swap_remove(random.below(in_flight.len() as u64) as usize);
                    writer.complete(&op, Nanos::ZERO);
                }
                Next::Done => break,
                other => panic!("{other:?}"),
            }
        }
        assert!(blocked > 50, "{word}: {blocked}");
    }
}

/// 692e655 accepted blocks of one file in another.
#[test]
fn writes_to_the_wrong_file_were_called_good() {
    for random in [false, true] {
        let mut job = verified(if random { "randwrite" } else { "write" }, VerifyMethod::Crc32c);
        (job.pattern.norandommap, job.verify.nonce) = (random, Some(7));
        let layout = JobLayout { identities: vec![71, 72], ..files(&[64 * KIB; 2]) };
        let (mut disk, mut writer) = (Disk::new(&[64 * KIB; 2]), issuer(&job, &layout, 5));
        disk.run(&mut writer, usize::MAX).expect("writes are not checked");
        disk.0.swap(0, 1);
        let lost = disk.run(&mut writer.verify_pass().expect("writes"), usize::MAX).expect_err("another file");
        assert!(matches!(lost.wrong, WrongData::File | WrongData::Header), "{lost}");
        assert!(random || lost.wrong == WrongData::File, "{lost}");
    }
    // A job that only checks knows its own files, and accepts a renamed one.
    let mut job = verified("write", VerifyMethod::Crc32c);
    job.verify.nonce = Some(7);
    let layout = |identities: [u32; 2]| JobLayout { identities: identities.to_vec(), ..files(&[64 * KIB; 2]) };
    let mut disk = Disk::new(&[64 * KIB; 2]);
    disk.run(&mut issuer(&job, &layout([71, 72]), 5), usize::MAX).expect("writes are not checked");
    (job.verify.only, job.verify.nonce) = (true, None);
    let check = |disk: &mut Disk, identities| disk.run(&mut issuer(&job, &layout(identities), 5), usize::MAX);
    assert_eq!(check(&mut disk, [71, 72]), Ok(32));
    assert_eq!(check(&mut disk, [81, 82]), Ok(32));
    let block = disk.0[0][..4096].to_vec();
    disk.0[1][..4096].copy_from_slice(&block);
    assert_eq!(check(&mut disk, [71, 72]).expect_err("a block of the other file").wrong, WrongData::File);
    disk.0.swap(0, 1);
    assert_eq!(check(&mut disk, [71, 72]).expect_err("all of them").wrong, WrongData::File);
}

/// 692e655 had neither worker nor file in its headers.
#[test]
fn version_1_blocks_with_a_nonce_are_accepted() {
    let mut job = verified("write", VerifyMethod::Crc32c);
    let mut disk = Disk::new(&[64 * KIB]);
    disk.run(&mut issuer(&job, &one_file(64 * KIB), 5), usize::MAX).expect("writes are not checked");
    // Its headers were version 1 with the nonce added.
    for block in disk.0[0].chunks_mut(4096) {
        for (at, byte) in 7_u32.to_le_bytes().into_iter().enumerate() {
            block[96 + at] ^= byte;
            block[100 + at] = byte;
        }
    }
    job.verify.only = true;
    for nonce in [None, Some(7)] {
        job.verify.nonce = nonce;
        assert_eq!(disk.run(&mut issuer(&job, &one_file(64 * KIB), 5), usize::MAX), Ok(16));
    }
    job.verify.nonce = Some(8);
    let other = disk.run(&mut issuer(&job, &one_file(64 * KIB), 5), usize::MAX).expect_err("another nonce");
    assert_eq!(other.wrong, WrongData::Nonce);
    // A run with this nonce does not accept them as its own.
    (job.verify.only, job.verify.nonce) = (false, Some(7));
    let mut writer = issuer(&job, &one_file(64 * KIB), 5);
    let _ = drain(&mut writer, usize::MAX);
    let stale = disk.run(&mut writer.verify_pass().expect("writes"), usize::MAX).expect_err("of an earlier run");
    assert_eq!(stale.wrong, WrongData::Nonce);
}

#[test]
fn verify_only_without_a_method_does_nothing() {
    let mut job = rw("write");
    job.verify.only = true;
    assert_eq!(run(&job, &one_file(64 * KIB), 1), []);
}
