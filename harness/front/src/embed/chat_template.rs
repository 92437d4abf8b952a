//! A compiled template that takes conversations as JSON.

use std::time::SystemTime;

use crate::front::Front;
use rolecall_core::guard::{catch, on_large_stack};
use rolecall_core::{Limits, Moment, Template};

use crate::embed::answer::{Answer, AnswerKind};
use crate::embed::compiled_template::CompiledTemplate;
use crate::embed::conversation::read_conversation;
use crate::embed::options::read_template;

/// A compiled template. Several threads may render with it at once; dropping it frees everything.
pub struct ChatTemplate {
    compiled: CompiledTemplate,
}

impl ChatTemplate {
    /// Compiles a template. The options are a JSON object. All of its fields are optional, and an
    /// empty text means none:
    ///
    /// - `name`: the name of the template, for report cards
    /// - `dialect`: `jinja` or `go`; `jinja` if it is absent
    /// - `special_tokens`: the tokenizer's, by name, such as `bos_token`
    /// - `variables`: further variables of the template
    /// - `front`: the application around the template; the default is `transformers` or `ollama`
    /// - `limits`: `fuel`, `work`, `output`, `prompt`, `recursion`: see [`Limits`]
    /// - `setup`: what an Ollama server knows about the model: `model`, `family`, `parser`,
    ///   `system`, `messages`
    pub fn compile(source: &str, options: &str) -> Result<ChatTemplate, Answer> {
        let (template, limits) = read_template(source, options).map_err(Answer::invalid)?;
        ChatTemplate::of(template, &limits)
    }

    /// Compiles a template that was read already.
    pub fn of(template: Template, limits: &Limits) -> Result<ChatTemplate, Answer> {
        safely(|| {
            let compiled = CompiledTemplate::new(template, limits);
            let Some(refusal) = compiled.refusal() else {
                return Ok(ChatTemplate { compiled });
            };
            let mut answer = Answer::from(refusal);
            if answer.kind == AnswerKind::Syntax {
                answer.column = compiled.column_of_refusal();
            }
            Err(answer)
        })
        .unwrap_or_else(|message| Err(Answer::crashed(message)))
    }

    /// Renders a conversation. It is a JSON text: a list of messages, or an object. The object has
    /// `messages`; all other fields are optional:
    ///
    /// - `tools`, `documents`: lists
    /// - `add_generation_prompt`: true if it is absent, unless a message is continued
    /// - `continue_final_message`: true, or the name of the field to continue
    /// - `variables`, also as `chat_template_kwargs`: further variables of the template
    /// - `now`: the time that the template's clock shows, such as `2026-01-02T03:04:05+01:00`; if
    ///   it is absent, the time of this machine, in UTC
    /// - `front`: the application around the template, if it is not the template's own
    pub fn render(&self, conversation: &str) -> Answer {
        safely(|| self.answer(conversation)).unwrap_or_else(Answer::crashed)
    }

    /// The template, as the engines compile it.
    pub fn template(&self) -> &Template {
        self.compiled.template()
    }

    fn answer(&self, conversation: &str) -> Answer {
        let template = self.template();
        let now = || Moment::from(SystemTime::now());
        let (case, front) = match read_conversation(conversation, template.dialect, now) {
            Ok(read) => read,
            Err(reason) => return Answer::invalid(reason),
        };
        let front = front.unwrap_or_else(|| Front::of(template));
        self.compiled.outcome(&case, front).into()
    }
}

/// Runs a closure on a stack for any template. A panic becomes an error with its message.
fn safely<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    on_large_stack(|| catch(run))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str =
        "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";

    #[test]
    fn a_template_is_compiled_once_and_rendered_by_threads() {
        let options = r#"{"special_tokens": {"bos_token": "<s>"}}"#;
        let template = ChatTemplate::compile(SOURCE, options)
            .map_err(|answer| answer.text)
            .unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let answer = template.render(r#"[{"role": "user", "content": "a\u0000b"}]"#);
                    assert_eq!(
                        (answer.kind, answer.text.as_str()),
                        (AnswerKind::Rendered, "<s><user>a\0b")
                    );
                });
            }
        });
    }

    #[test]
    fn each_reason_has_its_kind() {
        let compiled = |source: &str, options: &str| match ChatTemplate::compile(source, options) {
            Ok(template) => template.render(r#"{"messages": [], "front": "raw"}"#),
            Err(answer) => answer,
        };
        for (source, options, kind, text, place) in [
            ("", "", AnswerKind::Rendered, "", (None, None)),
            (
                "{{ raise_exception('No.') }}",
                "",
                AnswerKind::Raised,
                "No.",
                (None, None),
            ),
            (
                "a\n b {{ }}",
                "",
                AnswerKind::Syntax,
                "",
                (Some(2), Some(7)),
            ),
            ("\n{{ x.y.z }}", "", AnswerKind::Failed, "", (Some(2), None)),
            (
                "{% for i in range(99) %}{{ i }}{% endfor %}",
                r#"{"limits": {"fuel": 9}}"#,
                AnswerKind::Limit,
                "fuel",
                (None, None),
            ),
            (
                "",
                "[]",
                AnswerKind::Invalid,
                "the options are not an object",
                (None, None),
            ),
        ] {
            let answer = compiled(source, options);
            assert_eq!(answer.kind, kind, "{source}: {answer:?}");
            assert!(answer.text.contains(text), "{source}: {answer:?}");
            assert_eq!((answer.line, answer.column), place, "{source}: {answer:?}");
        }
        let template = ChatTemplate::compile("x", "")
            .map_err(|answer| answer.text)
            .unwrap();
        assert_eq!(template.render("[]").kind, AnswerKind::Refused);
        assert_eq!(template.render("{").kind, AnswerKind::Invalid);
    }
}
