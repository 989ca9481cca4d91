//! Predictions of `fathom sim --hosts N` against N ranks of `fathom-fleet` on the same volume, which `fathom serve` serves
//! in real time.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use record::Run;
use tempfile::TempDir;

use crate::fleet::{PATIENT, await_that};
use crate::host::timed;
use crate::launcher::Launcher;

const FLEET: &str = env!("CARGO_BIN_EXE_fathom-fleet");

/// A server that is killed when the test ends.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What is predicted: a volume, and the queue depth of each host.
struct Load {
    volume: &'static str,
    depth: u32,
    address: &'static str,
}

impl Load {
    fn words(&self) -> Vec<String> {
        let depth = format!("--iodepth={}", self.depth);
        ["--name=a", "--rw=randread", "--bs=4k", &depth, "--runtime=2", "--time_based"].map(str::to_owned).to_vec()
    }

    fn serve(&self, home: &Path) -> Served {
        let mut command = Command::new(program());
        command.args(["serve", self.volume, "--listen", self.address, "--insecure", "--progress", "off"]);
        let child = command.env("FATHOM_HOME", home).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let served = Served(child.unwrap());
        let listens = format!("something listens at {}", self.address);
        await_that(&listens, || std::net::TcpStream::connect(self.address).ok());
        served
    }

    fn measured(&self, home: &Path, hosts: u32) -> Run {
        let mut command = Launcher::new().command(home);
        command.args(["-n", &hosts.to_string(), FLEET, "run"]).args(self.words()).args([
            "--ioengine=nbd",
            &format!("--uri=nbd://{}/", self.address),
            PATIENT,
        ]);
        record_of(command, home)
    }

    fn predicted(&self, home: &Path, hosts: u32) -> Run {
        let mut command = Command::new(program());
        command.args(["sim", "--on", self.volume, "--hosts", &hosts.to_string()]).args(self.words());
        record_of(command, home)
    }

    /// Compares measurements of 4 and 8 hosts with predictions for a test of this name. Returns the predictions.
    fn check(&self, name: &str) -> Vec<Run> {
        let checked = [4, 8].map(|hosts| {
            let home = TempDir::new().unwrap();
            let predicted = self.predicted(home.path(), hosts);
            timed(&format!("prediction::{name}, {hosts} hosts"), || self.compare(home.path(), hosts, &predicted));
            predicted
        });
        checked.into()
    }

    /// Measures once, and compares that with a prediction.
    fn compare(&self, home: &Path, hosts: u32, predicted: &Run) -> Result<(), String> {
        let _served = self.serve(home);
        let measured = self.measured(home, hosts);
        let iops = [&measured, predicted].map(|run| run.jobs[0].result.iops());
        let p50_ns = [&measured, predicted].map(|run| {
            let percentile = run.jobs[0].result.read.service.percentile_ns(50.0);
            percentile.unwrap() as f64
        });
        eprintln!("{hosts} hosts: measured and predicted IOPS {iops:?}, p50 {p50_ns:?} ns");
        if (iops[0] / iops[1] - 1.0).abs() > 0.03 {
            return Err(format!("{hosts} hosts: {iops:?} IOPS"));
        }
        if (p50_ns[0] / p50_ns[1] - 1.0).abs() > 0.03 {
            return Err(format!("{hosts} hosts: p50 {p50_ns:?} ns"));
        }
        let shares = [&measured, predicted].map(shares);
        assert_eq!(shares.each_ref().map(|shares| shares.len() as u32), [hosts; 2]);
        for (host, (measured, predicted)) in shares[0].iter().zip(&shares[1]).enumerate() {
            if (measured / predicted - 1.0).abs() > 0.05 {
                return Err(format!("host {host} of {hosts}: {measured} instead of {predicted}"));
            }
        }
        Ok(())
    }
}

/// Returns the fraction of all operations that each host completed.
fn shares(run: &Run) -> Vec<f64> {
    let members = &run.fleet.as_ref().unwrap().members;
    let total: u64 = members.iter().map(record::RankRecord::ios).sum();
    members.iter().map(|member| member.ios() as f64 / total as f64).collect()
}

fn program() -> std::path::PathBuf {
    Path::new(FLEET).with_file_name("fathom")
}

/// Runs a command that writes a record.
fn record_of(mut command: Command, home: &Path) -> Run {
    let output = home.join("run.json");
    let ended = command.arg("-o").arg(&output).env("FATHOM_HOME", home).stdin(Stdio::null()).output();
    let ended = ended.expect("mpirun and fathom: ./test builds and installs them");
    assert!(ended.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ended.stderr));
    record::from_json(&std::fs::read_to_string(&output).unwrap()).unwrap()
}

#[test]
fn a_simulation_predicts_hosts_that_share_the_limit_of_a_volume() {
    let load = Load { volume: "custom,size=10GiB,iops=3000,latency=1ms", depth: 8, address: "127.0.0.1:10891" };
    for run in load.check("a_simulation_predicts_hosts_that_share_the_limit_of_a_volume") {
        assert!((run.jobs[0].result.iops() / 3_000.0 - 1.0).abs() <= 0.02);
        let stages = &run.model.as_ref().unwrap().stages;
        assert!(stages.iter().any(|stage| stage.decided as f64 > 0.9 * stage.requests as f64), "{stages:?}");
    }
}

#[test]
fn a_simulation_predicts_hosts_whose_queue_depth_is_the_limit() {
    let load = Load { volume: "custom,size=10GiB,iops=100000,latency=20ms", depth: 4, address: "127.0.0.1:10892" };
    for (run, hosts) in
        load.check("a_simulation_predicts_hosts_whose_queue_depth_is_the_limit").into_iter().zip([4.0, 8.0])
    {
        assert!((run.jobs[0].result.iops() / (hosts * 4.0 / 0.020) - 1.0).abs() <= 0.02);
    }
}
