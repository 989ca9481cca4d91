//! What every command produces, as data.
//!
//! Procedures, captures and servers produce these types, JSON is their serialization, and only `report`, which `cli`
//! calls, turns them into sentences, tables and pages: a crate that produces a result does not depend on its rendering.
//! A module is named after its command. Begin at [`stored`], the results that are written to files and read again;
//! [`events`] and [`openmetrics`] are sent while a run goes on. JSON with sentences has a type beside the result, such as
//! [`plan::document::PlanDocument`], which `report` fills. Comments of fields are the descriptions of `fathom schema`.
//!
//! What is *not* here: sentences and layouts (`report`; a result may carry texts that its producer was given), what is
//! stored of a run (`record`), and findings (`analyse`).

pub mod answer;
pub mod capture;
pub mod catalog;
pub mod compare;
pub mod doctor;
pub mod events;
pub mod explain;
pub mod gate;
pub mod grid;
pub mod openmetrics;
pub mod plan;
pub mod run;
pub mod runs;
pub mod serve;
pub mod shards;
pub mod stored;
pub mod suite;
pub mod sweep;
pub mod trace;
