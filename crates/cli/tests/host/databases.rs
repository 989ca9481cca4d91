//! Captures of real databases on a loop device: no request is missing. Needs root, PostgreSQL, SQLite and RocksDB.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::common::devices::{LoopDevice, Mount, tool};
use crate::common::{Need, Running, Scratch, fathom, met, run, wait_for, waits_of, words};

/// A filesystem of its own on a loop device.
struct DatabaseDisk {
    mount: Mount,
    device: LoopDevice,
    // The file below the device is removed last.
    _folder: tempfile::TempDir,
}

impl DatabaseDisk {
    fn new() -> Self {
        // The user of PostgreSQL may not enter the directories of another user.
        let folder = tempfile::Builder::new().prefix("fathom-database-").tempdir_in("/var/tmp").unwrap();
        tool("chmod", &["755", &folder.path().to_string_lossy()]);
        let image = folder.path().join("image");
        std::fs::File::create(&image).unwrap().set_len(1 << 30).unwrap();
        let device = LoopDevice::over(&image);
        // The kernel would initialize the rest in the background.
        tool("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", &device.path]);
        let mount = Mount::new(&device.path, folder.path().join("mounted"));
        Self { mount, device, _folder: folder }
    }

    /// Returns completed reads, writes, discards and flushes as the kernel counts them.
    fn counters(&self) -> [u64; 4] {
        let name = self.device.path.trim_start_matches("/dev/");
        let text = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
        let fields: Vec<u64> = text.split_whitespace().map(|field| field.parse().unwrap()).collect();
        [fields[0], fields[4], fields[11], fields[15]]
    }

    /// Writes everything that is not yet on the device, and waits until nothing is in flight.
    fn settle(&self) {
        tool("sync", &["--file-system", &self.mount.at.to_string_lossy()]);
        let mut before = [0; 4];
        wait_for("an idle device", || {
            std::thread::sleep(Duration::from_millis(300));
            let now = self.counters();
            std::mem::replace(&mut before, now) == now
        });
    }

    /// Captures a load and compares its requests with the counters. Returns the result as JSON.
    fn captured(&self, scratch: &Scratch, load: impl Fn()) -> Value {
        self.captured_with("", scratch, &load)
            .unwrap_or_else(|| self.captured_with("--source tracefs", scratch, &load).expect("all requests"))
    }

    /// Captures a load with options. Returns nothing if the capture says that the kernel left out calls of programs, as some
    /// kernels do now and then.
    fn captured_with(&self, options: &str, scratch: &Scratch, load: &impl Fn()) -> Option<Value> {
        self.settle();
        let before = self.counters();
        let file = scratch.text("database.trace");
        let line = format!("capture {} {options} -o {file} --format json --progress off", self.device.path);
        let mut capture = Running::start(&mut fathom(words(&line)));
        wait_for("a capture", || {
            assert!(!capture.has_ended(), "the capture ended early: {}", capture.messages());
            Path::new(&file).exists()
        });
        let waits = waits_of(capture.pid());
        wait_for("a capture that waits", || capture.has_ended() || waits_of(capture.pid()) >= waits + 5);
        let at_begin = self.counters();
        load();
        self.settle();
        let after = self.counters();
        capture.signal("INT");
        let outcome = capture.end();
        let at_end = self.counters();
        let result: Value = serde_json::from_str(&outcome.stdout).unwrap();
        if result["source"] == "bpf" && outcome.code() == Some(4) {
            assert_eq!(result["is_trustworthy"], false);
            let number = |value: &Value| value.as_u64().unwrap();
            let few = number(&result["requests"]) / 100;
            assert!(number(&result["lost_events"]) < few, "{result:#}");
            for counter in result["kernel_counters"].as_array().unwrap() {
                let missed = number(&counter["counted"]).abs_diff(number(&counter["captured_max"]));
                assert!(missed < few, "{result:#}");
            }
            std::fs::remove_file(&file).unwrap();
            return None;
        }
        outcome.expect_code(130);
        let trace = run(&mut fathom(words(&format!("trace {file} --format json")))).expect_code(0);
        let trace: Value = serde_json::from_str(&trace.stdout).unwrap();
        assert_eq!(result["lost_events"], 0, "{result:#}");
        assert_eq!(trace["source"]["requests_read"], result["requests"], "{:#}", trace["source"]);
        for (index, name) in ["read", "write", "discard", "flush"].into_iter().enumerate() {
            // Equal, unless others read, or the filesystem writes, while the capture begins or ends.
            let counted = after[index] - at_begin[index]..=at_end[index] - before[index];
            assert_eq!(result["kernel_counters"][index]["agrees"], true, "{name}: {result:#}");
            let requests = |name: &str| result["operations"][name]["requests"].as_u64().unwrap_or(0);
            let mut captured = requests(name);
            if name == "write" {
                // The kernel also counts the filesystem's zeroes, and each call that waits for a flush.
                captured += requests("write_zeroes") + result["flush_waits"].as_u64().unwrap();
            }
            assert!(counted.contains(&captured), "{name}: {captured} for {counted:?}: {result:#}");
        }
        Some(result)
    }
}

/// A running PostgreSQL with a database of its own.
struct Postgres<'a> {
    programs: PathBuf,
    data: PathBuf,
    _disk: &'a DatabaseDisk,
}

impl<'a> Postgres<'a> {
    fn start(programs: PathBuf, disk: &'a DatabaseDisk) -> Self {
        let data = disk.mount.at.join("data");
        std::fs::create_dir(&data).unwrap();
        tool("chown", &["postgres:", &data.to_string_lossy()]);
        let postgres = Self { programs, data, _disk: disk };
        postgres.call("initdb", &["-A", "trust", "-D", &postgres.folder()]);
        let options = format!(
            "-c listen_addresses= -c unix_socket_directories={} -c shared_buffers=16MB -c autovacuum=off",
            postgres.folder()
        );
        let log = format!("{}/log", postgres.folder());
        postgres.call("pg_ctl", &["-w", "-D", &postgres.folder(), "-o", &options, "-l", &log, "start"]);
        postgres.call("createdb", &["-h", &postgres.folder(), "bench"]);
        postgres
    }

    fn folder(&self) -> String {
        self.data.to_string_lossy().into_owned()
    }

    /// Runs a program of PostgreSQL as its user.
    #[track_caller]
    fn call(&self, name: &str, words: &[&str]) {
        let program = self.programs.join(name);
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program).args(words);
        // The server keeps what it inherits open.
        command.current_dir("/").stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
        let status = command.stderr(std::process::Stdio::null()).status().unwrap();
        assert!(status.success(), "{name} {words:?}: {status}");
    }
}

impl Drop for Postgres<'_> {
    fn drop(&mut self) {
        let program = self.programs.join("pg_ctl");
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
        let _ = command.args(["-w", "-m", "immediate", "-D", &self.folder(), "stop"]).current_dir("/").output();
    }
}

/// Returns the directory of PostgreSQL's programs, of the latest version.
fn postgres_programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.flatten().map(|version| version.path().join("bin"));
    folders.filter(|folder| folder.join("initdb").exists()).max()
}

#[test]
fn a_capture_of_postgresql_has_every_request_that_the_kernel_counts() {
    if !met(Need::Root) || !met(Need::Postgres) {
        return;
    }
    let Some(programs) = postgres_programs() else {
        panic!("the programs of PostgreSQL are not in /usr/lib/postgresql")
    };
    let (scratch, disk) = (Scratch::new(), DatabaseDisk::new());
    let postgres = Postgres::start(programs, &disk);
    let folder = postgres.folder();
    postgres.call("pgbench", &["-h", &folder, "-i", "-s", "5", "-q", "bench"]);
    let result = disk.captured(&scratch, || {
        postgres.call("pgbench", &["-h", &folder, "-c", "4", "-j", "2", "-t", "1000", "bench"]);
        postgres.call("psql", &["-h", &folder, "-c", "checkpoint", "bench"]);
    });
    let count = |name: &str| result["operations"][name]["requests"].as_u64().unwrap_or(0);
    assert!(count("write") > 1000 && count("flush") > 500, "commits write and flush: {result:#}");
    let processes = result["processes"].as_array().unwrap();
    assert!(
        processes.iter().any(|process| process["name"].as_str().is_some_and(|name| name.starts_with("postgres"))),
        "{processes:#?}"
    );
}

#[test]
fn a_capture_of_sqlite_has_every_request_that_the_kernel_counts() {
    if !met(Need::Root) || !met(Need::Sqlite) {
        return;
    }
    let (scratch, disk) = (Scratch::new(), DatabaseDisk::new());
    let database = disk.mount.at.join("test.db");
    let mut script = String::from(
        "pragma journal_mode=wal; pragma synchronous=full; drop table if exists t; create table t(a, b);\n",
    );
    for number in 0..2000 {
        script += &format!("insert into t values ({number}, hex(randomblob(500)));\n");
    }
    script += "pragma wal_checkpoint(truncate);\n";
    let path = scratch.path("load.sql");
    std::fs::write(&path, script).unwrap();
    let result = disk.captured(&scratch, || {
        let read = format!(".read {}", path.display());
        tool("sqlite3", &[&database.to_string_lossy(), &read]);
    });
    let count = |name: &str| result["operations"][name]["requests"].as_u64().unwrap_or(0);
    assert!(count("write") >= 2000 && count("flush") >= 1000, "{result:#}");
}

/// Writes with flushes and compactions, then reads that bypass the page cache beside synchronous writes.
#[test]
fn a_capture_of_rocksdb_has_every_request_that_the_kernel_counts() {
    if !met(Need::Root) || !met(Need::Rocksdb) {
        return;
    }
    let (scratch, disk) = (Scratch::new(), DatabaseDisk::new());
    let database = format!("--db={}", disk.mount.at.join("rocks").display());
    let shared = [database.as_str(), "--seed=1", "--value_size=400", "--compression_type=none", "--threads=2"];
    let result = disk.captured(&scratch, || {
        let fill = ["--benchmarks=fillrandom", "--num=100000", "--write_buffer_size=4194304"];
        tool("db_bench", &[shared.as_slice(), &fill].concat());
        let read = ["--benchmarks=readwhilewriting", "--use_existing_db", "--num=100000", "--reads=5000"];
        let paths = ["--use_direct_reads", "--cache_size=1048576", "--sync", "--benchmark_write_rate_limit=200000"];
        tool("db_bench", &[shared.as_slice(), &read, &paths].concat());
    });
    let of = |name: &str, key: &str| result["operations"][name][key].as_u64().unwrap_or(0);
    assert!(of("read", "requests") > 2000, "{result:#}");
    assert!(of("write", "bytes") > 80 << 20 && of("flush", "requests") > 100, "{result:#}");
    let processes = result["processes"].as_array().unwrap();
    let is_its = |process: &Value| process["name"].as_str().is_some_and(|name| name.starts_with("db_bench"));
    assert!(processes.iter().any(is_its), "{processes:#?}");
}
