//! `fathom explain`: what limited a result, from any source, and what to change.

pub(crate) mod args;

use std::path::Path;
use std::time::Duration;

use analyse::Database;
use args::ExplainOptions;
use job::{Diagnostic, DiagnosticLevel};
use procedure::expected::ExpectedVolume;
use procedure::explanation::ExplanationQuestion;
use record::{Claim, Input, InputError, InputResults};
use report::{ResultDocument, ResultFormat};
use runner::problems;

use crate::exit::Exit;
use crate::outputs::{Output, deliver_as, print_text};
use crate::run_argument::{is_file, resolve_all};
use crate::signals::Signals;
use crate::{diagnostics, input_file, runners};

/// Reads everything, then explains it.
pub(crate) fn command(options: &ExplainOptions) -> Result<Exit, Exit> {
    if options.findings {
        return Ok(print_text(&report::findings_markdown()));
    }
    let (question, unreadable) = read(options)?;
    let mut files =
        Output::open(&options.output, ResultFormat::OF_FINDINGS).map_err(|problem| Exit::usage(&problem))?;
    let signals = Signals::listen()?.with_grace(Duration::ZERO);
    let explained = question.explain(&runners::model(), &signals);
    if let Some(signal) = signals.end() {
        return Ok(Exit::Signal(signal));
    }
    signals.conclude();
    diagnostics::print(&unreadable);
    Ok(deliver_as(&mut files, ResultDocument::Explanations(&explained), options.format))
}

/// Reads all that was given, and what cannot be read between runs. All that is wrong is printed at once.
fn read(options: &ExplainOptions) -> Result<(ExplanationQuestion, Vec<Diagnostic>), Exit> {
    let (mut problems, mut exit) = (Vec::new(), Exit::Usage);
    if options.inputs.is_empty() && options.claim.is_empty() {
        problems.push(nothing_given());
    }
    let (mut inputs, mut unreadable) = (Vec::new(), Vec::new());
    for path in &options.inputs {
        match read_inputs(path) {
            Ok((read, unread)) => {
                inputs.extend(read);
                unreadable.extend(unread);
            }
            Err(input_file::Unopened { diagnostic, usage }) => {
                problems.push(*diagnostic);
                exit = if usage { exit } else { Exit::Environment };
            }
        }
    }
    let mut claims = Vec::new();
    for text in &options.claim {
        match Claim::parse(text) {
            Ok(claim) => claims.push((text.clone(), claim)),
            Err(found) => problems.extend(found),
        }
    }
    let mut expected = None;
    if let Some(words) = &options.volume {
        match ExpectedVolume::look_up(words, runners::read_volumes) {
            Ok(volume) => expected = Some(volume),
            Err(found) => problems
                .extend(found.iter().map(|problem| problems::of_volume(problem, problems::place_in_volume(problem)))),
        }
    }
    if problems.is_empty() {
        let database = options.database.map(Database::from);
        return Ok((ExplanationQuestion { inputs, claims, expected, database }, unreadable));
    }
    diagnostics::print(&problems);
    Err(exit)
}

/// An input and what it is called.
type Named = (String, Input);

/// All runs in a file, and what cannot be read beside them; or a run that was kept, of a series all of its runs.
fn read_inputs(path: &Path) -> Result<(Vec<Named>, Vec<Diagnostic>), input_file::Unopened> {
    // Runs that are kept have names of plain text; everything else is a file.
    if let Some(which) = path.to_str().filter(|which| !is_file(which)) {
        let resolved = resolve_all(which).map_err(|problem| input_file::Unopened::unknown(path, problem))?;
        let runs = resolved.into_iter().map(|one| (one.name, Input::Run(Box::new(one.run))));
        return Ok((runs.collect(), Vec::new()));
    }
    let refused = |error: InputError| input_file::Unopened { diagnostic: Box::new(error.into()), usage: true };
    let (file, number) = input_file::numbered(path);
    let (name, bytes) = (input_file::name(file), input_file::bytes(file)?);
    if number.is_some() {
        let input = record::read_input(&name, &bytes, number).map_err(refused)?;
        return Ok((vec![(input_file::name(path), input)], Vec::new()));
    }
    let InputResults { parts, unreadable } = record::read_inputs(&name, &bytes).map_err(refused)?;
    let is_alone = parts.len() == 1;
    let named = parts.into_iter().enumerate().map(|(index, part)| {
        let of_several = || match &part.input {
            Input::Run(run) if run.repeat.is_some() => format!("{name}#{}", index + 1),
            _ => format!("{name}#{} (line {})", index + 1, part.line),
        };
        (if is_alone { name.clone() } else { of_several() }, part.input)
    });
    let left_out = |error: InputError| Diagnostic { severity: DiagnosticLevel::Warning, ..error.into() };
    Ok((named.collect(), unreadable.into_iter().map(left_out).collect()))
}

fn nothing_given() -> Diagnostic {
    let message = "there is nothing to explain";
    let remedy = "give a record, fio's output or that of `iostat -x`, or figures: --claim iops=10000,lat=3ms,qd=32";
    Diagnostic::error("no-input", message.to_owned()).remedy(remedy)
}
