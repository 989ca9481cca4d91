//! A grid of runs that differ in a few settings.

use analyse::Verdict;
use record::{MissingItems, Run, ShardRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Problem, ProblemCode};

use crate::stored::{self, StoredResult, check_schema};

/// A grid, or a shard of one.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GridResult {
    /// Command line, one argument per element.
    pub command_line: Vec<String>,
    /// The shard; `None` for a whole grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardRecord>,
    /// Points that no shard has; `None` if there are all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingItems>,
    /// The points, in the order of the settings.
    #[serde(rename = "sweep")]
    pub points: Vec<GridPoint>,
}

/// One run of a grid.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StoredPoint")]
#[schemars(!from)]
pub struct GridPoint {
    /// Names and values of its settings, in the order of the sweep options.
    pub settings: Vec<(String, String)>,
    #[serde(flatten)]
    pub run: Run,
    /// Findings about the run.
    pub verdicts: Vec<Verdict>,
}

/// A point as stored. It is judged again, because another version may have written it.
#[derive(Deserialize)]
struct StoredPoint {
    settings: Vec<(String, String)>,
    #[serde(flatten)]
    run: Run,
}

impl From<StoredPoint> for GridPoint {
    fn from(StoredPoint { settings, run }: StoredPoint) -> Self {
        let text = |text: &str| units::printable(text).into_owned();
        let settings = settings.iter().map(|(key, value)| (text(key), text(value))).collect();
        Self::new(settings, record::printable(run))
    }
}

impl GridPoint {
    /// Judges the run of some settings.
    #[must_use]
    pub fn new(settings: Vec<(String, String)>, run: Run) -> Self {
        Self { verdicts: analyse::analyse(&run), settings, run }
    }

    /// Returns the settings as `key=value`, separated by blanks.
    #[must_use]
    pub fn label(&self) -> String {
        assignments(&self.settings)
    }
}

/// Returns settings as `key=value`, separated by blanks.
#[must_use]
pub fn assignments(settings: &[(String, String)]) -> String {
    settings.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}

impl StoredResult for GridResult {
    const KEY: &'static str = "fathom_grid";

    /// Reads a grid, whose runs are judged again.
    fn read(text: &str) -> Result<Self, Problem> {
        let grid: Self = stored::read(text)?;
        let names = |point: &GridPoint| point.settings.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        if let Some(other) = grid.points.iter().find(|point| names(point) != names(&grid.points[0])) {
            let (first, other) = (names(&grid.points[0]).join(", "), names(other).join(", "));
            let what = format!("its points have different settings: `{first}` and `{other}`");
            return Err(Problem::error(ProblemCode::UnreadableInput, what).help("create the grid again"));
        }
        grid.points.iter().try_for_each(|point| check_schema(point.run.schema, record::SCHEMA))?;
        Ok(grid)
    }
}
