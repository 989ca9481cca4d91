//! Chosen volumes in the languages of other programs: Terraform (HCL) and Kubernetes (YAML).
//!
//! Names of arguments and parameters are those of the Terraform providers `aws`, `google` and `azurerm`, and of the CSI
//! drivers of the same providers.

mod declaration;
mod hcl;
mod kubernetes;
mod terraform;

use results::plan::needs::{NeedStatus, NeedsResult};
use results::plan::{PlanResult, TracePlanResult};
use units::Problem;

use crate::document::{ResultDocument, ResultFormat};
use declaration::Declaration;

/// Returns why the volumes of a plan cannot be written in a format; nothing if they can, and for other formats.
#[must_use]
pub fn refusals(document: ResultDocument<'_>, format: ResultFormat) -> Vec<Problem> {
    let refuse = match format {
        ResultFormat::Terraform => terraform::refusal,
        ResultFormat::Kubernetes => kubernetes::refusal,
        _ => return Vec::new(),
    };
    declarations(document).iter().filter_map(refuse).collect()
}

/// Reports whether all volumes of the plans can be written as Terraform.
pub(crate) fn is_available(result: &NeedsResult) -> bool {
    refusals(ResultDocument::Needs(result, false), ResultFormat::Terraform).is_empty()
}

/// Returns the volumes of a plan as Terraform.
pub(crate) fn terraform(document: ResultDocument<'_>) -> String {
    terraform::text(&declarations(document))
}

/// Returns the volumes of a plan as Kubernetes manifests.
pub(crate) fn kubernetes(document: ResultDocument<'_>) -> String {
    kubernetes::text(&declarations(document))
}

/// Returns what is declared for each need.
fn declarations(document: ResultDocument<'_>) -> Vec<Declaration<'_>> {
    let mut declarations = match document {
        ResultDocument::Plan(plan, _) => vec![of_load(plan)],
        ResultDocument::TracePlan(plan) => vec![of_trace(plan)],
        ResultDocument::Needs(result, _) => result.needs.iter().map(Declaration::of_need).collect(),
        _ => Vec::new(),
    };
    declaration::name_apart(&mut declarations);
    declarations
}

fn of_load(plan: &PlanResult) -> Declaration<'_> {
    let index = plan.ranking.best.or(plan.ranking.meeting.first().copied());
    let chosen = index.and_then(|index| plan.candidates.get(index));
    let status = if plan.doubt.is_some() { NeedStatus::Unknown } else { NeedStatus::Met };
    let page = crate::plan::page(plan);
    Declaration::new(None, (chosen, status), (page.about, page.answer.verdict))
}

fn of_trace(plan: &TracePlanResult) -> Declaration<'_> {
    let index = plan.ranking.best.or(plan.ranking.meeting.first().copied());
    let chosen = index.and_then(|index| plan.candidates.get(index)).map(|one| &one.candidate);
    let page = crate::plan::trace::page(plan);
    Declaration::new(None, (chosen, NeedStatus::Met), (page.about, page.answer.verdict))
}
