use rolecall_core::Dialect;

use super::frame::{Contract, Evidence, Severity};
use super::shared::read_answer::response_template;

pub(super) static CONTRACT: Contract = Contract {
    id: "served-fields",
    meaning: "vLLM and SGLang accept the fields of the response template",
    guards_against: "a server that does not start, or that leaves the response template unused",
    severity: Severity::Note,
    dialects: &[Dialect::Jinja],
    page: include_str!("served_fields.md"),
    judge: |tally, prober, _| {
        let Some(template) = response_template(prober, tally) else {
            return;
        };
        let refused = template.refused_by_servers();
        if refused.is_empty() {
            tally.holds();
        }
        for finding in refused {
            tally.broken(Evidence::of_source(finding.message));
        }
    },
};
