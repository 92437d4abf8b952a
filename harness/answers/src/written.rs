//! Answers as a chat template writes them.
//!
//! A template writes an answer twice: its prompt opens the assistant's turn, and its history holds
//! the finished turn. What the finished turn has after the prompt is what the model writes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use rolecall_core::provenance::Span;
use rolecall_core::{Case, Limit, Observer, Outcome, Template};
use rolecall_front::front::Front;
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use serde_json::{Map, Value};

use crate::ending::EndTokens;
use crate::meaning::Meaning;
use crate::turn_ends::TurnEnds;

/// The settings of thinking that templates know. Where a finished turn does not continue its prompt,
/// it may continue the prompt under another of these.
pub(crate) const THINKING: [(&str, bool); 4] = [
    ("enable_thinking", false),
    ("enable_thinking", true),
    ("thinking", false),
    ("thinking", true),
];

/// A variable of thinking, and its value.
pub(crate) type Thinking = (&'static str, bool);

/// An assistant's message of a case, as a template writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenAnswer {
    /// The index of the message in its case.
    pub index: usize,
    pub meant: Meaning,
    /// What the template makes of it.
    pub outcome: Written,
}

/// What a template makes of an assistant's message.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    /// The text that the model has to write.
    Text {
        prompt: String,
        text: String,
        /// The setting under which the finished turn continues the prompt, such as
        /// `enable_thinking=false`, if it does not do so under the case's own.
        setting: Option<(&'static str, bool)>,
    },
    /// The finished turn does not begin with its prompt, under no setting of thinking.
    DoesNotContinue,
    /// The template gives no prompt here. The outcome says why.
    Refused(Outcome),
}

/// The most bytes of prompts that the answers of one conversation have together. Each answer has the
/// conversation before it in its prompt, so they grow with the square of its length.
const MOST_PROMPTS: usize = 256 << 20;

/// Writes the answers of cases with one template.
pub struct Writer<'p, 't> {
    program: &'p FrontProgram<'t>,
    front: Front,
    /// The end tokens of its turns.
    pub end_tokens: EndTokens,
    ends: TurnEnds,
}

impl<'p, 't> Writer<'p, 't> {
    /// A writer for a loaded template. It renders a few short conversations to see how turns end.
    pub fn new(program: &'p FrontProgram<'t>) -> Writer<'p, 't> {
        let mut writer = Writer {
            program,
            front: Front::of(program.template),
            end_tokens: EndTokens::default(),
            ends: TurnEnds::default(),
        };
        writer.ends = TurnEnds::find(program.template, |messages, opens| {
            let case = Case::from_messages(messages.as_array().cloned().unwrap_or_default());
            let asked = Asked::new(&case, writer.front);
            writer
                .render(&asked, case.messages.len(), opens, None)
                .into_prompt()
                .ok()
        });
        let after_answers = writer.ends.after_answers();
        writer.end_tokens = EndTokens::new(program.template, after_answers);
        writer
    }

    /// The assistant's messages of a case, as the template writes them. Messages that no model
    /// could write are left out.
    pub fn answers<'w>(&'w self, case: &'w Case) -> impl Iterator<Item = WrittenAnswer> + 'w {
        let is_answer = |message: &Value| message.get("role").is_some_and(|it| it == "assistant");
        let messages = case.messages.iter().enumerate();
        let answers = messages.filter(move |(_, message)| is_answer(message));
        let asked = Asked::new(case, self.front);
        let mut written = 0;
        answers.filter_map(move |(index, message)| {
            let meant = Meaning::of(message)?;
            let outcome = if written > MOST_PROMPTS {
                let limit = Limit::Output;
                Written::Refused(Outcome::Exceeded { limit })
            } else {
                self.written(&asked, index)
            };
            if let Written::Text { prompt, .. } = &outcome {
                written += prompt.len();
            }
            Some(WrittenAnswer {
                index,
                meant,
                outcome,
            })
        })
    }

    pub fn template(&self) -> &Template {
        self.program.template
    }

    /// The response template of the template, if it has one.
    pub fn response_template(&self) -> Option<&Value> {
        self.program.template.response_template.as_ref()
    }

    fn written(&self, asked: &Asked<'_>, index: usize) -> Written {
        match self.continued(asked, index, None) {
            Ok(Some((prompt, text))) => Written::Text {
                prompt,
                text,
                setting: None,
            },
            Ok(None) => {
                let mut settings = THINKING.into_iter();
                settings
                    .find_map(|(name, value)| {
                        let setting = Some((name, value));
                        let (prompt, text) = self.continued(asked, index, setting).ok()??;
                        Some(Written::Text {
                            prompt,
                            text,
                            setting,
                        })
                    })
                    .unwrap_or(Written::DoesNotContinue)
            }
            Err(refusal) => Written::Refused(refusal),
        }
    }

    /// The prompt before a message, and what its finished turn has after the prompt, without the
    /// opening of a next turn. None if the finished turn does not continue the prompt.
    fn continued(
        &self,
        asked: &Asked<'_>,
        index: usize,
        setting: Option<Thinking>,
    ) -> Result<Option<(String, String)>, Outcome> {
        let prompt = text(self.render(asked, index, true, setting))?;
        let whole = text(self.render(asked, index + 1, false, setting))?;
        let rest = whole.strip_prefix(prompt.as_str());
        let rest = rest.map(|rest| self.ends.without_opening(rest).to_owned());
        Ok(rest.map(|rest| (prompt, rest)))
    }

    /// The outcome of the first messages of a case.
    fn render(
        &self,
        asked: &Asked<'_>,
        count: usize,
        opens: bool,
        setting: Option<Thinking>,
    ) -> Outcome {
        let whole = asked.whole(self.program, setting);
        let outcome = (self.program).beginning(&whole, count, opens, &mut Observer::default());
        outcome.unwrap_or_else(|| {
            let messages = asked.case.messages.get(..count);
            let messages = messages.unwrap_or(&asked.case.messages);
            asked.alone(self.program, messages, opens, setting)
        })
    }
}

/// A case whose beginnings are rendered.
pub(crate) struct Asked<'c> {
    pub(crate) case: &'c Case,
    pub(crate) front: Front,
    /// The whole conversation under each setting of thinking that was asked for. The beginnings of one
    /// conversation share its messages.
    prepared: RefCell<Vec<(Option<Thinking>, Arc<PreparedCase<'static>>)>>,
    /// What will be asked for.
    pub(crate) ahead: RefCell<Ahead>,
}

/// The outcomes of beginnings, by the number of their messages, and whether they open the next turn. A
/// prompt that the whole one does not begin with has its spans, too.
pub(crate) type Ahead = HashMap<(usize, bool), (Outcome, Option<Vec<Span>>)>;

impl<'c> Asked<'c> {
    pub(crate) fn new(case: &'c Case, front: Front) -> Asked<'c> {
        Asked {
            case,
            front,
            prepared: RefCell::default(),
            ahead: RefCell::default(),
        }
    }

    /// The whole conversation under a setting of thinking.
    pub(crate) fn whole(
        &self,
        program: &FrontProgram<'_>,
        setting: Option<Thinking>,
    ) -> Arc<PreparedCase<'static>> {
        let mut prepared = self.prepared.borrow_mut();
        if let Some((_, whole)) = prepared.iter().find(|(known, _)| *known == setting) {
            return Arc::clone(whole);
        }
        let case = Arc::new(self.with(&self.case.messages, false, setting));
        let model = program.model.with(&case, self.front);
        let whole = Arc::new(PreparedCase::of(&case, self.front, &model));
        prepared.push((setting, Arc::clone(&whole)));
        whole
    }

    pub(crate) fn with(&self, messages: &[Value], opens: bool, setting: Option<Thinking>) -> Case {
        let (messages, tools) = (messages.to_vec(), self.case.tools.clone());
        let variables = variables(self.case, setting);
        let mut case = self.case.saying(messages, tools, variables);
        case.add_generation_prompt = opens;
        case.continue_final_message = None;
        case
    }

    /// The outcome of some messages, rendered as a case of their own.
    pub(crate) fn alone(
        &self,
        program: &FrontProgram<'_>,
        messages: &[Value],
        opens: bool,
        setting: Option<Thinking>,
    ) -> Outcome {
        let case = self.with(messages, opens, setting);
        let model = program.model.with(&case, self.front);
        program.outcome(&PreparedCase::new(&case, self.front, &model))
    }
}

/// The variables with which the prompt of an answer was made: those of its case, and the setting of
/// [`Written::Text`].
pub fn variables(case: &Case, setting: Option<(&str, bool)>) -> Map<String, Value> {
    let mut variables = case.variables.clone();
    variables.extend(setting.map(|(name, value)| (name.to_owned(), value.into())));
    variables
}

fn text(outcome: Outcome) -> Result<String, Outcome> {
    match outcome {
        Outcome::Rendered { text } => Ok(text),
        refusal => Err(refusal),
    }
}

#[cfg(test)]
mod tests {
    use rolecall_front::engines::Engines;
    use serde_json::json;

    use rolecall_core::Dialect;

    use super::*;
    use crate::ending::Form;

    /// ChatML that opens its turns with empty reasoning, unless it shall think.
    const THINKER: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n\
        {{ m.content }}<|im_end|>\n{% endfor %}\
        {% if add_generation_prompt %}<|im_start|>assistant\n\
        {% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}{% endif %}";

    fn written(source: &str, messages: &Value, variables: &Value) -> Vec<Written> {
        let template = Template::from_source("t", Dialect::Jinja, source);
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let program = FrontProgram::load(engine, &template);
        let mut case = Case::from_messages(messages.as_array().unwrap().clone());
        case.variables = variables.as_object().unwrap().clone();
        let writer = Writer::new(&program);
        writer.answers(&case).map(|it| it.outcome).collect()
    }

    #[test]
    fn the_answer_is_what_the_finished_turn_adds() {
        let messages = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a"},
            {"role": "assistant", "content": 3},
        ]);
        let prompt = "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n".to_owned();
        let expected = |setting| Written::Text {
            prompt: prompt.clone(),
            text: "a<|im_end|>\n".into(),
            setting,
        };
        assert_eq!(written(THINKER, &messages, &json!({})), [expected(None)]);
        // With empty reasoning in the prompt, the finished turn does not continue it.
        assert_eq!(
            written(THINKER, &messages, &json!({"enable_thinking": false})),
            [expected(Some(("enable_thinking", true)))]
        );
    }

    #[test]
    fn what_is_refused_or_does_not_continue_is_named() {
        let messages = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a"},
        ]);
        let loose = "{{ messages | length }}";
        assert_eq!(
            written(loose, &messages, &json!({})),
            [Written::DoesNotContinue]
        );
        let strict = "{{ raise_exception('no') if messages | length > 1 }}";
        assert_eq!(
            written(strict, &messages, &json!({})),
            [Written::Refused(Outcome::Raised {
                message: "no".into()
            })]
        );
    }

    #[test]
    fn the_end_token_is_found_in_plain_answers() {
        // The template opens the next turn in any case, which is no part of an answer.
        let source = "{% for m in messages %}[{{ m.content }}<end>\n{% endfor %}[";
        let template = Template::from_source("t", Dialect::Jinja, source);
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let program = FrontProgram::load(engine, &template);
        let writer = Writer::new(&program);
        assert_eq!(writer.end_tokens.form("x<end>\n", Form::Bare), Some("x"));
    }
}
