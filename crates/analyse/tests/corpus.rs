//! Figures of published fio outputs raise no doubts.

#![expect(clippy::disallowed_methods, reason = "the outputs are files of the tests")]

use std::path::Path;

use analyse::{Code, Observation, Quantity, explain_job};
use record::{Input, Run, read_inputs};

/// Reads the runs in the outputs of `crates/record/tests/corpus`, with file and line.
fn runs() -> Vec<(String, Run)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/corpus");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("the corpus").map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let parts = read_inputs(&name, &std::fs::read(file).unwrap()).unwrap().parts;
        parts.into_iter().filter_map(move |part| match part.input {
            Input::Run(run) => Some((format!("{name}:{}", part.line), *run)),
            Input::Iostat(_) => None,
        })
    };
    files.iter().flat_map(read).collect()
}

#[test]
fn published_outputs_raise_no_doubts() {
    let runs = runs();
    assert!(runs.len() >= 200, "{}", runs.len());
    let mut doubts = Vec::new();
    for (place, run) in &runs {
        for (index, job) in run.jobs.iter().enumerate() {
            let explained = explain_job(run, index, &Observation::of(run, job), None);
            let doubt = explained.findings.iter().find(|finding| {
                let sums = [Quantity::SumTold, Quantity::TimeTold, Quantity::BytesPerSecondTold];
                [Code::FiguresDisagree, Code::UnitsMixed].contains(&finding.code)
                    && finding.evidence.iter().any(|evidence| sums.contains(&evidence.quantity))
            });
            doubts.extend(doubt.map(|doubt| format!("{place} {}: {:?}", job.name, doubt.evidence)));
        }
    }
    assert!(doubts.is_empty(), "{}", doubts.join("\n"));
}
