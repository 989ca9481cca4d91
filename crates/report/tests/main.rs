//! The integration tests of `report`, in one program.

mod compare;
mod fio;
mod html;
mod page;
mod trace;
mod trace_plan;
#[path = "../../trace/tests/common/mod.rs"]
mod traces;
