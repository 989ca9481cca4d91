//! Tests of every quirk of fio's job language in both dialects: fio's reading and the strict dialect's diagnostics.

use job::{Dialect, FileOrder, Job, Parsed, Plan, Size, parse_command_line, parse_file_text, parse_files};
use units::{Bytes, Nanos};

use crate::support::{World, codes, fio_job, lines, parse, words};

/// A quirk: its number and name, a job file, a check of fio's reading, and the codes that the strict dialect reports.
struct Quirk {
    name: &'static str,
    text: &'static str,
    fio: fn(&Job) -> bool,
    strict: &'static [&'static str],
}

const fn quirk(
    name: &'static str,
    text: &'static str,
    fio: fn(&Job) -> bool,
    strict: &'static [&'static str],
) -> Quirk {
    Quirk { name, text, fio, strict }
}

fn filenames(job: &Job) -> Vec<&str> {
    job.files.filenames.iter().map(String::as_str).collect()
}

fn sizes(job: &Job) -> [u32; 3] {
    let sizes = &job.pattern.block_sizes;
    [sizes.read.min(), sizes.write.min(), sizes.trim.min()]
}

fn bytes(job: &Job) -> Option<u64> {
    match job.extent.size? {
        Size::Bytes(bytes) => Some(bytes.get()),
        Size::Percent(_) | Size::Zones(_) => None,
    }
}

const QUIRKS: &[Quirk] = &[
    quirk("G1 comments cut values", "[a]\nfilename=/x#y", |j| filenames(j) == ["/x"], &["comment-in-value"]),
    quirk(
        "G1 comments cut quotes",
        "[a]\ndescription=\"a ; b\"",
        |j| j.description.as_deref() == Some("\"a"),
        &["comment-in-value"],
    ),
    quirk("G1 a comment behind a blank", "[a]\nbs=8k ; eight", |j| sizes(j) == [8192; 3], &[]),
    quirk("G1 lines end with CR LF", "[a]\r\nbs=8k\r\n", |j| sizes(j) == [8192; 3], &[]),
    quirk("G1 blanks around lines", "  [a]  \n\t bs=8k \t\n", |j| sizes(j) == [8192; 3], &[]),
    quirk("G1 quotes are kept", "[a]\ndescription=\"x\"", |j| j.description.as_deref() == Some("\"x\""), &[]),
    quirk("G2 an empty title", "[]\nbs=8k", |j| j.name.is_empty(), &[]),
    quirk("G2 the title loses its last letter", "[a]x\nbs=8k", |j| j.name == "a]", &["section"]),
    quirk("G2 global is a prefix", "[globalfoo]\nbs=8k\n[a]", |j| sizes(j) == [8192; 3], &[]),
    quirk("G4 filename goes last", "[a]\nfilename=x\ndirectory=/d", |j| filenames(j) == ["/d/x"], &[]),
    quirk("G4 kb_base goes first", "[a]\nbs=4KiB\nkb_base=1000", |j| sizes(j) == [4096; 3], &[]),
    quirk("G4 the last line wins", "[a]\nbs=8k\nbs=16k", |j| sizes(j) == [16384; 3], &[]),
    quirk("G4 engine options may come first", "[a]\nhipri\nioengine=io_uring", |j| j.engine.hipri, &[]),
    quirk("G5 unset variables are empty", "[a]\nname=x${NOPE}y", |j| j.name == "xy", &["unset-variable"]),
    quirk("G5 braces are needed", "[a]\nname=$NOPE", |j| j.name == "$NOPE", &[]),
    quirk("G5 keywords", "[a]\nsize=$pagesize", |j| bytes(j) == Some(4096), &[]),
    quirk("G5 keywords calculate", "[a]\nsize=10*10*$mb_memory", |j| bytes(j) == Some(100_000), &[]),
    quirk("G7 a blank hides the unit", "[a]\nbs = 8k", |j| sizes(j) == [8; 3], &["leading-blank"]),
    quirk("G7 a blank before the sign only", "[a]\nbs =8k", |j| sizes(j) == [8192; 3], &[]),
    quirk("G8 an argument behind a colon", "[a]\nrw=randread:8", |j| j.pattern.random && j.pattern.modifier == 8, &[]),
    quirk("G8 backwards", "[a]\nrw=read:-4k", |j| j.pattern.modifier == -4096, &[]),
    quirk("G9 profile options", "[a]\nthreads=1", |j| !j.grouping.thread, &["ignored-option"]),
    quirk("G10 hexadecimal", "[a]\nsize=0x1000", |j| bytes(j) == Some(4096), &[]),
    quirk("G10 no octal", "[a]\nsize=010", |j| bytes(j) == Some(10), &[]),
    quirk("G10 no fractions of sizes", "[a]\nsize=1.5m", |j| bytes(j) == Some(1), &["not-a-number"]),
    quirk("G10 no exponents", "[a]\nbs=4e3", |j| sizes(j) == [4; 3], &["trailing-text"]),
    quirk(
        "G10 no fractions of times",
        "[a]\nruntime=1.5s",
        |j| j.extent.runtime == Nanos::from_secs(1),
        &["not-a-number"],
    ),
    quirk("G10 no fractions of shares", "[a]\nsize=12.5%", |j| bytes(j) == Some(12), &["not-a-number"]),
    quirk("G10 text behind a number", "[a]\nrwmixread=8foo", |j| j.pattern.read_ppm == 80_000, &["trailing-text"]),
    quirk("G10 a share behind a size", "[a]\nbs=4k/50", |j| sizes(j) == [4096; 3], &["trailing-text"]),
    quirk("G10 counts have suffixes", "[a]\nioengine=libaio\niodepth=1k", |j| j.pace.iodepth == 1024, &[]),
    quirk("G10 negative sizes", "[a]\nsize=-1m", |j| bytes(j) == Some(1 << 20), &["out-of-range"]),
    quirk("G11 k is 1024", "[a]\nbs=4kB", |j| sizes(j) == [4096; 3], &[]),
    quirk("G11 Ki is 1024", "[a]\nbs=4Ki", |j| sizes(j) == [4096; 3], &[]),
    quirk("G11 KiB is 1000", "[a]\nbs=4KiB", |j| sizes(j) == [4000; 3], &["iec-unit"]),
    quirk("G11 turned round by kb_base", "[a]\nkb_base=1000\nbs=4KiB", |j| sizes(j) == [4096; 3], &[]),
    quirk("G12 seconds unless said", "[a]\nruntime=10", |j| j.extent.runtime == Nanos::from_secs(10), &[]),
    quirk("G12 a large M is a minute", "[a]\nruntime=1M", |j| j.extent.runtime == Nanos::from_secs(60), &[]),
    quirk("G12 microseconds when idle", "[a]\nthinktime=10", |j| j.pace.thinktime == Nanos::from_micros(10), &[]),
    quirk("G12 unknown units", "[a]\nruntime=10sec", |j| j.extent.runtime == Nanos::from_micros(10), &["time-unit"]),
    quirk("G12 min is no unit", "[a]\nruntime=1min", |j| j.extent.runtime == Nanos::from_micros(1), &["time-unit"]),
    quirk("G13 a share of the file", "[a]\nsize=50%", |j| j.extent.size == Some(Size::Percent(50)), &[]),
    quirk("G13 more than the whole", "[a]\nsize=125%", |j| bytes(j) == Some(u64::MAX - 125), &["percent"]),
    quirk("G14 the last copies on", "[a]\nbs=4k,8k", |j| sizes(j) == [4096, 8192, 8192], &[]),
    quirk("G14 nothing keeps the default", "[a]\nbs=,8k", |j| sizes(j) == [4096, 8192, 8192], &[]),
    quirk("G14 a trailing comma", "[a]\nbs=8k,", |j| sizes(j) == [8192, 4096, 4096], &[]),
    quirk("G14 colons separate", "[a]\nbs=4k:8k", |j| sizes(j) == [4096, 8192, 8192], &["list-separator"]),
    quirk("G14 dashes separate", "[a]\nbs=4-8k", |j| sizes(j) == [4, 8192, 8192], &["list-separator"]),
    quirk("G15 passed over", "[a]\nbs=4k,foo", |j| sizes(j) == [4096; 3], &["list-element"]),
    quirk("G15 passed over at first", "[a]\nbs=foo,8k", |j| sizes(j) == [4096, 8192, 8192], &["list-element"]),
    quirk("G16 ranges are put in order", "[a]\nbsrange=8k-4k", |j| j.pattern.block_sizes.read.max() == 8192, &[]),
    quirk("G16 ranges win over bs", "[a]\nbsrange=4k-8k\nbs=1k", |j| sizes(j) == [4096; 3], &[]),
    quirk("G16 splits win over ranges", "[a]\nbssplit=16k/100\nbsrange=4k-8k", |j| sizes(j) == [16384; 3], &[]),
    quirk("G16 splits above the whole", "[a]\nbssplit=4k/60:8k/60", |j| sizes(j) == [4096; 3], &["percent"]),
    quirk("G18 flags need no value", "[a]\nnorandommap", |j| j.pattern.norandommap, &[]),
    quirk(
        "G18 a flag can be taken back",
        "[global]\ngroup_reporting\n[a]\ngroup_reporting=0",
        |j| !j.grouping.group_reporting,
        &[],
    ),
    quirk("G18 a flag of two", "[a]\nthread=2", |j| j.grouping.thread, &["not-a-switch"]),
    quirk("G19 two files", "[a]\nfilename=a:b\nnrfiles=7", |j| filenames(j) == ["a", "b"] && j.files.nrfiles == 2, &[]),
    quirk("G19 an escaped colon", "[a]\nfilename=a\\:b", |j| filenames(j) == ["a:b"], &[]),
    quirk("G20 generated names", "[a]\nbs=4k", |j| j.files.filename_format == "$jobname.$jobnum.$filenum", &[]),
    quirk("G21 no size", "[a]\nfilename=x", |j| j.extent.size.is_none(), &[]),
    quirk("G31 stonewall", "[a]\nstonewall", |j| j.grouping.stonewall, &[]),
    quirk("G32 time without an end", "[a]\ntime_based", |j| !j.extent.time_based, &["time-based"]),
    quirk("depth that an engine ignores", "[a]\niodepth=8", |j| j.pace.iodepth == 8, &["ignored-option"]),
    quirk(
        "options that an engine ignores",
        "[global]\nioengine=io_uring\nhipri\n[a]\nioengine=libaio",
        |j| !j.engine.hipri,
        &["engine-option"],
    ),
    quirk("a contradiction", "[a]\ndirect=1\nbuffered=1", |j| !j.engine.direct, &["conflicting-options"]),
    quirk("a skew needs no map", "[a]\nrw=randread\nrandom_distribution=zipf:1.2", |j| j.pattern.norandommap, &[]),
    quirk("write share from read share", "[a]\nrw=randrw\nrwmixwrite=30", |j| j.pattern.read_ppm == 700_000, &[]),
    quirk(
        "an argument for nothing",
        "[a]\nfallocate=none:x",
        |j| j.files.fallocate == job::Fallocate::None,
        &["unused-argument"],
    ),
    quirk(
        "which file comes next",
        "[a]\nfile_service_type=random:4",
        |j| j.files.service.order == FileOrder::Random && j.files.service.switch_every == 4,
        &[],
    ),
];

#[test]
fn the_fio_dialect_reads_quirks_as_fio_does() {
    for quirk in QUIRKS {
        let job = fio_job(quirk.text);
        assert!((quirk.fio)(&job), "{}: {job:#?}", quirk.name);
    }
}

#[test]
fn the_strict_dialect_agrees_or_refuses() {
    for quirk in QUIRKS {
        let parsed = parse(quirk.text, Dialect::Strict);
        let found: Vec<_> = parsed.diagnostics.iter().map(|d| d.code.name()).collect();
        assert_eq!(found, quirk.strict, "{}: {:?}", quirk.name, lines(&parsed.diagnostics));
        if quirk.strict.is_empty() {
            assert!((quirk.fio)(&parsed.value.jobs[0]), "{}", quirk.name);
        }
    }
}

#[test]
fn every_refusal_has_a_place_and_a_note_or_remedy() {
    for quirk in QUIRKS {
        for diagnostic in parse(quirk.text, Dialect::Strict).diagnostics {
            assert!(diagnostic.place.is_some(), "{}: {diagnostic}", quirk.name);
            assert!(!diagnostic.notes.is_empty() || diagnostic.help.is_some(), "{}: {diagnostic}", quirk.name);
        }
    }
}

/// Both dialects refuse what fio refuses, with the same code.
#[test]
fn both_dialects_refuse_what_fio_refuses() {
    let cases: &[(&str, &str)] = &[
        ("bs=4k\n[a]", "section"),
        ("[a]\ninclude nowhere", "include"),
        ("[a]\nsize=${NOPE", "not-a-number"),
        ("[a]\nsize=$mb_memory*2m", "calculation"),
        ("[a]\nrw=RandRead", "unknown-value"),
        ("[a]\nRW=read", "unknown-option"),
        ("[a]\nrw = read", "unknown-value"),
        ("[a]\nnosuch=1", "unknown-option"),
        ("[a]\nbs=(4*1024)", "not-a-number"),
        ("[a]\nio_size=150%", "percent"),
        ("[a]\nsize=10z", "zones"),
        ("[a]\nzonemode=zbd\nsize=1.5z", "not-a-number"),
        ("[a]\nnumjobs=0", "out-of-range"),
        ("[a]\ndirect", "missing-value"),
        ("[a]\ndirect=true", "not-a-switch"),
        ("[a]\nrwmixcycle=1", "removed"),
        ("[a]\nioengine=rbd", "not-supported"),
        ("[a]\nhipri", "engine-option"),
        ("[a]\nzonemode=zbd\nzonesize=1m\nzoneskip=1m", "zones"),
        ("[a]\nzonemode=zbd\nzonesize=1m\nzonecapacity=2m", "zones"),
        ("[a]\nzonemode=zbd\nrw=trimwrite", "zones"),
        ("[a]\nzonemode=zbd\nread_iolog=t", "zones"),
        ("[a]\nzonemode=zbd\nioengine=mmap", "zones"),
        ("[a]\nzonemode=zbd\nrw=write\nverify=crc32c\nverify_only=1", "zones"),
        ("[a]\nzonemode=zbd\nrw=write\nioengine=libaio\nnowait=1", "zones"),
        ("[a]\nzonemode=zbd\nrw=write\nioengine=libaio\nverify=md5\nrecover_zbd_write_error=1", "zones"),
        ("[a]\nfilename=", "missing-value"),
        ("[a]\nbs=8g", "block-size"),
        ("", "no-jobs"),
        ("[global]\nbs=4k", "no-jobs"),
    ];
    for (text, code) in cases {
        for dialect in [Dialect::Fio, Dialect::Strict] {
            let found = codes(text, dialect);
            assert!(found.contains(code), "{text:?} in {dialect:?}: {found:?}");
        }
    }
}

/// The engine `nbd` has a queue and uses an export instead of files. fio ignores file names and directories beside it.
#[test]
fn an_export_replaces_files() {
    let text = "[a]\nioengine=nbd\nuri=nbd+unix:///disk?socket=/run/s\niodepth=8";
    assert_eq!(codes(text, Dialect::Strict), [""; 0]);
    let job = fio_job(text);
    assert_eq!(job.engine.uri.as_deref(), Some("nbd+unix:///disk?socket=/run/s"));
    assert!(job.engine.direct && job.engine.kind.traits().queues);
    for ignored in ["filename=x", "directory=/tmp", "nrfiles=2", "filesize=1m"] {
        let text = format!("{text}\n{ignored}");
        assert_eq!(codes(&text, Dialect::Strict), ["ignored-option"], "{ignored}");
        assert_eq!(codes(&text, Dialect::Fio), [""; 0], "{ignored}");
    }
    assert_eq!(codes("[a]\nioengine=nbd", Dialect::Strict), ["missing-option"]);
    assert_eq!(codes("[a]\nioengine=nbd", Dialect::Fio), [""; 0]);
    let mixed = "[global]\nioengine=nbd\nuri=nbd://h/\n[a]\nioengine=psync";
    assert_eq!(codes(mixed, Dialect::Strict), ["engine-option"]);
    assert_eq!(fio_job(mixed).engine.uri, None);
}

/// An unsupported option is accepted with its default.
#[test]
fn defaults_of_unsupported_options_are_accepted() {
    for option in ["zonemode=none", "unlink=0", "verify_state_save=1", "exitall_on_error=0", "experimental_verify=0"] {
        assert_eq!(codes(&format!("[a]\n{option}"), Dialect::Strict), [""; 0], "{option}");
    }
}

#[test]
fn five_mistakes_give_five_located_diagnostics() {
    let text = "[global]\nioengine=libao\nbs = 8k\n\n[a]\niodeph=32\nruntime=10sec\n[b]\n  rw=randread\n  direct=yes\n";
    let found = parse(text, Dialect::Strict).diagnostics;
    let places: Vec<_> = found.iter().filter_map(|d| d.place.as_ref()).map(|p| (p.line, p.column, p.length)).collect();
    assert_eq!(places, [(2, 10, 5), (3, 5, 1), (6, 1, 6), (7, 11, 3), (10, 10, 3)], "{:?}", lines(&found));
    assert!(found.iter().all(|d| d.place.as_ref().is_some_and(|p| &*p.source == "test.fio")));
    assert_eq!(found[2].label, "did you mean `iodepth`?");
}

/// The help for a leading blank is the option without it.
#[test]
fn the_remedy_for_a_leading_blank_omits_it() {
    for (text, help) in
        [("bs = 8k", "write `bs=8k`"), ("rw = randread", "write `rw=randread`"), ("name= x", "write `name=x`")]
    {
        let found = parse(&format!("[a]\n{text}"), Dialect::Strict).diagnostics;
        assert_eq!(found.iter().filter_map(|d| d.help.as_deref()).collect::<Vec<_>>(), [help], "{text}");
    }
}

/// Diagnostics are in the order of their places, whichever check found them.
#[test]
fn diagnostics_are_in_the_order_of_their_places() {
    let text = "[global]\nioengine=io_uring\nhipri\n[a]x\nbs = 8k\nioengine=libaio\n[b]y\nsize=1.5m";
    let lines: Vec<_> =
        parse(text, Dialect::Strict).diagnostics.iter().map(|d| d.place.as_ref().map_or(0, |p| p.line)).collect();
    assert_eq!(lines, [3, 4, 5, 7, 8]);
}

#[test]
fn places_count_characters() {
    let found = parse("[a]\n  name=é${X}\nbssplit=4k/50:ü/50", Dialect::Strict).diagnostics;
    let places: Vec<_> = found.iter().filter_map(|d| d.place.as_ref()).map(|p| (p.line, p.column, p.length)).collect();
    assert_eq!(places, [(2, 8, 5), (3, 15, 1)], "{:?}", lines(&found));
}

fn plan_of(world: &World, dialect: Dialect, path: &str) -> Parsed<Plan> {
    parse_files(&[path.to_owned()], &[], dialect, world)
}

/// G2: global sections apply to later jobs; sections of the same title are separate jobs.
#[test]
fn globals_apply_to_later_jobs_only() {
    let plan = parse("[a]\nsize=2m\n[global]\nsize=1m\n[a]\n[global]\nbs=8k\n[b]", Dialect::Fio).value;
    let found: Vec<_> = plan.jobs.iter().map(|job| (job.name.as_str(), bytes(job), sizes(job)[0])).collect();
    assert_eq!(found, [("a", Some(2 << 20), 4096), ("a", Some(1 << 20), 4096), ("b", Some(1 << 20), 8192)]);
    assert_eq!(plan.globals, [("size".to_owned(), "1m".to_owned()), ("bs".to_owned(), "8k".to_owned())]);
}

/// G3: includes are searched for in the working directory, then beside the including file; may nest; have no sections.
#[test]
fn includes_are_found_beside_the_file() {
    let world = World::default()
        .with_file("dir/main.fio", "[a]\ninclude one.inc\nrw=read")
        .with_file("dir/one.inc", "bs=8k\ninclude two.inc")
        .with_file("two.inc", "size=1m");
    for dialect in [Dialect::Fio, Dialect::Strict] {
        let parsed = plan_of(&world, dialect, "dir/main.fio");
        assert_eq!(lines(&parsed.diagnostics), [""; 0]);
        assert_eq!((sizes(&parsed.value.jobs[0])[0], bytes(&parsed.value.jobs[0])), (8192, Some(1 << 20)));
    }
    let world = World::default().with_file("a", "[a]\ninclude a\n");
    let found = plan_of(&world, Dialect::Fio, "a").diagnostics;
    assert!(found.iter().any(|d| d.what.contains("nested too deep")), "{:?}", lines(&found));
}

/// G5: environment variables are expanded in files only, anywhere in a line.
#[test]
fn variables_are_replaced_before_the_line_is_read() {
    let world = World::default().with_variable("KEY", "bs").with_variable("N", "8").with_file("f", "[a]\n${KEY}=${N}k");
    for dialect in [Dialect::Fio, Dialect::Strict] {
        let parsed = plan_of(&world, dialect, "f");
        assert_eq!(lines(&parsed.diagnostics), [""; 0]);
        assert_eq!(parsed.value.jobs[0].echo, [("bs".to_owned(), "8k".to_owned())]);
    }
    let parsed = parse_command_line(&words("--name=a --filename=${N}"), Dialect::Fio, &world);
    assert_eq!(filenames(&parsed.value.plan.jobs[0]), ["${N}"]);
}

fn command(line: &str, dialect: Dialect, world: &World) -> Parsed<job::Invocation> {
    parse_command_line(&words(line), dialect, world)
}

/// G22: one dash or two, `=` or a blank, any unambiguous prefix.
#[test]
fn options_have_several_spellings() {
    let world = World::default();
    for line in ["--name=a --bs=8k", "-name=a -bs=8k", "-name a --bs 8k", "--name=a --blocksize 8k", "--nam=a --bs=8k"]
    {
        let parsed = command(line, Dialect::Fio, &world);
        assert_eq!(lines(&parsed.diagnostics), [""; 0], "{line}");
        assert_eq!(sizes(&parsed.value.plan.jobs[0]), [8192; 3], "{line}");
    }
    for line in ["--name=a --siz=1m", "--name=a --blocksi=1k", "--name=a --nosuch=1", "--name=a -x", "--name=a --bs"] {
        assert!(command(line, Dialect::Fio, &world).has_errors(), "{line}");
    }
    let parsed = command("--name=a --thread 1", Dialect::Fio, &world);
    assert_eq!(parsed.diagnostics[0].code.name(), "unreadable-input");
}

/// G23: jobs inherit the options before the first job, not those of other jobs.
#[test]
fn command_line_jobs_do_not_inherit_from_each_other() {
    let plan = command("--bs=2k --name=a --bs=8k --name=b", Dialect::Fio, &World::default()).value.plan;
    assert_eq!(plan.jobs.iter().map(|job| sizes(job)[0]).collect::<Vec<_>>(), [8192, 2048]);
    assert_eq!(plan.jobs[1].echo, [("name".to_owned(), "b".to_owned())]);
    let plan = command("--name=global --bs=8k --name=b", Dialect::Fio, &World::default()).value.plan;
    assert_eq!((plan.jobs.len(), sizes(&plan.jobs[0])[0]), (1, 8192));
    let found = command("--name=a --hipri --ioengine=io_uring", Dialect::Fio, &World::default()).diagnostics;
    assert_eq!(found[0].code.name(), "unknown-option");
    assert!(!command("--name=a --ioengine=io_uring --hipri", Dialect::Strict, &World::default()).has_errors());
}

/// G24: global options of the command line apply to the first file only; each later file starts with a barrier.
#[test]
fn each_file_starts_from_the_defaults() {
    let world = World::default().with_file("one", "[a]\n[b]").with_file("two", "[c]\n[d]").with_file("-", "[e]");
    let plan = command("--bs=2k one two -", Dialect::Fio, &world).value.plan;
    let found: Vec<_> = plan.jobs.iter().map(|j| (j.name.as_str(), sizes(j)[0], j.grouping.stonewall)).collect();
    assert_eq!(
        found,
        [("a", 2048, false), ("b", 2048, false), ("c", 4096, true), ("d", 4096, false), ("e", 4096, true)]
    );
}

/// G25: sections are selected by exact names; global sections are kept.
#[test]
fn sections_can_be_selected() {
    let world = World::default().with_file("f", "[global]\nbs=8k\n[a]\n[b]\n[c]");
    let plan = command("--section=a --section=c f", Dialect::Fio, &world).value.plan;
    let found: Vec<_> = plan.jobs.iter().map(|job| (job.name.as_str(), sizes(job)[0])).collect();
    assert_eq!(found, [("a", 8192), ("c", 8192)]);
    assert_eq!(command("--section=x f", Dialect::Fio, &world).diagnostics[0].code.name(), "no-jobs");
}

/// G26: the output of `--showcmd` parses to the same jobs as the file.
#[test]
fn showcmd_parses_to_the_same_jobs() {
    let text = "[global]\nioengine=io_uring\nhipri\n[a]\nfilename=x\nreadwrite=randread:4\nbs=4k,8k\nkb_base=1000\n[b]\nsize=50%";
    let world = World::default().with_file("f", text);
    let file = command("--showcmd f", Dialect::Fio, &world).value;
    let line = file.showcmd[0].strip_prefix("fio ").expect("begins with the program").to_owned();
    let mut again = command(&line, Dialect::Fio, &world).value.plan;
    for job in &mut again.jobs {
        job.echo.retain(|(name, _)| name != "name");
    }
    assert_eq!(again, file.plan);
}

/// G28, G29, G30: options of the program.
#[test]
fn host_options() {
    use job::OutputFormat::{Json, JsonPlus, Normal, Terse};
    let host = |line: &str| {
        let parsed = command(&format!("{line} --name=a"), Dialect::Fio, &World::default());
        assert_eq!(lines(&parsed.diagnostics), [""; 0], "{line}");
        parsed.value.host
    };
    assert_eq!(host("").output_formats, [Normal]);
    assert_eq!(host("--output-format=normal,json,terse").output_formats, [Terse, Json, Normal]);
    assert_eq!(host("--minimal --output-format=normal").output_formats, [Normal]);
    assert_eq!(host("--output-format=json+ --append-terse").output_formats, [Terse, JsonPlus]);
    assert_eq!(host("--eta=bogus --max-jobs=foo --alloc-size=1 --debug=io").eta, job::Eta::Auto);
    assert_eq!(host("--status-interval=5000ms").status_interval, Some(Nanos::from_secs(5)));
    assert_eq!(host("--output=f --readonly --parse-only").output.as_deref(), Some("f"));
    assert_eq!(host("--enghelp").enghelp.as_deref(), Some(""));
    for line in [
        "--client=h",
        "--server",
        "--latency-log=x",
        "--output-format=xml",
        "--status-interval=100us",
        "--eta-interval=1ms",
    ] {
        assert!(command(&format!("{line} --name=a"), Dialect::Fio, &World::default()).has_errors(), "{line}");
    }
    assert_eq!(lines(&command("--version", Dialect::Fio, &World::default()).diagnostics), [""; 0]);
}

/// Results repeat options by canonical name, as typed, in the order in which they took effect.
#[test]
fn options_are_repeated_as_typed() {
    let job = fio_job("[a]\nfilename=x\nblocksize=4K\nthread\nreadwrite=read\nbs=8k\nioengine=io_uring\nhipri");
    let echo: Vec<_> = job.echo.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(
        echo,
        [
            ("bs", "4K"),
            ("thread", ""),
            ("rw", "read"),
            ("bs", "8k"),
            ("ioengine", "io_uring"),
            ("filename", "x"),
            ("hipri", "")
        ]
    );
}

#[test]
fn time_based_without_a_runtime_ends_with_the_data() {
    let world = World::default();
    let time_based = |line: &str| command(line, Dialect::Fio, &world).value.plan.jobs[0].extent.time_based;
    assert!(!time_based("--name=a --size=1m --time_based"));
    assert!(time_based("--name=a --size=1m --time_based --runtime=5"));
}

#[test]
fn defaults_match_fio() {
    let job = fio_job("[a]");
    assert!(job.files.invalidate && job.pattern.randrepeat && job.verify.do_verify && job.payload.scramble_buffers);
    assert!(job.stats.clat_percentiles && !job.stats.lat_percentiles && job.stats.per_job_logs);
    assert_eq!((job.engine.kind, job.pace.iodepth, job.grouping.numjobs), (job::EngineKind::Psync, 1, 1));
    assert_eq!((job.stats.percentile_list.len(), job.extent.offset), (17, Size::Bytes(Bytes::ZERO)));
}

/// f52613e read `name=\xff` as U+FFFD in fio's dialect, and file names derive from job names.
#[test]
fn bytes_that_are_not_utf8_are_refused() {
    let text = b"[a]\nname=\xff\nbs=8k";
    for dialect in [Dialect::Strict, Dialect::Fio] {
        assert_eq!(parse_file_text("f", text, dialect, &World::default()).diagnostics[0].code.name(), "encoding");
    }
}

/// A job followed both rates at once; fio refuses it.
#[test]
fn rate_and_rate_iops_exclude_each_other() {
    let text = b"[job]\nioengine=null\nsize=1m\nrate=1m\nrate_iops=100\n";
    for dialect in [Dialect::Fio, Dialect::Strict] {
        let parsed = job::parse_file_text("two.fio", text, dialect, &job::EmptySource);
        let codes: Vec<_> = parsed.diagnostics.iter().map(|diagnostic| diagnostic.code.name()).collect();
        assert_eq!(codes, ["conflicting-options"]);
        assert_eq!(parsed.diagnostics[0].place.as_ref().map(|place| place.line), Some(5));
    }
}

/// Files were put into a directory whatever the order, and fio reads a command line as it stands.
#[test]
fn a_directory_holds_the_files_that_are_named_after_it() {
    let of_line = |line: &str| {
        let (plan, _) = parse_command_line(&words(line), Dialect::Fio, &World::default()).into_result().unwrap();
        plan.plan.jobs[0].files.filenames.clone()
    };
    assert_eq!(of_line("--name=a --size=4k --filename=zz --directory=d"), ["zz"]);
    assert_eq!(of_line("--name=a --size=4k --directory=d --filename=zz:/abs"), ["d/zz", "/abs"]);
    assert_eq!(of_line("--size=4k --filename=zz --name=a --directory=d"), ["zz"]);
    let of_file = |text: &str| filenames(&fio_job(text)).join(" ");
    assert_eq!(of_file("[a]\nsize=4k\nfilename=zz\ndirectory=d\n"), "d/zz");
    assert_eq!(of_file("[global]\nfilename=zz\n[a]\nsize=4k\ndirectory=d\n"), "zz");
}
