//! The option table: every job option that fio knows, as data.
//!
//! Parser, help, `docs/options.md` and completions are made from it. A supported option carries the function that sets it
//! in a job, any other a status.

mod engine;
mod errors;
mod extent;
mod files;
mod io;
mod pace;
mod private;
mod process;
mod spec;
mod stats;
mod verify;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(crate) use engine::{ENGINES, engine_name};
pub(crate) use spec::Setter;
pub use spec::{Category, OptionKind, OptionSpec, Status};

use units::closest;

/// All options by category, within each in the order of the documentation.
pub static OPTIONS: LazyLock<Vec<OptionSpec>> = LazyLock::new(|| {
    let tables = [
        (Category::Jobs, process::OPTIONS),
        (Category::Files, files::OPTIONS),
        (Category::Extent, extent::OPTIONS),
        (Category::Pattern, io::OPTIONS),
        (Category::Engine, engine::OPTIONS),
        (Category::Pace, pace::OPTIONS),
        (Category::Verify, verify::OPTIONS),
        (Category::Statistics, stats::OPTIONS),
        (Category::Other, errors::OPTIONS),
        (Category::Private, private::OPTIONS),
    ];
    let specs = |(category, options): (Category, &[OptionSpec])| {
        options.iter().map(move |o| OptionSpec { category, ..*o }).collect::<Vec<_>>()
    };
    tables.into_iter().flat_map(specs).collect()
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
