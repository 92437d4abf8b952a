//! The JSON Schemas of Rolecall's JSON results, generated from the types that it writes.

use crate::matrix::report as matrix;
use crate::report::checked::CheckDocument;
use crate::report::jsonl::OutcomeLine;
use crate::report::roundtrip_servers::ReturnedLine;
use crate::report::{
    comparison, coverage, generation, inspections, listing, mask, mutation, proof, trace_document,
    trial,
};
use rolecall_suite::schema::{SchemaFile, file};

/// The schema files with their right contents. The paths are below the repository's `harness`.
pub fn files() -> [SchemaFile; 14] {
    [
        file::<CheckDocument<'_>>("schema/cards.schema.json"),
        file::<coverage::CoverageDocument<'_>>("schema/coverage.schema.json"),
        file::<comparison::ComparisonDocument<'_>>("schema/diff.schema.json"),
        file::<generation::GenerationDocument<'_>>("schema/generate.schema.json"),
        file::<inspections::InspectionDocument>("schema/lint.schema.json"),
        file::<listing::ListDocument>("schema/list.schema.json"),
        file::<mask::MaskDocument<'_>>("schema/mask.schema.json"),
        file::<matrix::MatrixDocument>("schema/matrix.schema.json"),
        file::<mutation::MutationDocument<'_>>("schema/mutation.schema.json"),
        file::<OutcomeLine<'_>>("schema/outcome.schema.json"),
        file::<proof::ProofDocument<'_>>("schema/proof.schema.json"),
        file::<trial::TrialDocument>("schema/probe.schema.json"),
        file::<ReturnedLine<'_>>("schema/roundtrip-servers.schema.json"),
        file::<trace_document::TraceDocument<'_>>("schema/trace.schema.json"),
    ]
}
