//! `fathom doctor`: settings of the host that hold a device back.

mod ask;
mod gather;

use std::path::Path;

use analyse::doctor::{Subject, examine, examine_host};
use report::Diagnosis;

use crate::args::{DoctorOptions, PageFormat};
use crate::diagnostics;
use crate::exit::Exit;
use crate::outputs::{Output, say};
use crate::terminal::{Terminal, tell};

/// Looks at everything that was named, and at the host; changes nothing.
pub(crate) fn command(options: &DoctorOptions) -> Exit {
    if options.checks {
        return say(&report::doctor_checks());
    }
    let root = options.root.as_deref().unwrap_or(Path::new("/"));
    if let Err(problem) = ask::readable(root) {
        tell(&format!("fathom: {problem}\n"));
        return Exit::Environment;
    }
    let stacks = match ask::stacks(root, &options.things) {
        Ok(stacks) => stacks,
        Err(problems) => {
            diagnostics::print(&problems);
            return Exit::Usage;
        }
    };
    let mut outputs = match Output::open_documents(&options.output) {
        Ok(outputs) => outputs,
        Err(problem) => {
            tell(&format!("fathom: {problem}\n"));
            return Exit::Usage;
        }
    };
    let host = gather::host(root);
    let subjects: Vec<Subject> =
        options.things.iter().zip(stacks).map(|(asked, stack)| gather::subject(root, asked, &stack)).collect();
    let found_of_host = examine_host(&host, &subjects);
    let examined = |subject: Subject| {
        let findings = examine(&subject, &host);
        (subject, findings)
    };
    let subjects = subjects.into_iter().map(examined).collect();
    let diagnosis = Diagnosis { subjects, host: found_of_host, purpose: options.purpose() };
    let mut exit = say(&document(&diagnosis, options));
    for output in &mut outputs {
        if let Err(problem) = output.write_diagnosis(&diagnosis) {
            tell(&format!("fathom: {problem}\n"));
            exit = Exit::Environment;
        }
    }
    exit
}

/// What standard output carries.
fn document(diagnosis: &Diagnosis, options: &DoctorOptions) -> String {
    match options.format {
        PageFormat::Text => report::doctor_text(diagnosis, options.all, Terminal::stdout().style()),
        PageFormat::Json => report::doctor_json(diagnosis),
        PageFormat::Md => report::doctor_markdown(diagnosis),
    }
}
