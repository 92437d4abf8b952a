//! What served applications find out about a template from its source.

/// What they read in it before they get a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact of its own.
pub(super) struct TemplateFacts {
    /// Whether it loops over the content of its messages, as vLLM finds out.
    pub(super) loops_over_content: bool,
    /// Whether SGLang finds that it takes a content as a list of parts.
    pub(super) is_for_parts: bool,
    /// Whether it has the name of the role `developer`.
    pub(super) has_developer: bool,
    /// Whether it mentions images, audio and videos.
    pub(super) media: [bool; 3],
    /// Whether SGLang finds that it has a variable for little effort.
    pub(super) has_low_effort: bool,
    /// Whether it writes tokens for thoughts that mlx-lm knows.
    pub(super) has_thoughts: bool,
}

impl TemplateFacts {
    pub(super) fn of(source: &str) -> TemplateFacts {
        let loops = rolecall_jinja::read(source).map(|reading| reading.content_loops);
        let loops = loops.unwrap_or_default();
        let has = |word: &str| source.contains(word);
        let media = ["image", "audio", "video"].map(has);
        let messages = ["message", "msg", "m"];
        let loops_over_message = messages.iter().any(|name| loops.variables.contains(*name));
        TemplateFacts {
            loops_over_content: loops.of_messages,
            is_for_parts: loops_over_message || media.contains(&true) || has("vision"),
            has_developer: has("\"developer\"") || has("'developer'"),
            media,
            has_low_effort: has("low_effort") && has("truncate_history_thinking"),
            has_thoughts: has_thoughts(source),
        }
    }
}

/// Whether a vocabulary with the tokens that a template writes has tokens for thoughts (`_infer_thinking`
/// of `mlx_lm/tokenizer_utils.py`).
fn has_thoughts(source: &str) -> bool {
    const TOKENS: [&[&str]; 5] = [
        &["<think>", "</think>"],
        &["<longcat_think>", "</longcat_think>"],
        &["<|think:start|>", "<|think:end|>"],
        &["<|channel>", "<channel|>"],
        &["<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"],
    ];
    let are_there = |tokens: &&[&str]| tokens.iter().all(|token| source.contains(token));
    TOKENS.iter().any(are_there)
}
