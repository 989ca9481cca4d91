//! Renders the page of job options from the option table.

use job::docs;
use job::table::{OptionSpec, Status};

use super::facts::JOB_FILES;
use super::page::{name, see_also};
use super::roff::{Roff, bold, italic};

/// Renders `fathom-options(5)`.
pub(crate) fn of_job_options() -> String {
    let mut page = Roff::new("fathom-options", 5);
    name(&mut page, "fathom-options", "job files and job options of Fathom");
    page.section("DESCRIPTION");
    JOB_FILES.iter().for_each(|text| page.paragraph(text));
    page.verbatim(&["[global]", "ioengine=libaio", "direct=1", "runtime=30", "time_based", ""]);
    page.verbatim(&["[reads]", "filename=${TARGET}", "rw=randread", "bs=4k", "iodepth=32"]);
    page.section("OPTIONS");
    let mut missing = Vec::new();
    for (title, specs) in docs::chapters() {
        page.subsection(title);
        for spec in specs {
            match spec.status {
                Status::Supported | Status::OfFathom | Status::Accepted(_) => page.tagged(&tag(spec), &meaning(spec)),
                _ => missing.push(spec.name),
            }
        }
    }
    page.section("UNSUPPORTED OPTIONS");
    page.paragraph(
        "Fathom recognizes but does not implement these fio options. A non-default value is an error; `fathom \
         options NAME` describes each option.",
    );
    missing.sort_unstable();
    missing.dedup();
    page.paragraph(&format!("{}.", missing.join(", ")));
    see_also(&mut page, &["fathom(1)", "fathom-run(1)", "fathom-sim(1)", "fathom-fio(1)", "fio(1)"]);
    page.text
}

/// Returns the tag of an option, such as `bs, blocksize=size`.
fn tag(spec: &OptionSpec) -> String {
    let names: Vec<String> = spec.names().map(bold).collect();
    format!("{}={}", names.join(", "), italic(&docs::value(spec.kind)))
}

fn meaning(spec: &OptionSpec) -> String {
    let mut text = spec.doc.to_owned();
    if !spec.default.is_empty() {
        text.push_str(&format!(" The default is `{}`.", spec.default));
    }
    if !spec.engines.is_empty() {
        text.push_str(&format!(" Engines: {}.", spec.engines.join(", ")));
    }
    if let Status::Accepted(reason) = spec.status {
        text.push_str(&format!(" It has no effect: {reason}."));
    }
    text
}
