//! `fathom doctor`: host settings that limit a device.

mod ask;

use std::path::Path;

use analyse::doctor::{DoctorSubject, examine, examine_host};
use device::doctor_facts;
use report::{Diagnosis, ResultDocument, ResultFormat};
use runner::Refusal;

use crate::args::DoctorOptions;
use crate::exit::Exit;
use crate::outputs::{Output, deliver_and_print, print_text, printed};
use crate::refusal::Refused;

/// Looks at everything that was named, and at the host; changes nothing.
pub(crate) fn command(options: &DoctorOptions) -> Result<Exit, Exit> {
    if options.checks {
        return Ok(print_text(&report::doctor_checks()));
    }
    let root = options.root.as_deref().unwrap_or(Path::new("/"));
    ask::readable(root).map_err(|problem| Exit::environment(&problem))?;
    let things = if options.things.is_empty() {
        ask::in_use(root).map_err(|problem| Exit::usage(&problem))?
    } else {
        options.things.clone()
    };
    let stacks = ask::stacks(root, &things).map_err(|problems| Refusal::Jobs(problems).report())?;
    let mut files =
        Output::open(&options.output, ResultFormat::OF_FINDINGS).map_err(|problem| Exit::usage(&problem))?;
    let host = doctor_facts::host(root);
    let subjects: Vec<DoctorSubject> =
        things.iter().zip(stacks).map(|(asked, stack)| doctor_facts::subject(root, asked, &stack)).collect();
    let found_of_host = examine_host(&host, &subjects);
    let examined = |subject: DoctorSubject| {
        let findings = examine(&subject, &host);
        (subject, findings)
    };
    let subjects = subjects.into_iter().map(examined).collect();
    let diagnosis = Diagnosis { subjects, host: found_of_host, purpose: options.purpose() };
    let text = printed(ResultDocument::Diagnosis(&diagnosis, options.all), options.format);
    Ok(deliver_and_print(&mut files, &text, ResultDocument::Diagnosis(&diagnosis, true)))
}
