//! Files that list volumes which exist: tables (CSV) and the state of Terraform.

mod table;
mod terraform;

use results::plan::current::{CurrentSource, SkippedVolume};
use units::{Place, Problem, ProblemCode};

use crate::plan_words::PlanWords;

/// Most volumes of one file.
const VOLUMES_MAX: usize = 100_000;

/// A volume of a file.
#[derive(Clone, Debug)]
pub(crate) struct FleetVolume {
    /// Name in the file, with its line if several have it.
    pub(crate) name: String,
    /// Name in the catalogue with keys.
    pub(crate) volume: String,
    /// Load and bounds of this volume.
    pub(crate) words: PlanWords,
    /// Machine to which it is attached, if the file names it.
    pub(crate) machine: Option<String>,
    pub(crate) region: Option<String>,
    /// Number of such volumes.
    pub(crate) count: u32,
    pub(crate) source: CurrentSource,
    /// Row of a table; `None` for a state, whose text is not shown.
    pub(crate) place: Option<Place>,
}

/// The volumes of a file.
#[derive(Clone, Debug, Default)]
pub struct FleetFile {
    pub(crate) volumes: Vec<FleetVolume>,
    /// Volumes of the file that the catalogue does not have.
    pub(crate) skipped: Vec<SkippedVolume>,
}

/// Reports whether a value of `--current` names a file rather than a volume.
#[must_use]
pub fn is_file(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    [".csv", ".tfstate", ".json", ".tfstate.backup"].iter().any(|ending| lower.ends_with(ending))
}

/// Reads the volumes of a file.
///
/// # Errors
///
/// Returns all problems of a table, with their places. Problems of a state quote nothing of it.
pub fn read(name: &str, bytes: &[u8]) -> Result<FleetFile, Vec<Problem>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let what = format!("{name} is not UTF-8 text (byte {})", error.valid_up_to());
        vec![Problem::error(ProblemCode::Encoding, what).help("save it as UTF-8")]
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_table = name.to_ascii_lowercase().ends_with(".csv");
    let file = if is_table { table::read(name, text)? } else { terraform::read(name, text)? };
    if file.volumes.is_empty() && file.skipped.is_empty() {
        let kinds = if is_table {
            "rows below its header"
        } else {
            "aws_ebs_volume, google_compute_disk or azurerm_managed_disk"
        };
        return Err(vec![Problem::error(ProblemCode::Plan, format!("{name} has no volumes: no {kinds}"))]);
    }
    Ok(file)
}

/// Returns the error of a file with too many volumes.
fn too_many(name: &str) -> Problem {
    Problem::error(ProblemCode::Plan, format!("{name} has more than {} volumes", units::grouped(VOLUMES_MAX as u64)))
        .help("split it")
}
