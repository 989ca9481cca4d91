//! Output of fio 3.33 as a client of two servers on one host, which ran the same two jobs.

use record::{DataKind, Input, Run, read_input, read_inputs};

const JSON: &str = include_str!("data/client.json");
const NORMAL: &str = include_str!("data/client.txt");
const TERSE: &str = include_str!("data/client_terse.txt");

#[track_caller]
fn runs(text: &str) -> Vec<Run> {
    let read = read_inputs("input", text.as_bytes()).unwrap();
    assert_eq!(read.unreadable, []);
    let run = |input| match input {
        Input::Run(run) => *run,
        Input::Iostat(_) => panic!("no run"),
    };
    read.parts.into_iter().map(|part| run(part.input)).collect()
}

fn names(run: &Run) -> Vec<&str> {
    run.jobs.iter().map(|job| job.name.as_str()).collect()
}

#[test]
fn each_entry_of_a_client_is_a_job_and_the_total_is_none() {
    let runs = runs(JSON);
    assert_eq!(runs.len(), 1);
    let run = &runs[0];
    let expected = ["127.0.0.1:8765/fill", "127.0.0.1:8765/read", "127.0.0.1:8766/fill", "127.0.0.1:8766/read"];
    assert_eq!(names(run), expected);
    assert_eq!(run.jobs.iter().map(|job| job.group).collect::<Vec<_>>(), [0, 1, 0, 1]);
    assert_eq!(run.jobs.iter().map(|job| job.result.ios()).sum::<u64>(), 4 * 256);
    let [first, second] = [1, 3].map(|index: usize| run.jobs[index].result.read.service.percentile_ns(99.0));
    assert_eq!((first, second), (Some(173_056), Some(136_192)));
    let disks: Vec<&str> = run.disks.iter().map(|disk| disk.name.as_str()).collect();
    assert_eq!(disks, ["127.0.0.1:8765:vda", "127.0.0.1:8766:vda"]);
    assert_eq!((run.notes.len(), run.jobs[0].declared.block_sizes.write.min), (0, 4096));
    assert_eq!(run.jobs[0].declared.rw, "write");
}

#[test]
fn servers_on_hosts_of_their_own_are_named_by_host() {
    let server = |host: &str| format!("\"hostname\" : \"{host}\",\n      \"port\" : 8766");
    let hosts = JSON.replace(&server("127.0.0.1"), &server("node2"));
    let runs = runs(&hosts);
    assert_eq!(names(&runs[0]), ["127.0.0.1/fill", "127.0.0.1/read", "node2/fill", "node2/read"]);
}

#[test]
fn options_in_which_servers_differ_are_unknown() {
    let differ = JSON.replacen("\"bs\" : \"4k\",", "\"bs\" : \"4k\",\n    \"bs\" : \"8k\",", 1);
    let run = runs(&differ).remove(0);
    assert_eq!(run.jobs[0].declared.block_sizes.write.min, 0);
    assert!(run.notes[0].text.contains("differ in `bs`"), "{:?}", run.notes);
    let equal = JSON.replacen("\"bs\" : \"4k\",", "\"bs\" : \"4k\",\n    \"bs\" : \"4k\",", 1);
    let run = runs(&equal).remove(0);
    assert_eq!((run.jobs[0].declared.block_sizes.write.min, run.notes.len()), (4096, 0));
}

#[test]
fn servers_are_one_run_of_text_and_the_total_is_none() {
    for text in [NORMAL, TERSE] {
        let runs = runs(text);
        let ios: Vec<u64> = runs.iter().flat_map(|run| &run.jobs).map(|job| job.result.read.ios).collect();
        let expected = ["server 1/fill", "server 1/read", "server 2/fill", "server 2/read"];
        assert_eq!(runs.iter().map(names).collect::<Vec<_>>(), [expected]);
        assert_eq!(runs[0].jobs.iter().map(|job| job.group).collect::<Vec<_>>(), [0, 1, 0, 1]);
        assert_eq!((ios[0], ios[2]), (0, 0));
        assert!(ios.iter().all(|&ios| ios.abs_diff(256) <= 1 || ios == 0), "{ios:?}");
    }
}

#[test]
fn servers_may_have_processes_of_equal_numbers() {
    let pids: Vec<&str> =
        NORMAL.match_indices(" pid=").map(|(at, _)| NORMAL[at..].split(':').next().unwrap()).collect();
    let equal = NORMAL.replace(pids[2], pids[0]).replace(pids[3], pids[1]);
    assert_eq!(runs(&equal)[0].jobs.len(), 4);
}

#[test]
fn a_total_alone_is_a_run() {
    let line = |text: &str| text.find("All clients").unwrap();
    let normal = &NORMAL[line(NORMAL)..];
    let terse = &TERSE[TERSE[..line(TERSE)].rfind('\n').unwrap() + 1..];
    for text in [normal, terse] {
        let runs = runs(text);
        assert_eq!(runs.len(), 1);
        assert_eq!(names(&runs[0]), ["All clients"]);
        let read = runs[0].jobs[0].result.kind(DataKind::Read).ios;
        assert!((511..=512).contains(&read), "{read}");
    }
    let entry = JSON.find("\"All clients\"").unwrap();
    let begin = JSON[..entry].rfind("    {").unwrap();
    let alone = format!("{}{}", &JSON[..JSON.find("    {").unwrap()], &JSON[begin..]);
    assert_eq!(names(&runs(&alone)[0]), ["All clients"]);
    let Ok(Input::Run(run)) = read_input("input", alone.as_bytes(), None) else { panic!("no run") };
    assert_eq!((run.jobs[0].result.read.ios, run.jobs[0].result.write.ios), (512, 512));
}

#[test]
fn a_job_may_have_the_name_of_the_total() {
    let job = include_str!("data/fio.json");
    let name = job.split("\"jobname\" : \"").nth(1).unwrap().split('"').next().unwrap();
    let run = runs(&job.replace(&format!("\"{name}\""), "\"All clients\"")).remove(0);
    assert!(names(&run).contains(&"All clients"));
}
