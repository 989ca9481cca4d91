//! Checks of the strict dialect on options that parse: combinations that fio would ignore, and spelling that loses
//! text.

use units::{Nanos, Place, Problem, ProblemCode};

use crate::Dialect;
use crate::draft::JobDraft;
use crate::model::EngineKind;
use crate::raw::RawOption;
use crate::redact::redacted_value;
use crate::table::OptionSpec;

/// The options of a job and the place of its title.
pub(crate) struct StrictContext<'a> {
    /// Options applied, latest last.
    pub(crate) given: &'a [(&'static OptionSpec, RawOption)],
    /// Place of the title.
    pub(crate) place: &'a Place,
    pub(crate) dialect: Dialect,
}

impl StrictContext<'_> {
    /// Returns the last occurrence of the option `name`.
    pub(crate) fn last(&self, name: &str) -> Option<&RawOption> {
        self.given.iter().rev().find(|(spec, _)| spec.name == name).map(|(_, option)| option)
    }

    /// Returns an error at the last occurrence of the option `name`, or at the job's title.
    pub(crate) fn error(&self, code: ProblemCode, name: &str, message: &str) -> Problem {
        let place = self.last(name).map_or(self.place, |option| &option.value_place);
        Problem::error(code, message).at(place.clone())
    }
}

/// Checks the spelling of one option.
pub(crate) fn check_writing(spec: &OptionSpec, option: &RawOption) -> Vec<Problem> {
    let mut found = Vec::new();
    for name in &option.unset {
        found.push(
            Problem::error(
                ProblemCode::UnsetVariable,
                format!("{}: the environment variable `{name}` is not set", spec.name),
            )
            .at(option.value_place.clone())
            .note("fio replaces it with an empty string")
            .help(format!("set it, for example `{name}=… fathom run …`")),
        );
    }
    if let Some(cut) = option.cut.as_ref().filter(|cut| cuts_value(option, cut)) {
        found.push(
            Problem::error(ProblemCode::CommentInValue, format!("{}: a comment starts within the value", spec.name))
                .at(cut.clone())
                .note(format!(
                    "fio reads `{}`: `;` and `#` start a comment anywhere",
                    redacted_value(spec.name, option.value.as_deref().unwrap_or(""))
                ))
                .help("put a space before the comment, or choose a value without `;` and `#`"),
        );
    }
    found
}

/// Reports whether the comment was probably meant as part of the value: no blank precedes it, or a quote is open.
fn cuts_value(option: &RawOption, cut: &Place) -> bool {
    let before = cut.text.chars().nth(cut.column.saturating_sub(2));
    let quotes = option.value.as_deref().unwrap_or("").matches('"').count();
    !before.is_some_and(char::is_whitespace) || quotes % 2 == 1
}

/// Checks combinations of options.
pub(crate) fn check(draft: &JobDraft, context: &StrictContext<'_>) -> Vec<Problem> {
    let checks = [
        depth,
        time_based,
        engine_options,
        direct_and_buffered,
        export,
        files_beside_an_export,
        data_of_metadata,
        truncating_reads,
        histograms,
        uncached_direct,
        atomic_engine,
        huge_pages,
        unused_priority,
        quoted_arguments,
        unstored_data,
    ];
    checks.iter().filter_map(|check| check(draft, context)).collect()
}

fn depth(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let engine = draft.job.engine.kind;
    let depth = draft.job.pace.iodepth;
    (depth > 1 && !draft.job.has_queue() && draft.engine_known).then(|| {
        context
            .error(
                ProblemCode::IgnoredOption,
                "iodepth",
                &format!("the engine `{}` keeps one operation in flight, not {depth}", engine.name()),
            )
            .note("fio runs with a depth of 1 and reports this only on standard output")
            .help(
                "write `ioengine=io_uring` or `ioengine=libaio`, or `numjobs` or `io_submit_mode=offload` for more \
                 operations in flight",
            )
    })
}

fn time_based(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let extent = &draft.job.extent;
    (extent.time_based && extent.runtime == Nanos::ZERO).then(|| {
        context
            .error(ProblemCode::TimeBased, "time_based", "`time_based` needs a `runtime`")
            .note("fio ignores it without one")
            .help("write `runtime=60s`, or leave `time_based` out")
    })
}

fn engine_options(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let engine = draft.job.engine.kind.name();
    let mut ignored =
        context.given.iter().rev().filter(|(spec, _)| !spec.engines.is_empty() && !spec.engines.contains(&engine));
    let (spec, option) = ignored.next().filter(|_| draft.engine_known)?;
    Some(
        Problem::error(ProblemCode::EngineOption, format!("the engine `{engine}` ignores `{}`", spec.name))
            .at(option.key_place.clone())
            .note(format!("it was set for all jobs, but is an option of {}", spec.engines.join(", ")))
            .help("set it in the jobs that use one of these engines"),
    )
}

fn export(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let engine = &draft.job.engine;
    (engine.kind == EngineKind::Nbd && engine.uri.is_none()).then(|| {
        context
            .error(ProblemCode::MissingOption, "ioengine", "the engine `nbd` needs the URI of an export")
            .note("fio detects it only when the job starts")
            .help("write `uri=nbd://HOST[:PORT]/EXPORT` or `uri=nbd+unix:///EXPORT?socket=PATH`")
    })
}

fn files_beside_an_export(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let given =
        ["filename", "directory", "nrfiles", "filesize"].into_iter().find(|name| context.last(name).is_some())?;
    (draft.job.engine.kind == EngineKind::Nbd).then(|| {
        context
            .error(
                ProblemCode::IgnoredOption,
                given,
                &format!("the engine `nbd` uses an export and no files: `{given}` has no effect"),
            )
            .note("fio silently uses the export")
            .help("omit it: `uri` names the export, `size` and `offset` a part of it")
    })
}

fn histograms(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let stats = &draft.job.stats;
    (stats.write_hist_log.is_some() && stats.log_hist == Nanos::ZERO).then(|| {
        context
            .error(ProblemCode::MissingOption, "write_hist_log", "`write_hist_log` needs `log_hist_msec`")
            .note("fio writes an empty file without it")
            .help("write for example `log_hist_msec=1000`, or leave `write_hist_log` out")
    })
}

/// Options that concern data have no effect on an engine that transfers none.
fn data_of_metadata(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let job = &draft.job;
    let engine = job.engine.kind;
    let given = [("verify", job.verify.method.is_some()), ("direct", job.engine.direct)];
    let (option, _) = given.into_iter().find(|(_, given)| *given && engine.traits().metadata)?;
    Some(
        context
            .error(
                ProblemCode::IgnoredOption,
                option,
                &format!("the engine `{}` transfers no data: `{option}` has no effect", engine.name()),
            )
            .note("fio silently ignores it")
            .help("omit it"),
    )
}

fn uncached_direct(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let engine = &draft.job.engine;
    (engine.uncached && (engine.direct || engine.atomic)).then(|| {
        context
            .error(ProblemCode::ConflictingOptions, "uncached", "`uncached` has no effect on direct operations")
            .note("they do not use the page cache anyway")
            .help("leave `uncached` or `direct` out")
    })
}

fn atomic_engine(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let engine = &draft.job.engine;
    let issues = matches!(engine.kind, EngineKind::IoUring | EngineKind::Libaio | EngineKind::Pvsync2);
    (engine.atomic && !issues && draft.engine_known).then(|| {
        let message = format!("the engine `{}` does not support atomic writes", engine.kind.name());
        context
            .error(ProblemCode::ConflictingOptions, "atomic", &message)
            .note("fio silently issues normal ones")
            .help("write `ioengine=io_uring`, `libaio` or `pvsync2`, or leave `atomic` out")
    })
}

fn huge_pages(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let bytes = draft.job.engine.hugepage_bytes;
    (!bytes.is_power_of_two() || bytes < 4096).then(|| {
        context
            .error(ProblemCode::OutOfRange, "hugepage-size", &format!("{bytes} bytes is not a huge page size"))
            .help("write a size that /sys/kernel/mm/hugepages lists, such as `hugepage-size=2m`")
    })
}

fn unused_priority(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let given = ["cmdprio", "cmdprio_class", "cmdprio_hint"].into_iter().find(|name| context.last(name).is_some())?;
    (!draft.job.command_priorities.is_used()).then(|| {
        context
            .error(ProblemCode::IgnoredOption, given, &format!("`{given}` has no effect: no operation has a priority"))
            .help("write `cmdprio_percentage=50`, or `cmdprio_bssplit=4k/50`")
    })
}

/// Some SCSI commands store other data than those of the blocks, or none.
fn unstored_data(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let job = &draft.job;
    let stores = job.engine.scsi.write_command.stores_data() || !job.pattern.direction.writes();
    (job.engine.kind == EngineKind::Sg && job.verify.method.is_some() && !stores).then(|| {
        context
            .error(
                ProblemCode::ConflictingOptions,
                "sg_write_mode",
                "the command does not store the blocks that `verify` expects",
            )
            .note("fio reports every block as corrupt")
            .help("leave `verify` out, or write `sg_write_mode=write`")
    })
}

/// Quotes would be parts of the arguments.
fn quoted_arguments(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let arguments = &draft.job.engine.program.arguments;
    (draft.job.engine.kind == EngineKind::Exec && arguments.contains(['"', '\''])).then(|| {
        context
            .error(
                ProblemCode::QuotedArguments,
                "arguments",
                "`arguments` contains quotes, but is split at spaces only",
            )
            .note("fio passes quotes to the program")
            .help("put the command into a script, and write its path as `program`")
    })
}

fn truncating_reads(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let direction = draft.job.pattern.direction;
    let engine = draft.job.engine.kind;
    let writes_only = matches!(engine, EngineKind::Ftruncate | EngineKind::E4defrag);
    (writes_only && (direction.reads() || direction.trims())).then(|| {
        let message = format!("the engine `{}` supports writes only", engine.name());
        context
            .error(ProblemCode::ConflictingOptions, "rw", &message)
            .note("fio fails with EINVAL at the first other operation")
            .help("write `rw=write` or `rw=randwrite`")
    })
}

fn direct_and_buffered(_: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let value = |name| context.last(name).and_then(|option| option.value.as_deref());
    let (direct, buffered) = (value("direct")?, value("buffered")?);
    (direct == buffered).then(|| {
        context
            .error(ProblemCode::ConflictingOptions, "buffered", "`direct` and `buffered` contradict each other")
            .note("fio uses the later one")
            .help("leave one of them out")
    })
}
