//! Records of the ranks of one run: a folder with one file per rank, on each host or on a filesystem that they share.

use std::path::{Path, PathBuf};

use record::Run;
use units::{Problem, ProblemCode};

use crate::disk;
use crate::error::{Error, Result};

/// Begin and end of the names of these files.
const NAME: (&str, &str) = ("rank-", ".json");

/// Writes the record of one rank durably. Returns its path.
///
/// # Errors
///
/// The folder cannot be created or the file cannot be written.
pub fn write_rank(folder: &Path, rank: u32, run: &Run) -> Result<PathBuf> {
    disk::make_private_folder(folder)?;
    let path = folder.join(format!("{}{rank:04}{}", NAME.0, NAME.1));
    disk::replace(&path, &path.with_extension("part"), record::to_json(run).as_bytes())?;
    Ok(path)
}

/// Returns the files of ranks in a folder, in ascending order of their ranks; none if it is no folder of ranks.
#[must_use]
pub fn rank_files(folder: &Path) -> Vec<PathBuf> {
    let is_rank = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_prefix(NAME.0).and_then(|rest| rest.strip_suffix(NAME.1));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_rank).collect();
    // Numbers above 9999 have more digits.
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    files
}

/// Reads the records of ranks in a folder and merges them. Files that cannot be read are returned as problems.
///
/// # Errors
///
/// No file can be read, or the files belong to different runs.
pub fn read_ranks(folder: &Path) -> Result<(Run, Vec<Problem>)> {
    let mut problems = Vec::new();
    let mut runs = Vec::new();
    for path in rank_files(folder) {
        let invalid = |why: String| Error::io(&path, "read", std::io::Error::other(why));
        let run = disk::read(&path).and_then(|bytes| {
            let text = String::from_utf8(bytes).map_err(|_| invalid("not valid UTF-8".to_owned()))?;
            record::from_json(&text).map_err(|error| invalid(error.to_string()))
        });
        match run {
            Ok(run) => runs.push((path, run)),
            Err(error) => problems.push(error.into()),
        }
    }
    let merged = merge_ranks(runs).map_err(|why| Error::io(folder, "merge", std::io::Error::other(why)))?;
    merged
        .map(|run| (run, problems))
        .ok_or_else(|| Error::io(folder, "read", std::io::Error::other("no readable rank results".to_owned())))
}

/// Merges the records of ranks; `None` if there are none.
///
/// # Errors
///
/// A record is not that of a rank, or belongs to another run.
pub fn merge_ranks(runs: impl IntoIterator<Item = (PathBuf, Run)>) -> std::result::Result<Option<Run>, Problem> {
    let mut merged: Option<Run> = None;
    for (path, run) in runs {
        let place = path.display();
        let id = |run: &Run| run.fleet.as_ref().map(|fleet| fleet.id.clone());
        let Some(own) = id(&run) else {
            return Err(Problem::error(ProblemCode::Store, format!("{place} is not a rank's result")));
        };
        match &mut merged {
            None => merged = Some(run),
            Some(all) if id(all).as_ref() == Some(&own) => all.add_rank(run),
            Some(all) => {
                let first = id(all).unwrap_or_default();
                return Err(Problem::error(
                    ProblemCode::Store,
                    format!("{place} belongs to run {own}, the others to run {first}"),
                ));
            }
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use record::{FleetRecord, RankRecord};

    use super::*;

    fn run(id: &str, rank: u32) -> Run {
        let mut run = Run { schema: record::SCHEMA, ..Run::default() };
        run.fleet = Some(FleetRecord::of_rank(id.to_owned(), 12, RankRecord::of(rank, &run)));
        run
    }

    #[test]
    fn ranks_are_merged_and_the_missing_are_known() {
        let folder = tempfile::tempdir().unwrap();
        for rank in [0, 2, 11, 10] {
            write_rank(folder.path(), rank, &run("a", rank)).unwrap();
        }
        std::fs::write(folder.path().join("rank-0003.json"), "{\"schema\":1,").unwrap();
        std::fs::write(folder.path().join("rank-0004.part"), "").unwrap();
        let (merged, problems) = read_ranks(folder.path()).unwrap();
        let fleet = merged.fleet.unwrap();
        assert_eq!(fleet.members.iter().map(|member| member.rank).collect::<Vec<_>>(), [0, 2, 10, 11]);
        assert_eq!(fleet.missing().iter().map(|lost| lost.ranks.clone()).collect::<Vec<_>>(), [1..=1, 3..=9]);
        assert!(problems.len() == 1 && problems[0].what.contains("rank-0003.json"), "{problems:?}");
    }

    #[test]
    fn records_of_different_runs_are_not_merged() {
        let folder = tempfile::tempdir().unwrap();
        write_rank(folder.path(), 0, &run("a", 0)).unwrap();
        write_rank(folder.path(), 1, &run("b", 1)).unwrap();
        let error = read_ranks(folder.path()).unwrap_err().to_string();
        assert!(error.contains("belongs to run b, the others to run a"), "{error}");
        assert!(read_ranks(Path::new("/nowhere")).is_err());
    }
}
