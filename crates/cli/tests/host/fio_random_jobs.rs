//! Random jobs do in Fathom what they do in fio: both programs run the same job files, and their counts, offsets and
//! documents are compared.
//!
//! The seed of each job file is its number; `FATHOM_TEST_JOBS=100..2000` runs others than the first few.

use std::collections::BTreeMap;
use std::ops::Range;
use std::process::Command;
use units::random::Random;

use crate::common::cases::cases;
use crate::common::json::Json;
use crate::common::{Outcome, Scratch, at_once, fathom, fio, require, run};

/// Engines on files. fio's `vsync` is left out: with a queue depth it ends a job early and counts merged operations.
const ENGINES: [&str; 5] = ["psync", "sync", "pvsync", "libaio", "io_uring"];

/// What a job permits to compare.
#[derive(Clone, Copy, Debug, Default)]
struct Comparable {
    /// The number of operations is not drawn.
    operations: bool,
    /// The number of bytes is not drawn.
    bytes: bool,
    /// Each kind has a certain number of operations.
    kinds: bool,
    /// Offsets are in a certain order.
    order: bool,
    /// Offsets are certain, in any order.
    offsets: bool,
}

/// A random job and its options.
struct RandomJob {
    lines: Vec<String>,
    comparable: Comparable,
}

fn choose<'a>(random: &mut Random, words: &[&'a str]) -> &'a str {
    words[random.below(words.len() as u64) as usize]
}

fn one_in(random: &mut Random, count: u64) -> bool {
    random.below(count) == 0
}

impl RandomJob {
    fn draw(random: &mut Random, number: usize) -> Self {
        let mut job = Self { lines: Vec::new(), comparable: Comparable::default() };
        let is_null = one_in(random, 2);
        let engine = if is_null { "null" } else { choose(random, &ENGINES) };
        let trims = is_null && one_in(random, 4);
        let direction = if trims {
            choose(random, &["trim", "randtrim", "trimwrite", "randtrimwrite"])
        } else {
            choose(random, &["read", "write", "randread", "randwrite", "rw", "randrw", "read", "randread"])
        };
        let is_random = direction.starts_with("rand");
        let is_mixed = direction.ends_with("rw");
        job.add(format!("ioengine={engine}"));
        job.add(format!("rw={direction}"));
        job.add(format!("filename=f{number}"));
        let blocks = [4, 8, 16][random.below(3) as usize];
        let is_fixed = job.draw_sizes(random, blocks);
        let size_kib = blocks * (16 + random.below(48)) + if one_in(random, 4) { 1 + random.below(blocks) } else { 0 };
        job.add(format!("size={size_kib}k"));
        // In a larger file, `size` is how much of it is used, at offsets that are drawn.
        let is_whole = !one_in(random, 3);
        if !is_whole {
            job.add(format!("filesize={}k", size_kib.next_multiple_of(blocks) * 2));
        }
        // With a queue, fio leaves out the writes of the last trims in some cases.
        let depth = if direction.ends_with("trimwrite") || one_in(random, 2) { 1 } else { 2 + random.below(15) };
        if depth > 1 {
            job.add(format!("iodepth={depth}"));
        }
        let is_free = is_random && one_in(random, 4);
        if is_free {
            job.add("norandommap=1".to_owned());
        }
        let has_lfsr = is_random && one_in(random, 4);
        if has_lfsr {
            job.add("random_generator=lfsr".to_owned());
        }
        // With `lfsr`, each offset is reached once without a map too.
        let has_map = is_random && (!is_free || has_lfsr);
        let counts = job.draw_amounts(random, size_kib, direction);
        job.draw_others(random, direction);
        job.comparable = Comparable {
            operations: is_fixed,
            bytes: is_fixed,
            kinds: is_fixed && !is_mixed,
            order: is_fixed && !is_random && !is_mixed && depth == 1,
            offsets: is_fixed && !is_mixed && counts && (!is_random || (has_map && is_whole)),
        };
        job
    }

    fn add(&mut self, line: String) {
        self.lines.push(line);
    }

    /// Draws block sizes. Returns whether there is only one.
    fn draw_sizes(&mut self, random: &mut Random, kib: u64) -> bool {
        match random.below(8) {
            0 => self.add(format!("bsrange={kib}k-{}k", 4 * kib)),
            1 => self.add(format!("bssplit={kib}k/60:{}k/40", 2 * kib)),
            _ => {
                self.add(format!("bs={kib}k"));
                return true;
            }
        }
        false
    }

    /// Draws how much is transferred. Returns whether that is one pass over the region.
    fn draw_amounts(&mut self, random: &mut Random, size_kib: u64, direction: &str) -> bool {
        match random.below(10) {
            0 => self.add(format!("number_ios={}", 1 + random.below(40))),
            1 => self.add(format!("io_size={}k", 1 + random.below(size_kib))),
            // In a part of a file, fio's asynchronous engines begin no further pass for less than a block.
            2 => self.add(format!("io_size={}k", (size_kib + random.below(size_kib)).next_multiple_of(64))),
            3 => self.add(format!("loops={}", 1 + random.below(3))),
            // fio moves only one of two sequences to the next zone.
            4 if matches!(direction, "read" | "write") => {
                self.add(format!("zonemode=strided\nzonesize={}k\nzoneskip={}k", 64, 64 * random.below(3)));
                match random.below(3) {
                    0 => self.add(format!("loops={}", 1 + random.below(3))),
                    1 => self.add(format!("io_size={}k", 1 + random.below(3 * size_kib))),
                    _ => {}
                }
            }
            _ => return true,
        }
        false
    }

    /// Draws options that change no counts of data operations.
    fn draw_others(&mut self, random: &mut Random, direction: &str) {
        // With an offset, fio writes only one of the blocks that it trims.
        if one_in(random, 5) && !direction.ends_with("trimwrite") {
            self.add(format!("offset={}k", 16 * (1 + random.below(4))));
        }
        if direction.ends_with("rw") {
            self.add(format!("rwmixread={}", random.below(101)));
        }
        if direction == "write" && one_in(random, 2) {
            self.add(format!("fsync={}", 1 + random.below(8)));
        }
        for option in [
            "group_reporting=1",
            "zero_buffers=1",
            "refill_buffers=1",
            "scramble_buffers=0",
            "end_fsync=1",
            "buffer_compress_percentage=50",
            "dedupe_percentage=30",
            "invalidate=0",
            "thread=1",
            "lat_percentiles=1",
            "slat_percentiles=1",
            "clat_percentiles=0",
            "disable_slat=1",
            "percentile_list=50:99",
            "gtod_reduce=1",
            "continue_on_error=all",
            "randrepeat=0",
            "randseed=7",
            "iodepth_batch_complete_min=0",
            "fadvise_hint=0",
            "serialize_overlap=0",
            "exitall_on_error=1",
            "unified_rw_reporting=both",
            "description=some words",
            "nice=1",
            "prio=4",
            "fallocate=none",
            "overwrite=1",
            "create_on_open=1",
            "new_group=1",
        ] {
            // Reads of a file that is not laid out may find nothing, wherever they are.
            let may_fail = option.starts_with("create_on_open") && !matches!(direction, "write" | "randwrite");
            if one_in(random, 12) && !may_fail {
                self.add(option.to_owned());
            }
        }
    }

    fn has_no(&self, option: &str) -> bool {
        !self.lines.iter().any(|line| line.starts_with(option))
    }
}

/// What a job did.
#[derive(Debug, PartialEq)]
struct Done {
    operations: Option<u64>,
    bytes: Option<u64>,
    kinds: Option<Vec<u64>>,
    error: u64,
    shape: Vec<String>,
}

impl Done {
    /// Returns the keys of the document that another one does not have.
    fn keys_without(&self, other: &Self) -> Vec<&String> {
        self.shape.iter().filter(|key| !other.shape.contains(key)).collect()
    }
}

fn done(json: &Json, comparable: Comparable) -> Done {
    let kinds = ["read", "write", "trim"];
    let sum = |key: &str| kinds.iter().map(|kind| json.whole(&format!("{kind}/{key}"))).sum::<u64>();
    let of_each = || kinds.iter().map(|kind| json.whole(&format!("{kind}/total_ios"))).collect();
    let is_reduced = |key: &String| key.contains("percentile") || key.contains("job options");
    Done {
        operations: comparable.operations.then(|| sum("total_ios")),
        bytes: comparable.bytes.then(|| sum("io_bytes")),
        kinds: comparable.kinds.then(of_each),
        error: json.whole("error"),
        shape: json.shape().into_iter().filter(|key| !is_reduced(key)).collect(),
    }
}

/// Returns offset and size of each operation of a job, out of its latency log.
fn offsets(scratch: &Scratch, number: usize) -> Vec<(u64, u64)> {
    let entry = |line: &str| {
        let fields: Vec<u64> = line.split(", ").map(|field| field.parse().unwrap()).collect();
        (fields[4], fields[3])
    };
    scratch.read(&format!("l{number}_lat.1.log")).lines().map(entry).collect()
}

fn start(command: fn(&str) -> Command, text: &str) -> (Scratch, Outcome) {
    loop {
        let scratch = Scratch::new();
        scratch.write("jobs.fio", text);
        let outcome = run(command("jobs.fio").current_dir(&scratch));
        // For some of the seeds that it draws with `randrepeat=0`, fio does nothing, without an error.
        if !outcome.stderr.contains("fio: failed initializing LFSR") {
            return (scratch, outcome);
        }
    }
}

/// Returns how Fathom and fio differ for a file of one job.
fn differences(seed: u64) -> Vec<String> {
    let mut random = Random::new(seed, 0xf10);
    let job = RandomJob::draw(&mut random, 0);
    let has_log = job.has_no("gtod_reduce") && job.has_no("group_reporting");
    let log = if has_log { "write_lat_log=l0\nlog_offset=1\n" } else { "" };
    let text = format!("[job0]\n{log}{}\n", job.lines.join("\n"));
    let ours = start(|file| fathom(["fio", "--output-format=json", file]), &text);
    let theirs = start(|file| fio(["--output-format=json", file]), &text);
    let mut found = Vec::new();
    let mut differ = |what: &str, ours: String, theirs: String| {
        if ours != theirs {
            found.push(format!("seed {seed}: {what}: {ours} instead of {theirs}\n{text}"));
        }
    };
    differ("exit code", format!("{:?}", ours.1.code()), format!("{:?}", theirs.1.code()));
    if ours.1.code() == Some(0) && theirs.1.code() == Some(0) {
        let results = [&ours, &theirs]
            .map(|(_, outcome)| done(&Json::read_after_notes(&outcome.stdout).items("jobs")[0], job.comparable));
        let [ours_done, theirs_done] = results;
        differ("operations", format!("{:?}", ours_done.operations), format!("{:?}", theirs_done.operations));
        differ("bytes", format!("{:?}", ours_done.bytes), format!("{:?}", theirs_done.bytes));
        differ("kinds", format!("{:?}", ours_done.kinds), format!("{:?}", theirs_done.kinds));
        differ("error", ours_done.error.to_string(), theirs_done.error.to_string());
        let [missing, more] = [theirs_done.keys_without(&ours_done), ours_done.keys_without(&theirs_done)];
        differ("keys", format!("{missing:?} {more:?}"), "[] []".to_owned());
        if has_log && (job.comparable.offsets || job.comparable.order) {
            let mut lists = [&ours, &theirs].map(|(scratch, _)| offsets(scratch, 0));
            if !job.comparable.order {
                lists.iter_mut().for_each(|list| list.sort_unstable());
            }
            let [ours, theirs] = &lists;
            let equal = ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count();
            let rest = |list: &[(u64, u64)]| {
                format!("{} from {equal} on {:?}", list.len(), &list[equal..list.len().min(equal + 6)])
            };
            differ("offsets", rest(ours), rest(theirs));
        }
    }
    found
}

/// Options of groups that fio refuses unless all jobs have the same value, or takes from the last job only
/// (`continue_on_error`).
const DIFFERENT_IN_GROUPS: [&str; 6] = [
    "group_reporting",
    "continue_on_error",
    "unified_rw_reporting",
    "lat_percentiles",
    "slat_percentiles",
    "clat_percentiles",
];

/// Returns a random file of several jobs, in one or more groups, and what it permits to compare of each.
fn draw_group(random: &mut Random) -> (String, Comparable) {
    let reports_groups = one_in(random, 3);
    let mut text = format!("[global]\ngroup_reporting={}\n", u8::from(reports_groups));
    let mut all = Comparable { operations: true, bytes: true, kinds: true, ..Comparable::default() };
    for number in 0..2 + random.below(3) as usize {
        let mut job = RandomJob::draw(random, number);
        job.lines.retain(|line| !DIFFERENT_IN_GROUPS.iter().any(|option| line.starts_with(option)));
        if one_in(random, 3) {
            job.add(format!("numjobs={}", 1 + random.below(3)));
        }
        if number > 0 && one_in(random, 3) {
            job.add(choose(random, &["stonewall", "new_group=1", "wait_for=job0"]).to_owned());
        }
        all.operations &= job.comparable.operations;
        all.bytes &= job.comparable.bytes;
        all.kinds &= job.comparable.kinds;
        text.push_str(&format!("[job{number}]\n{}\n", job.lines.join("\n")));
    }
    (text, all)
}

/// Returns how Fathom and fio differ for a file of several jobs.
fn differences_of_groups(seed: u64) -> Vec<String> {
    let (text, comparable) = draw_group(&mut Random::new(seed, 0x6f1));
    let run_in = |command: fn(&str) -> Command| {
        let (_, outcome) = start(command, &text);
        let json = (outcome.code() == Some(0)).then(|| Json::read_after_notes(&outcome.stdout));
        let entries = json.iter().flat_map(|json| json.items("jobs").to_vec()).map(|entry| {
            let name = format!("{} of group {}", entry.text("jobname"), entry.whole("groupid"));
            (name, done(&entry, comparable))
        });
        (outcome.code(), entries.collect::<Vec<_>>())
    };
    let ours = run_in(|file| fathom(["fio", "--output-format=json", file]));
    let theirs = run_in(|file| fio(["--output-format=json", file]));
    if ours == theirs {
        return Vec::new();
    }
    let cause = if ours.0 == theirs.0 { "results" } else { "exit code" };
    let unequal = |((name, ours), (their_name, theirs)): (&(String, Done), &(String, Done))| {
        if name != their_name {
            return Some(format!("{name} instead of {their_name}"));
        }
        let counts = |done: &Done| format!("{:?} {:?} {:?} {}", done.operations, done.bytes, done.kinds, done.error);
        let keys = [ours.keys_without(theirs), theirs.keys_without(ours)];
        (ours != theirs).then(|| format!("{name}: {} instead of {}, keys {keys:?}", counts(ours), counts(theirs)))
    };
    let unequal: Vec<String> = ours.1.iter().zip(&theirs.1).filter_map(unequal).collect();
    vec![format!("seed {seed}: {cause}: {:?} instead of {:?}: {}\n{text}", ours.0, theirs.0, unequal.join("\n"))]
}

/// Compares job files of all seeds.
fn compare(first_few: Range<u64>, differences: fn(u64) -> Vec<String>) {
    let range = std::env::var("FATHOM_TEST_JOBS").ok().and_then(|range| {
        let (first, end) = range.split_once("..")?;
        Some(first.parse().ok()?..end.parse().ok()?)
    });
    let mut causes: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = Vec::new();
    // Both programs mostly wait for their workers.
    let seeds: Vec<u64> = range.unwrap_or(first_few).collect();
    for difference in seeds.chunks(4).flat_map(|seeds| at_once(seeds, |seed| differences(*seed))).flatten() {
        let cause = difference.split(": ").nth(1).unwrap_or_default().to_owned();
        *causes.entry(cause).or_default() += 1;
        all.push(difference.chars().take(1500).collect::<String>());
    }
    assert!(all.is_empty(), "{causes:?}\n{}", all.join("\n"));
}

#[test]
fn random_jobs_do_what_they_do_in_fio() {
    require!(Fio);
    compare(0..cases(10), differences);
}

#[test]
fn random_groups_of_jobs_do_what_they_do_in_fio() {
    require!(Fio);
    compare(0..cases(5), differences_of_groups);
}
