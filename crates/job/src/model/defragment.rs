//! Options of the engine `e4defrag`.

use super::Job;

/// File with which the files of a job exchange extents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefragmentOptions {
    /// Name of the donor; empty if the job does not name one (`donorname`).
    pub donor: String,
    /// Whether each operation allocates and frees the donor's space, instead of once before the run (`inplace`).
    pub in_place: bool,
}

impl DefragmentOptions {
    /// Returns the path of the donor of a job's clone: in the `directory` of its files, unless it is absolute. `None` for
    /// a job of another engine.
    #[must_use]
    pub fn donor_path(job: &Job, clone: u32) -> Option<String> {
        let donor = &job.engine.defragment.donor;
        if job.engine.engine != super::Engine::E4defrag || donor.is_empty() {
            return None;
        }
        let directories = &job.files.directories;
        let directory = directories.get(clone as usize % directories.len().max(1)).filter(|path| !path.is_empty());
        Some(match directory {
            Some(directory) if !donor.starts_with('/') => format!("{}/{donor}", directory.trim_end_matches('/')),
            _ => donor.clone(),
        })
    }
}
