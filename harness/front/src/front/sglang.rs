//! SGLang 0.5.23: the endpoint `/v1/chat/completions`, for a model whose tokenizer transformers has.

use rolecall_core::Dialect;

use super::change::{Change, ServedRules};
use super::definition::{FrontDefinition, PreparationRules};
use super::named;
use super::transformers::OF_SERVERS;

pub(super) static FRONT: FrontDefinition = FrontDefinition {
    name: "sglang",
    description: "/v1/chat/completions of SGLang 0.5.23",
    dialect: Some(Dialect::Jinja),
    others: &[],
    choose: named::of_tokenizer,
    alternative: named::for_tools,
    preparation: PreparationRules::Changes(ServedRules {
        changes: CHANGES,
        then: |case| OF_SERVERS.prepare(case),
    }),
};

const CHANGES: &[Change] = &[];
