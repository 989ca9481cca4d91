//! `fathom catalog`: modelled volumes and their limits.

mod question;

use job::Diagnostic;
use report::SheetStyle;
use report::catalog::{CatalogVolume, list_json, list_text};
use runner::problems;
use volume::catalogue::{self, Problem};

use crate::args::CatalogOptions;
use crate::exit::Exit;
use crate::outputs::print_text;
use crate::terminal::Terminal;
use crate::{diagnostics, runners};

/// Lists all volumes, or describes one for a kind and size of operation.
pub(crate) fn command(options: &CatalogOptions) -> Exit {
    let Some(words) = &options.volume else {
        let listed = catalogue::list();
        return print_text(&if options.json() { list_json(&listed) } else { list_text(&listed) });
    };
    let load = question::read(options);
    let resolved = catalogue::resolve_all(&[words], &runners::read_volumes);
    match (load, resolved) {
        (Ok(load), Ok(resolved)) => {
            let shown = CatalogVolume::new(&resolved[0], &load);
            let style = SheetStyle { width: Terminal::stdout().width.min(100), colour: false };
            print_text(&if options.json() { shown.json() } else { shown.text(style) })
        }
        (load, resolved) => {
            let mut problems = load.err().unwrap_or_default();
            problems.extend(resolved.err().into_iter().flatten().map(|problem| of_volume(&problem)));
            diagnostics::print(&problems);
            Exit::Usage
        }
    }
}

fn of_volume(problem: &Problem) -> Diagnostic {
    problems::of_volume(problem, problems::place_in_volume(problem))
}
