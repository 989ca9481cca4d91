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

use declaration::{Declaration, DeclaredPlan};

/// A language of declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EmitLanguage {
    Terraform,
    Kubernetes,
}

/// The volumes of plans, one for each need.
pub(crate) struct Declarations<'a>(Vec<Declaration<'a>>);

impl<'a> Declarations<'a> {
    pub(crate) fn of_load(plan: &'a PlanResult) -> Self {
        let index = plan.ranking.chosen();
        let chosen = index.and_then(|index| plan.candidates.get(index));
        let status = if plan.doubt.is_some() { NeedStatus::Unknown } else { NeedStatus::Met };
        Self(vec![Declaration::new(None, (chosen, status), DeclaredPlan::Load(plan))])
    }

    pub(crate) fn of_trace(plan: &'a TracePlanResult) -> Self {
        let index = plan.ranking.chosen();
        let chosen = index.and_then(|index| plan.candidates.get(index)).map(|one| &one.candidate);
        Self(vec![Declaration::new(None, (chosen, NeedStatus::Met), DeclaredPlan::Trace(plan))])
    }

    pub(crate) fn of_needs(result: &'a NeedsResult) -> Self {
        let mut declarations: Vec<Declaration<'_>> = result.needs.iter().map(Declaration::of_need).collect();
        declaration::name_apart(&mut declarations);
        Self(declarations)
    }

    /// Returns why volumes cannot be declared in a language.
    pub(crate) fn refusals(&self, language: EmitLanguage) -> Vec<Problem> {
        let refuse = match language {
            EmitLanguage::Terraform => terraform::refusal,
            EmitLanguage::Kubernetes => kubernetes::refusal,
        };
        self.0.iter().filter_map(refuse).collect()
    }

    /// Returns the declarations in a language.
    pub(crate) fn text(&self, language: EmitLanguage) -> String {
        match language {
            EmitLanguage::Terraform => terraform::text(&self.0),
            EmitLanguage::Kubernetes => kubernetes::text(&self.0),
        }
    }
}
