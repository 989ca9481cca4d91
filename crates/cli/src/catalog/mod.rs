//! `fathom catalog`: lists modelled volumes, or describes the limits of one.

mod load;

use report::catalog::{CatalogVolume, list_json, list_text};
use report::{ResultFormat, SheetStyle};
use volume::catalogue;

use crate::args::CatalogOptions;
use crate::exit::Exit;
use crate::outputs::print_text;
use crate::runners;
use crate::terminal::Terminal;

/// Lists all volumes, or describes one for operations of one kind and size.
pub(crate) fn command(options: &CatalogOptions) -> Exit {
    let Some(words) = &options.volume else {
        let listed = catalogue::list();
        return print_text(&if options.format == ResultFormat::Json { list_json(&listed) } else { list_text(&listed) });
    };
    let load = load::parse(options);
    let resolved = catalogue::resolve_all(&[words], &runners::read_volumes);
    match (load, resolved) {
        (Ok(load), Ok(resolved)) => {
            let shown = CatalogVolume::new(&resolved[0], &load);
            let style = SheetStyle { width: Terminal::stdout().width.min(100), ..SheetStyle::default() };
            print_text(&if options.format == ResultFormat::Json { shown.json() } else { shown.text(style) })
        }
        (load, resolved) => {
            let of_volume = resolved.err().into_iter().flatten();
            Exit::invalid(load.err().into_iter().flatten().chain(of_volume).collect::<Vec<_>>())
        }
    }
}
