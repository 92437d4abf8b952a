//! The class that `index.js` wraps.

// napi hands texts and lists over as values.
#![allow(clippy::needless_pass_by_value)]

use std::path::Path;

use napi::bindgen_prelude::Either;
use napi_derive::napi;
use rolecall_core::Limits;
use rolecall_front::embed::{Answer, AnswerKind, ChatTemplate};
use rolecall_io::source;

use crate::card;
use crate::reply::Reply;

/// A compiled template.
#[napi]
pub struct NativeTemplate {
    chat: ChatTemplate,
}

/// Compiles a template. The options are a JSON text: see `ChatTemplate::compile`.
#[napi]
pub fn compile(source: String, options: String) -> Either<NativeTemplate, Reply> {
    native(ChatTemplate::compile(&source, &options))
}

/// Reads the templates of a file or a folder of a model, and compiles them. The errors are among
/// the results.
#[napi(catch_unwind)]
pub fn load(path: String) -> Vec<Either<NativeTemplate, Reply>> {
    let found = source::read(Path::new(&path));
    let problems = found.problems.iter().map(|problem| {
        let answer = Answer::invalid(problem.to_string());
        Either::B(Reply::from(answer))
    });
    let problems: Vec<_> = problems.collect();
    let templates = found.templates.into_iter();
    let compiled = templates.map(|template| native(ChatTemplate::of(template, &Limits::default())));
    compiled.chain(problems).collect()
}

fn native(compiled: Result<ChatTemplate, Answer>) -> Either<NativeTemplate, Reply> {
    match compiled {
        Ok(chat) => Either::A(NativeTemplate { chat }),
        Err(answer) => Either::B(answer.into()),
    }
}

#[napi]
impl NativeTemplate {
    /// The name of the template.
    #[napi(getter)]
    pub fn name(&self) -> &str {
        self.chat.template().name.as_str()
    }

    /// The source of the template.
    #[napi(getter)]
    pub fn source(&self) -> &str {
        &self.chat.template().source
    }

    /// Renders a conversation, a JSON text: see `ChatTemplate::render`.
    #[napi]
    pub fn render(&self, conversation: String) -> Reply {
        self.chat.render(&conversation).into()
    }

    /// The report card, as the text that `rolecall check -q --format json` prints.
    #[napi]
    pub fn check(&self, select: Vec<String>) -> Reply {
        let card = card::document(self.chat.template(), &select);
        let answer = card.map(|text| Answer {
            kind: AnswerKind::Rendered,
            ..Answer::invalid(text)
        });
        answer.unwrap_or_else(|answer| answer).into()
    }
}
