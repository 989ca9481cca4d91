//! fio's output in strings and members of other documents.

use record::{Input, read_inputs};
use serde_json::json;

use crate::inputs::run;

const TEXT: &str = include_str!("data/first_try.txt");
const JSON: &str = include_str!("data/fio.json");

/// Returns the rates of all jobs of each run.
fn rates(text: &str) -> Vec<Vec<f64>> {
    let read = read_inputs("input", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(read.unreadable, [], "{text}");
    let of = |input| match input {
        Input::Run(run) => run.jobs.iter().map(|job| job.result.iops()).collect(),
        other => panic!("{other:?}"),
    };
    read.parts.into_iter().map(|part| of(part.input)).collect()
}

/// All of these were refused.
#[test]
fn outputs_in_strings_are_read() {
    let lines: Vec<&str> = TEXT.lines().collect();
    let own = rates(TEXT);
    let pretty = |value| serde_json::to_string_pretty(&value).unwrap();
    let logged: String =
        TEXT.lines().map(|line| json!({"log": format!("{line}\n"), "time": 1}).to_string() + "\n").collect();
    for text in [
        // What Ansible prints of a command, and of its lines.
        pretty(json!({"rc": 0, "stdout": TEXT, "stdout_lines": lines})),
        format!("changed: [a] => {}\n", json!({"rc": 0, "stdout": TEXT, "stdout_lines": lines})),
        format!("ok: [a] => {}\n", pretty(json!({ "msg": lines }))),
        // A log of Docker, also one that ends within a line.
        logged.clone(),
        logged + "{\"log\":\"a",
        // A message in a log, and a value of Python.
        format!("time=\"1\" msg={}\n", json!(TEXT)),
        format!("2026-01-02 {{'cmd': 'fio', 'stdout': '{}', 'rc': 0}}\n", TEXT.replace('\n', "\\n")),
        // Without quotes.
        format!("```\n{}\n```\n", TEXT.replace('\n', "\\n")),
    ] {
        assert_eq!(rates(&text), own, "{text}");
    }
    let two = pretty(json!({"a": {"result": TEXT}, "b": {"result": TEXT.replace("first-try", "second-try")}}));
    assert_eq!(rates(&two), [own.clone(), own].concat());
}

/// Read as one that is neither fio's nor a record.
#[test]
fn documents_in_documents_are_read() {
    let own = rates(JSON);
    let nested =
        format!("{{\"results\": [{{\"host\": \"a\", \"fio\": {JSON}}}, {{\"host\": \"b\", \"fio\": {JSON}}}]}}");
    assert_eq!(rates(&nested), [own.clone(), own.clone()].concat());
    let in_string = json!({"host": "a", "stdout": JSON}).to_string();
    assert_eq!(rates(&in_string), own);
}

/// The classes of depths were taken in the order of the document, so that a depth of 16 was one of 2.
#[test]
fn keys_that_were_sorted_as_text_are_classes() {
    // Without options, the depth follows from its classes.
    let plain = {
        let mut document: serde_json::Value = serde_json::from_str(JSON).unwrap();
        document["jobs"].as_array_mut().unwrap().iter_mut().for_each(|job| {
            job.as_object_mut().unwrap().remove("job options");
        });
        document
    };
    let depths = |text: &str| run(text).jobs.iter().map(|job| job.result.depth).collect::<Vec<_>>();
    let latencies = |text: &str| run(text).jobs.iter().map(|job| job.result.quoted_shares).collect::<Vec<_>>();
    let original = JSON.to_owned();
    // `Value` sorts its keys.
    let sorted = plain.to_string();
    assert!(sorted.find("\"16\"").unwrap() < sorted.find("\"2\"").unwrap(), "{sorted}");
    assert_eq!(depths(&sorted), depths(&original));
    assert_eq!(latencies(&sorted), latencies(&original));
}
