//! The definition of a front. Each front has one in its own file.

use rolecall_core::{Case, Dialect, Template};
use rolecall_go::endpoint::Endpoint;

use super::change::ServedRules;
use super::preparation::Preparation;

/// Makes [`Front`] and [`Front::ALL`] from one list.
macro_rules! fronts {
    ($($(#[$about:meta])* $front:ident,)*) => {
        /// The part of an application that prepares conversations.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Front {
            $($(#[$about])* $front,)*
            /// Is for a name that no front has. It refuses every conversation.
            Unknown,
        }

        impl Front {
            /// All fronts.
            pub const ALL: [Front; Front::Unknown as usize] = [$(Front::$front),*];
        }
    };
}

fronts! {
    /// No application. The template gets the conversation as written, and its output is the prompt.
    Raw,
    /// `tokenizer.apply_chat_template(…, tokenize=False)` of transformers 5.24.
    Transformers,
    /// `processor.apply_chat_template(…, tokenize=False)` of transformers 5.24, for vision and
    /// audio models.
    TransformersProcessor,
    /// The endpoint `/api/chat` of Ollama 0.33.
    Ollama,
    /// The endpoint `/v1/chat/completions` of Ollama 0.33.
    OllamaOpenAi,
    /// The endpoint `/v1/chat/completions` of vLLM 0.33.
    Vllm,
    /// The endpoint `/v1/chat/completions` of SGLang 0.5.23.
    SgLang,
    /// The endpoint `/v1/chat/completions` of llama.cpp's server, of October 2026.
    LlamaServer,
    /// The endpoint `/v1/chat/completions` of mlx-lm 0.32.2.
    MlxLm,
}

pub(super) struct FrontDefinition {
    /// Its name, which `--front` takes.
    pub(super) name: &'static str,
    /// What it is, in a line.
    pub(super) description: &'static str,
    /// The dialect of the application's templates; none if it accepts every dialect.
    pub(super) dialect: Option<Dialect>,
    /// The fronts whose version of a case the suite must also hold, if it differs.
    pub(super) others: &'static [Front],
    /// Picks one of a model's templates for a conversation, or returns the refusal.
    pub(super) choose: for<'t> fn(&'t Template, &Case) -> Result<&'t Template, String>,
    /// The other template that it may pick.
    pub(super) alternative: fn(&Template) -> Option<&Template>,
    /// How it prepares a conversation.
    pub(super) preparation: PreparationRules,
}

/// How a front prepares a conversation before a template sees it.
pub(super) enum PreparationRules {
    /// Through a method, which is the same for all models.
    Method {
        /// Whether users may get another outcome for a case than the template alone gives.
        changes: fn(&Case) -> bool,
        /// Prepares a case for the template.
        prepare: fn(&Case) -> Preparation,
    },
    /// Through an endpoint of Ollama, which depends on the model.
    Endpoint(Endpoint),
    /// Through the changes of an application that serves templates of transformers.
    Changes(ServedRules),
}
