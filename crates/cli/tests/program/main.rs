//! What needs no device, no clock and no other program that measures: arguments, outputs, exit codes, models.

mod assumptions;
mod catalog_face;
mod catalog_renewal;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod compare;
mod doctor;
mod emit;
mod explain;
mod fio_debug;
mod gate;
mod hostile_names;
mod hosts;
mod iostat;
mod kept_runs;
mod manual;
mod needs;
mod outputs;
mod plan;
mod plan_current;
mod plan_throttled;
mod preconditioning;
mod published;
mod report;
mod runs;
mod schemas;
mod shards;
mod simulations;
mod suggested;
mod trace;
#[path = "../../../trace/tests/common/mod.rs"]
mod traces;
mod trimmed_blocks;
mod volumes;
