//! An engine for tests, which counts its renders.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rolecall_core::{Conversation, Dialect, Engine, Observer, Outcome, Program, Refusal, Template};

/// An engine whose prompts are the messages as Rust shows them.
#[derive(Debug, Clone, Default)]
pub(crate) struct CountingEngine {
    renders: Arc<AtomicUsize>,
    /// Whether each prompt begins with the number of the render.
    writes_number: bool,
}

impl CountingEngine {
    /// One that writes the number of the render into the prompt.
    pub(crate) fn aloud() -> CountingEngine {
        CountingEngine {
            writes_number: true,
            ..CountingEngine::default()
        }
    }

    pub(crate) fn renders(&self) -> usize {
        self.renders.load(Ordering::Relaxed)
    }
}

impl Engine for CountingEngine {
    fn name(&self) -> &'static str {
        "counting"
    }
    fn version(&self) -> &'static str {
        ""
    }
    fn description(&self) -> String {
        "an engine that counts".into()
    }
    fn dialect(&self) -> Dialect {
        Dialect::Jinja
    }
    fn compile(&self, _: &Template) -> Result<Box<dyn Program>, Refusal> {
        Ok(Box::new(self.clone()))
    }
}

impl Program for CountingEngine {
    fn render_with(&self, conversation: &Conversation<'_>, _: &mut Observer) -> Outcome {
        let number = self.renders.fetch_add(1, Ordering::Relaxed);
        let messages = format!("{:?}", conversation.case().messages);
        let text = if self.writes_number {
            format!("{number} {messages}")
        } else {
            messages
        };
        Outcome::Rendered { text }
    }
}
