//! `fathom catalog`: the modelled volumes, and what one of them may do.

mod answer;
mod json;
mod list;
mod page;
mod question;

use job::Diagnostic;
use report::Style;
use volume::catalogue::{self, Problem};

use crate::args::CatalogOptions;
use crate::exit::Exit;
use crate::outputs::say;
use crate::terminal::Terminal;
use crate::{diagnostics, runners};

/// Lists all volumes, or describes one for a kind and size of operation.
pub(crate) fn command(options: &CatalogOptions) -> Exit {
    let Some(words) = &options.volume else {
        let listed = catalogue::list();
        return say(&if options.json() { json::list(&listed) } else { list::list(&listed) });
    };
    let question = question::read(options);
    let resolved = catalogue::resolve_all(&[words], &runners::read_volumes);
    match (question, resolved) {
        (Ok(question), Ok(mut resolved)) => {
            let volume = resolved.remove(0);
            let answer = answer::answer(&volume.spec, &question);
            let style = Style { width: Terminal::stdout().width.min(100), colour: false };
            say(&if options.json() {
                json::volume(&volume, &question, &answer)
            } else {
                page::volume(&volume, &question, &answer, style)
            })
        }
        (question, resolved) => {
            let mut problems = question.err().unwrap_or_default();
            problems.extend(resolved.err().into_iter().flatten().map(|problem| of_volume(&problem)));
            diagnostics::print(&problems);
            Exit::Usage
        }
    }
}

fn of_volume(problem: &Problem) -> Diagnostic {
    diagnostics::of_volume(problem, diagnostics::place_in_volume(problem))
}
