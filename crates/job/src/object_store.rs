//! Checks of jobs on an object store.

use units::{Problem, ProblemCode};

use crate::draft::JobDraft;
use crate::model::{Job, ObjectStoreMode, Size};
use crate::strict::StrictContext;

/// Returns what makes a job on an object store impossible.
pub(crate) fn check(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    if !job.engine.kind.is_of_objects() {
        return None;
    }
    access(job, context).or_else(|| names(job, context)).or_else(|| operations(job, context))
}

fn access(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let store = &job.engine.objects;
    let problem =
        |name: &str, message: &str, help: &str| Some(context.error(ProblemCode::ObjectStore, name, message).help(help));
    if store.address().is_none() {
        return problem(
            "http_host",
            "`http_host` is not a host name or address",
            "write `http_host=HOST` or `http_host=HOST:PORT`, without a protocol or a path",
        );
    }
    let credentials = [
        ("http_s3_keyid", store.mode == ObjectStoreMode::S3 && store.s3_key_id.0.is_empty()),
        ("http_s3_key", store.mode == ObjectStoreMode::S3 && store.s3_key.0.is_empty()),
        ("http_swift_auth_token", store.mode == ObjectStoreMode::Swift && store.swift_token.0.is_empty()),
    ];
    if let Some((name, _)) = credentials.into_iter().find(|(_, is_missing)| *is_missing) {
        let message = format!("this store needs `{name}`");
        return problem(
            "http_mode",
            &message,
            &format!("write `{name}=${{VARIABLE}}`, which keeps it out of the file"),
        );
    }
    let customer_key = store.s3_customer_key.0.len();
    if store.mode == ObjectStoreMode::S3 && customer_key != 0 && customer_key != 32 {
        let message = format!("an AES256 key has 32 bytes; this one has {customer_key}");
        return problem("http_s3_sse_customer_key", &message, "write a key of 32 characters");
    }
    None
}

fn names(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let problem =
        |name: &str, message: &str, help: &str| Some(context.error(ProblemCode::ObjectStore, name, message).help(help));
    let files = &job.files;
    let help = "write `filename=/BUCKET/OBJECT`, or `filename_format` with a slash at its start";
    if files.directories.iter().any(|directory| !directory.is_empty()) {
        return problem("directory", "objects have no directory", help);
    }
    let is_wrong = |name: &&String| !name.starts_with('/') || name.chars().any(char::is_control);
    match files.filenames.iter().find(is_wrong) {
        Some(name) => {
            let message = format!("object names start with a slash; `{}` does not", units::printable(name));
            problem("filename", &message, help)
        }
        None if files.filenames.is_empty() && !files.filename_format.starts_with('/') => {
            problem("ioengine", "the engine `http` needs object names", help)
        }
        None => None,
    }
}

fn operations(job: &Job, context: &StrictContext<'_>) -> Option<Problem> {
    let name = job.sync.option()?;
    let message = "objects cannot be synced: a completed request is already stored";
    let problem = context.error(ProblemCode::ObjectStore, name, message).note("fio fails at the first sync");
    Some(problem.help(format!("leave `{name}` out")))
}

/// Returns an option without effect, or writes that would replace each other. fio accepts both.
pub(crate) fn check_strictly(draft: &JobDraft, context: &StrictContext<'_>) -> Option<Problem> {
    let engine = &draft.job.engine;
    if !engine.kind.is_of_objects() {
        return None;
    }
    let store = &engine.objects;
    let belongs_elsewhere = |name: &str| match name {
        "http_user" | "http_pass" => store.mode != ObjectStoreMode::WebDav,
        "http_swift_auth_token" => store.mode != ObjectStoreMode::Swift,
        name => name.starts_with("http_s3_") && store.mode != ObjectStoreMode::S3,
    };
    if let Some((spec, option)) = context.given.iter().find(|(spec, _)| belongs_elsewhere(spec.name)) {
        let message = format!("`{}` has no effect with this `http_mode`", spec.name);
        let problem = Problem::error(ProblemCode::ObjectStore, message).at(option.key_place.clone());
        return Some(problem.note("fio ignores it").help("omit it, or set the matching `http_mode`"));
    }
    let ignored = ["unlink", "pre_read", "overwrite", "create_only", "file_append", "fill_device"];
    let is_set = |name: &&&str| context.last(name).is_some_and(|option| option.value.as_deref() != Some("0"));
    if let Some(name) = ignored.iter().find(is_set) {
        let problem = context.error(ProblemCode::ObjectStore, name, &format!("`{name}` has no effect on objects"));
        return Some(problem.help("omit it"));
    }
    let size = draft.job.extent.size;
    let writes_whole =
        matches!(size, Some(Size::Bytes(bytes)) if bytes.get() == draft.bs[1]) && draft.ranges[1].is_none();
    (store.ranged && draft.job.pattern.direction.writes() && !writes_whole).then(|| {
        let message = "in `range` mode, each write replaces the whole object";
        let problem = context.error(ProblemCode::ObjectStore, "http_object_mode", message).note("fio writes them all");
        problem.help("write `bs` equal to `size`, or `http_object_mode=block`")
    })
}
