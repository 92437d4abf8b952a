//! The JSON Schemas of Rolecall's JSON, generated from the types that it writes.

use crate::commands::check::document::CheckDocument;
use crate::commands::generate::report as generation;
use crate::commands::list::report as listing;
use crate::commands::mask::report as mask;
use crate::commands::matrix::report as matrix;
use crate::commands::mutate::report as mutation;
use crate::commands::probe_engine::report as trial;
use crate::commands::show::trace::document as trace_document;
use crate::report::jsonl::OutcomeLine;
use crate::report::roundtrip_servers::ReturnedLine;
use crate::report::{comparison, coverage, fingerprint, inspections, proof};
use rolecall_suite::export;
use rolecall_suite::schema::read;

/// The paths of the files below the repository's `harness`, and their right contents.
pub fn files() -> Vec<(String, String)> {
    let results = [
        ("cards", read::<CheckDocument<'_>>()),
        ("coverage", read::<coverage::CoverageDocument<'_>>()),
        ("diff", read::<comparison::ComparisonDocument<'_>>()),
        (
            "fingerprint",
            read::<fingerprint::FingerprintDocument<'_>>(),
        ),
        ("generate", read::<generation::GenerationDocument<'_>>()),
        ("lint", read::<inspections::InspectionDocument>()),
        ("list", read::<listing::ListDocument>()),
        ("mask", read::<mask::MaskDocument<'_>>()),
        ("matrix", read::<matrix::MatrixDocument>()),
        ("mutation", read::<mutation::MutationDocument<'_>>()),
        ("outcome", read::<OutcomeLine<'_>>()),
        ("proof", read::<proof::ProofDocument<'_>>()),
        ("probe", read::<trial::TrialDocument>()),
        ("roundtrip-servers", read::<ReturnedLine<'_>>()),
        ("trace", read::<trace_document::TraceDocument<'_>>()),
    ];
    let results = results.map(|(name, text)| (format!("schema/{name}.schema.json"), text));
    let exports = export::schemas()
        .map(|(name, text)| (format!("suite/src/export/schema/{name}.schema.json"), text));
    results.into_iter().chain(exports).collect()
}
