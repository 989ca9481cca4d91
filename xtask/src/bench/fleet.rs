//! Cost of merging the results of many ranks, all on this machine.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{median, rounded};
use crate::scratch::ScratchDir;

const ARGUMENTS: &str =
    "run --name=a --ioengine=null --rw=randread --size=1g --runtime=5 --time_based --rank-timeout 60s";

/// Numbers of ranks and of runs.
const SIZES: [(u64, usize); 4] = [(4, 5), (16, 5), (64, 5), (256, 3)];

/// Runs the null engine on more and more ranks, and returns what their merged records cost.
pub(super) fn run(fathom: &Path) -> Result<Value> {
    let program = build(fathom)?;
    let scratch = ScratchDir::new("bench-fleet")?;
    let mut results = json!({ "command": format!("mpirun --oversubscribe -n RANKS fathom-fleet {ARGUMENTS}") });
    for (ranks, rounds) in SIZES {
        let runs = (0..rounds).map(|_| fleet_of(&program, &scratch.0, ranks)).collect::<Result<Vec<_>>>()?;
        let of = |value: fn(&Value) -> f64| rounded(median(runs.iter().map(value).collect()));
        let outcome = json!({
            "rounds": rounds,
            "rank_0_merges_records_ms": of(|fleet| number(&fleet["merge"]["busy_ns"]) / 1e6),
            "rank_0_reads_table_of_ranks_ms": of(|fleet| number(&fleet["merge"]["table_ns"]) / 1e6),
            "merged_after_ms": of(|fleet| number(&fleet["merge"]["wall_ns"]) / 1e6),
            "received_by_rank_0_kib": of(|fleet| number(&fleet["merge"]["received_bytes"]) / 1024.0),
            "sent_by_a_rank_kib": of(|fleet| most(fleet, "sent_bytes") / 1024.0),
            "memory_of_a_rank_mib": of(|fleet| most(fleet, "memory_bytes") / f64::from(1 << 20)),
        });
        println!(
            "{ranks:>4} ranks  rank 0 merges records for {:.2} ms and reads the table for {:.2} ms, {:.1} MiB of memory and \
             {:.1} KiB sent by a rank",
            number(&outcome["rank_0_merges_records_ms"]),
            number(&outcome["rank_0_reads_table_of_ranks_ms"]),
            number(&outcome["memory_of_a_rank_mib"]),
            number(&outcome["sent_by_a_rank_kib"]),
        );
        results[ranks.to_string()] = outcome;
    }
    Ok(results)
}

/// Builds the program beside `fathom`.
fn build(fathom: &Path) -> Result<std::path::PathBuf> {
    let root = crate::tidy::root()?;
    let status = Command::new("cargo")
        .args(["build", "--profile", "dist", "-p", "fleet-mpi", "--bin", "fathom-fleet"])
        .current_dir(root)
        .status()?;
    ensure!(status.success(), "fathom-fleet cannot be built: it needs an MPI library (docs/fleet.md)");
    Ok(fathom.with_file_name("fathom-fleet"))
}

/// Runs a load on ranks, and returns what the record says of them.
fn fleet_of(program: &Path, scratch: &Path, ranks: u64) -> Result<Value> {
    let output = scratch.join("run.json");
    let mut command = Command::new("mpirun");
    command.args(["--oversubscribe", "--bind-to", "none", "-n", &ranks.to_string()]).arg(program);
    command.args(ARGUMENTS.split(' ')).arg("-o").arg(&output);
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    command.env("FATHOM_HOME", scratch).env("FATHOM_NO_RECORD", "1");
    let ended = command.stdin(Stdio::null()).output().context("running mpirun")?;
    let text = std::fs::read_to_string(&output);
    let text = text.with_context(|| format!("mpirun: {}", String::from_utf8_lossy(&ended.stderr)))?;
    let record: Value = serde_json::from_str(&text)?;
    std::fs::remove_file(&output)?;
    let present = record["fleet"]["members"].as_array().map_or(0, Vec::len) as u64;
    ensure!(present == ranks, "{present} of {ranks} ranks have results");
    Ok(record["fleet"].clone())
}

fn most(fleet: &Value, key: &str) -> f64 {
    let members = fleet["members"].as_array().into_iter().flatten();
    members.map(|member| number(&member[key])).fold(0.0, f64::max)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}
