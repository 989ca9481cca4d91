//! Files below the directory of a job (`opendir`).

use std::path::Path;

use job::limits::FILENAMES_MAX;
use job::{Job, Plan};
use units::{Problem, ProblemCode};

/// Adds all regular files below their `opendir` to the files of jobs, in the order of their names.
pub(crate) fn resolve(plan: &mut Plan) -> Vec<Problem> {
    plan.jobs.iter_mut().filter_map(problem_of).collect()
}

fn problem_of(job: &mut Job) -> Option<Problem> {
    let directory = job.files.opendir.take()?;
    let (message, remedy) = add_files(job, &directory).err()?;
    let message = format!("job `{}`: {directory}: {message}", job.name);
    Some(Problem::error(ProblemCode::UnreadableInput, message).at(job.origin.of("opendir").cloned()).help(remedy))
}

/// Adds the files below a directory. Fails with what is wrong and what to do about it.
fn add_files(job: &mut Job, directory: &str) -> Result<(), (String, &'static str)> {
    let mut found = Vec::new();
    collect(Path::new(directory), &mut found)
        .map_err(|(place, error)| (format!("{place} cannot be read: {error}"), "use a readable directory"))?;
    if found.is_empty() {
        return Err(("no regular files in it".to_owned(), "use another directory"));
    }
    if job.files.filenames.len() + found.len() > FILENAMES_MAX {
        let message = format!("more than {FILENAMES_MAX} files in it, the maximum for a job");
        return Err((message, "use a directory with fewer files"));
    }
    job.files.directories.clear();
    job.files.filenames.extend(found);
    job.files.nrfiles = job.files.filenames.len() as u32;
    Ok(())
}

/// Collects the regular files below a directory. Links are not followed, so that it ends.
fn collect(directory: &Path, found: &mut Vec<String>) -> Result<(), (String, std::io::Error)> {
    let failed = |error| (directory.display().to_string(), error);
    let mut entries: Vec<_> =
        std::fs::read_dir(directory).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(failed)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(failed)?;
        let path = entry.path();
        if kind.is_dir() {
            collect(&path, found)?;
        } else if kind.is_file()
            && let Some(path) = path.to_str()
        {
            found.push(path.to_owned());
        }
        if found.len() > FILENAMES_MAX {
            break;
        }
    }
    Ok(())
}
