//! `fathom catalog`: lists modelled volumes, describes the limits of one, and renews figures.

mod dated;
mod diff;
mod fetch;
mod inputs;
mod load;
mod options;
mod update;

use report::catalog::{CatalogVolume, list_json, list_text};
use report::{ResultFormat, SheetStyle};
use volume::catalogue;

use crate::exit::Exit;
use crate::outputs::print_text;
use crate::runners;
use crate::terminal::Terminal;

pub(crate) use dated::{RENEWALS, today};
use options::CatalogCommand;
pub(crate) use options::CatalogOptions;

/// Runs a subcommand, lists all volumes, or describes one for operations of one kind and size.
pub(crate) fn command(options: &CatalogOptions) -> Result<Exit, Exit> {
    match &options.command {
        Some(CatalogCommand::Update(options)) => return update::command(options),
        Some(CatalogCommand::Diff(options)) => return diff::command(options),
        None => {}
    }
    let Some(words) = &options.volume else {
        let listed = catalogue::list();
        let is_json = options.format == ResultFormat::Json;
        return Ok(print_text(&if is_json { list_json(&listed) } else { list_text(&listed) }));
    };
    let load = load::parse(options);
    let resolved = catalogue::resolve_all(&[words], &runners::read_volumes);
    match (load, resolved) {
        (Ok(load), Ok(resolved)) => {
            let shown = CatalogVolume::new(&resolved[0], &load);
            Ok(print_text(&if options.format == ResultFormat::Json { shown.json() } else { shown.text(style()) }))
        }
        (load, resolved) => {
            let of_volume = resolved.err().into_iter().flatten();
            Err(Exit::invalid(load.err().into_iter().flatten().chain(of_volume).collect::<Vec<_>>()))
        }
    }
}

fn style() -> SheetStyle {
    SheetStyle { width: Terminal::stdout().width.min(100), ..SheetStyle::default() }
}
