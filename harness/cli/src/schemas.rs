//! The JSON Schemas of Rolecall's JSON, generated from the types that it writes.

use crate::matrix::report as matrix;
use crate::matrix::site::ServersDocument;
use crate::report::checked::CheckDocument;
use crate::report::jsonl::OutcomeLine;
use crate::report::roundtrip_servers::ReturnedLine;
use crate::report::{
    comparison, coverage, fingerprint, generation, inspections, listing, mask, mutation, proof,
    trace_document, trial,
};
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
        ("servers", read::<ServersDocument<'_>>()),
        ("trace", read::<trace_document::TraceDocument<'_>>()),
    ];
    let results = results.map(|(name, text)| (format!("schema/{name}.schema.json"), text));
    let exports = export::schemas()
        .map(|(name, text)| (format!("suite/src/export/schema/{name}.schema.json"), text));
    results.into_iter().chain(exports).collect()
}
