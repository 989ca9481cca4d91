//! Options of files.

use units::{Bytes, ProblemCode};

use super::spec::OptionKind::{Bool, Long, Text, Word};
use super::spec::{ANY, OptionSpec, accepted, int, special, switch, text, word};
use crate::draft::JobDraft;
use crate::limits::FILENAMES_MAX;
use crate::model::{
    CacheAdvice, CacheHint, Fallocate, FileLocking, FileOptions, FileOrder, FileService, OpenSync, WriteHint,
    split_names,
};
use crate::read::number::NumberUnit;
use crate::read::{Findings, distribution, lists};

pub(super) static OPTIONS: &[OptionSpec] = &[
    special("filename", Text, filename, "Files or devices, separated by `:` (a colon in a name is `\\:`)."),
    text(
        "directory",
        "Directories for relative names, separated by `:`, assigned to clones round-robin.",
        |d, value| {
            d.job.files.directories = split_names(value);
        },
    ),
    text(
        "filename_format",
        "Template of generated file names; $jobname, $jobnum and $filenum are replaced.",
        |d, value| {
            d.job.files.filename_format = value.to_owned();
        },
    )
    .default("$jobname.$jobnum.$filenum"),
    int("nrfiles", (0, ANY), "Number of files per worker; `size` is divided among them.", |d, n| {
        d.job.files.nrfiles = (n as u32).max(1);
    })
    .alias(&["nr_files"])
    .default("1"),
    int("openfiles", (0, ANY), "Maximum number of files open at the same time; all by default.", |d, n| {
        d.job.files.openfiles = u32::try_from(n).ok().filter(|&files| files > 0);
    }),
    word("file_service_type", FILE_ORDERS, "Order in which to access files.", file_service).default("roundrobin"),
    special("filesize", Long(1), filesize, "Size of each file, or a range `low-high`."),
    switch("create_on_open", "0", "Create files when they are opened, not before the run.", |d, on| {
        d.job.files.create_on_open = on;
    }),
    word(
        "fallocate",
        &["none", "native", "posix", "keep", "truncate", "0", "1"],
        "Preallocation method before a file is laid out.",
        |d, w, _, _| d.job.files.fallocate = fallocate(w),
    )
    .default("native"),
    switch("overwrite", "0", "Write each file in full before the run, so that writes do not extend it.", |d, on| {
        d.job.files.overwrite = on;
    }),
    switch("invalidate", "1", "Drop the page cache of each file before the run.", |d, on| d.job.files.invalidate = on),
    word("sync", &["none", "0", "sync", "1", "dsync"], "Open files with O_SYNC or O_DSYNC.", |d, w, _, _| {
        d.job.files.open_sync = match w {
            "sync" | "1" => OpenSync::Sync,
            "dsync" => OpenSync::Dsync,
            _ => OpenSync::None,
        };
    })
    .default("none"),
    switch("allow_file_create", "1", "Permit the creation of files that do not exist.", |d, on| {
        d.job.files.allow_file_create = on;
    }),
    switch("allow_mounted_write", "0", "Permit writes to a mounted device.", |d, on| {
        d.job.files.allow_mounted_write = on;
    }),
    accepted(
        "create_serialize",
        Bool,
        "Lay out the files of one job at a time.",
        "files with data are created one at a time",
    )
    .default("1"),
    switch("create_fsync", "1", "Flush each file after laying it out.", |d, on| {
        d.job.files.create_fsync = on;
    }),
    switch("create_only", "0", "Create the files without running the workload.", |d, on| d.job.files.create_only = on),
    switch("file_append", "0", "Start at the current end of each file.", |d, on| d.job.files.file_append = on),
    switch("fill_device", "0", "Write until the device or filesystem is full.", |d, on| d.job.files.fill_device = on)
        .alias(&["fill_fs"]),
    switch("pre_read", "0", "Read the files into the page cache before the run.", |d, on| d.job.files.pre_read = on),
    switch("unlink", "0", "Remove the files after the job.", |d, on| d.job.files.unlink = on),
    switch(
        "unlink_each_loop",
        "0",
        "Remove the files after each loop but the last, so that the next one starts without files.",
        |d, on| {
            d.job.files.unlink_each_loop = on;
        },
    ),
    word(
        "fadvise_hint",
        &["0", "1", "random", "sequential", "noreuse"],
        "Advise the kernel of the access pattern (posix_fadvise); 1 for the job's own.",
        |d, w, _, _| {
            d.job.files.advice = match w {
                "0" => CacheHint::None,
                "random" => CacheHint::Given(CacheAdvice::Random),
                "sequential" => CacheHint::Given(CacheAdvice::Sequential),
                "noreuse" => CacheHint::Given(CacheAdvice::NoReuse),
                _ => CacheHint::OfPattern,
            };
        },
    )
    .default("1"),
    word(
        "write_hint",
        &["none", "short", "medium", "long", "extreme"],
        "Expected lifetime of the data (F_SET_RW_HINT).",
        |d, w, _, _| {
            d.job.files.write_hint = Some(match w {
                "short" => WriteHint::Short,
                "medium" => WriteHint::Medium,
                "long" => WriteHint::Long,
                "extreme" => WriteHint::Extreme,
                _ => WriteHint::None,
            });
        },
    )
    .default("none"),
    word(
        "lockfile",
        &["none", "exclusive", "readwrite"],
        "Lock each file for one worker at a time, or for several readers.",
        |d, w, _, _| {
            d.job.files.locking = match w {
                "exclusive" => FileLocking::Exclusive,
                "readwrite" => FileLocking::ReadWrite,
                _ => FileLocking::None,
            };
        },
    )
    .default("none"),
    accepted(
        "filetype",
        Word(&["none", "file", "block", "char"]),
        "Type of all files; saves a stat call per file.",
        "the type of each file is checked, so a device is never mistaken for a file",
    )
    .default("none"),
    text("opendir", "Use all regular files below this directory.", |d, path| {
        d.job.files.opendir = (!path.is_empty()).then(|| path.to_owned());
    }),
    accepted("unique_filename", Bool, "Make file names unique per network client.", "there are no network clients")
        .default("1"),
];

const FILE_ORDERS: &[&str] = &["random", "zipf", "pareto", "normal", "gauss", "roundrobin", "sequential"];

fn fallocate(word: &str) -> Fallocate {
    match word {
        "native" => Fallocate::Native,
        "posix" | "1" => Fallocate::Posix,
        "keep" => Fallocate::Keep,
        "truncate" => Fallocate::Truncate,
        _ => Fallocate::None,
    }
}

/// Adds file names. fio keeps those given before, including those in global sections.
fn filename(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    let files = &mut draft.job.files;
    if !files.filenames.is_empty() {
        let (names, more) = (files.filenames.get(..3).unwrap_or(&files.filenames), files.filenames.len() > 3);
        let given = format!("{}{}", names.join(":"), if more { ":…" } else { "" });
        findings
            .quirk(0..text.len(), ProblemCode::ConflictingOptions, format!("`{given}` was set before"))
            .note("fio uses those files too, and divides `size` among them all")
            .help("name all files of a job in one place, separated by `:`");
    }
    // As in fio, a directory that is given later holds no files that were named before.
    let directory = files.directories.first().map(String::as_str);
    let paths: Vec<String> = split_names(text).iter().map(|name| FileOptions::path_under(directory, name)).collect();
    files.filenames.extend(paths);
    if files.filenames.len() > FILENAMES_MAX {
        files.filenames.truncate(FILENAMES_MAX);
        findings
            .fault(0..text.len(), ProblemCode::TooManyFiles, format!("a job has at most {FILENAMES_MAX} file names"))
            .help("divide the files among several jobs, or write `nrfiles`");
    }
    files.nrfiles = files.filenames.len() as u32;
}

/// Sets the order of files. The argument is a parameter of the distribution, else the number of operations per file.
fn file_service(draft: &mut JobDraft, word: &'static str, argument: Option<&str>, findings: &mut Findings) {
    let text = argument.unwrap_or("");
    let mut switch_every = 1;
    let order = match word {
        "zipf" => distribution::exponent(text, findings).map(FileOrder::Zipf),
        "pareto" => distribution::power(text, findings).map(FileOrder::Pareto),
        "normal" | "gauss" => distribution::deviation(text, findings).map(FileOrder::Normal),
        other => {
            switch_every = lists::leading_count(text, findings).max(1);
            Some(match other {
                "random" => FileOrder::Random,
                "sequential" => FileOrder::Sequential,
                _ => FileOrder::RoundRobin,
            })
        }
    };
    if let Some(order) = order {
        draft.job.files.service = FileService { order, switch_every };
    }
}

fn filesize(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    let unit = NumberUnit::Count { kb_base: draft.kb_base() };
    let mut ends = draft.job.files.filesize.unwrap_or_default();
    let mut any = false;
    lists::interval(text, unit, findings, |slot, last, value| {
        let value = Bytes::new(value as u64);
        any |= value > Bytes::ZERO;
        if value == Bytes::ZERO {
            return;
        }
        if slot == 0 {
            ends.0 = value;
        }
        if slot == 1 || (slot == 0 && last) {
            ends.1 = value;
        }
    });
    if !any && findings.items.is_empty() {
        findings
            .fault(0..text.len(), ProblemCode::OutOfRange, "a file needs at least one byte")
            .help("write for example `64k`");
    }
    draft.job.files.filesize = Some((ends.0.min(ends.1), ends.0.max(ends.1)));
}
