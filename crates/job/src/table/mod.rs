//! The option table: every job option that fio knows, as data.
//!
//! Parser, help, `docs/options.md` and completions are made from it. A supported option carries the function that sets
//! it in a job, any other a status.

mod engine;
mod errors;
mod extent;
mod files;
mod foreign;
mod io;
mod nvme;
mod objects;
mod pace;
mod private;
mod process;
mod replay;
mod spec;
mod stats;
mod verify;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(crate) use engine::{ENGINES, engine_name};
pub(crate) use spec::Setter;
pub use spec::{Category, OptionKind, OptionSpec, Status};

use units::closest;

/// The options of each category, with its title in the reference.
pub(crate) static TABLES: [(Category, &str, &[OptionSpec]); 14] = [
    (Category::Jobs, "Jobs", process::OPTIONS),
    (Category::Files, "Files", files::OPTIONS),
    (Category::Extent, "Extent and duration", extent::OPTIONS),
    (Category::Pattern, "Pattern and data", io::OPTIONS),
    (Category::Engine, "Engine", engine::OPTIONS),
    (Category::Pace, "Rate and syncing", pace::OPTIONS),
    (Category::Replay, "Trace replay", replay::OPTIONS),
    (Category::Verify, "Verification", verify::OPTIONS),
    (Category::Statistics, "Statistics and logs", stats::OPTIONS),
    (Category::Other, "Errors, zones and others", errors::OPTIONS),
    (Category::Other, "Data placement", nvme::PLACEMENT),
    (Category::Private, "Engine options", private::OPTIONS),
    (Category::Private, "Options of the http engine", objects::OPTIONS),
    (Category::Private, "NVMe command options", nvme::OPTIONS),
];

/// All options by category, within each in the order of the documentation.
pub static OPTIONS: LazyLock<Vec<OptionSpec>> = LazyLock::new(|| {
    let specs = |(category, _, options): &(Category, &str, &[OptionSpec])| {
        let category = *category;
        options.iter().map(move |spec| OptionSpec { category, ..*spec }).collect::<Vec<_>>()
    };
    TABLES.iter().flat_map(specs).collect()
});

static BY_NAME: LazyLock<BTreeMap<&'static str, Vec<&'static OptionSpec>>> = LazyLock::new(|| {
    let mut map: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for spec in OPTIONS.iter() {
        for name in spec.names() {
            map.entry(name).or_default().push(spec);
        }
    }
    map
});

/// Returns the option with this name or alias that `engine` accepts: a general option, or else one of the engine.
#[must_use]
pub fn find(name: &str, engine: &str) -> Option<&'static OptionSpec> {
    let specs = BY_NAME.get(name)?;
    let general = specs.iter().find(|spec| spec.engines.is_empty());
    general.or_else(|| specs.iter().find(|spec| spec.engines.contains(&engine))).copied()
}

/// Returns the options of all engines with this name or alias.
#[must_use]
pub fn find_all(name: &str) -> &'static [&'static OptionSpec] {
    BY_NAME.get(name).map_or(&[], Vec::as_slice)
}

/// Returns the names of the supported engines.
pub fn engines() -> impl Iterator<Item = &'static str> {
    ENGINES.iter().map(|engine| engine.name())
}

/// Returns the option name closest to `name`, if any is close.
#[must_use]
pub fn suggest(name: &str) -> Option<&'static str> {
    closest(name, OPTIONS.iter().flat_map(OptionSpec::names))
}
