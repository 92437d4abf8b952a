//! The class `Template`.

// Its documentation is Python's.
#![allow(clippy::doc_link_with_quotes, clippy::doc_markdown)]

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyString};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use rolecall_cli::library::limits_text;
use rolecall_core::fingerprint::Checksum;
use rolecall_core::{Case, Dialect, Limits, Outcome};
use rolecall_front::front::Front;
use serde_json::Value;

use crate::conversion::{Converter, text};
use crate::errors::{self, refused};
use crate::program::Program;
use crate::request::{self, Options, Request};
use crate::response::{self, ResponseParser};
use crate::threads::{LateBar, pool};
use crate::{mask, program, trace};

/// How many conversations wait at a time for a render.
const AT_ONCE: usize = 512;

/// How many compiled forms a template keeps besides its usual one.
const MOST_KEPT: usize = 8;

/// A chat template, ready to render in any number of threads.
///
/// ``source`` is the text of a template, or the texts of a model's templates by name.
/// ``special_tokens`` are the tokens that the template reads, such as ``eos_token``. ``front`` is the
/// application that prepares conversations: by default transformers, and Ollama for ``dialect="go"``.
///
/// >>> import rolecall
/// >>> template = rolecall.Template("{{ bos_token }}{{ messages[0].content }}",
/// ...                              special_tokens={"bos_token": "<s>"})
/// >>> template.render([{"role": "user", "content": "Hi"}])
/// '<s>Hi'
#[pyclass(frozen, module = "rolecall")]
pub(crate) struct Template {
    model: rolecall_core::Template,
    /// The front of its users.
    front: Front,
    limits: Limits,
    /// Whether it may ask for the time.
    reads_clock: bool,
    usual: Program,
    /// Other templates of its model, and other fronts.
    kept: Mutex<Vec<(Other, Arc<Program>)>>,
}

/// A template of a caller's choice, with a front.
#[derive(Clone, PartialEq, Eq)]
struct Other {
    front: Front,
    /// The name of one of the model's templates, or a whole template.
    chosen: Option<String>,
}

impl Template {
    /// A template that is ready to render.
    pub(crate) fn of(template: rolecall_core::Template, limits: Limits) -> Template {
        let front = Front::of(&template);
        let mut named = template.named.iter();
        let reads_clock = template.dialect == Dialect::Go
            || asks_for_time(&template.source)
            || named.any(|(_, named)| asks_for_time(&named.source));
        Template {
            front,
            reads_clock,
            usual: Program::new(template.clone(), front, &limits),
            model: template,
            limits,
            kept: Mutex::default(),
        }
    }

    /// The compiled form with a front. `chosen` is the name of one of the model's templates, or a
    /// whole template, as transformers takes it.
    fn compiled(&self, front: Front, chosen: Option<&str>) -> Arc<Program> {
        let other = Other {
            front,
            chosen: chosen.map(str::to_owned),
        };
        let known = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let found = kept.iter().find(|(known, _)| *known == other);
            found.map(|(_, compiled)| Arc::clone(compiled))
        };
        if let Some(compiled) = known {
            return compiled;
        }
        let mut template = self.model.clone();
        if let Some(chosen) = chosen {
            let named = template.named.iter().find(|(name, _)| name == chosen);
            template.source = named.map_or(chosen.to_owned(), |(_, named)| named.source.clone());
            template.named.clear();
        }
        let compiled = Arc::new(Program::new(template, front, &self.limits));
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MOST_KEPT {
            kept.remove(0);
        }
        kept.push((other, Arc::clone(&compiled)));
        compiled
    }

    /// Calls with the compiled form for a front and a choice.
    fn with<T>(
        &self,
        py: Python<'_>,
        front: Front,
        chosen: Option<&str>,
        call: impl FnOnce(&Program) -> PyResult<T>,
    ) -> PyResult<T> {
        if front == self.front && chosen.is_none() {
            return call(&self.usual);
        }
        if !front.is_for(self.model.dialect) {
            let dialect = self.model.dialect;
            let why = format!("the front `{front}` is not for templates in {dialect}");
            return Err(refused(py, &why));
        }
        let compiled = py.detach(|| self.compiled(front, chosen));
        call(&compiled)
    }

    pub(crate) fn template(&self) -> &rolecall_core::Template {
        &self.model
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// All that makes it, as JSON: what [`restore`] takes.
    fn state(&self) -> PyResult<String> {
        let state = (&self.model, limits_text(&self.limits));
        serde_json::to_string(&state).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn prompt(
        &self,
        py: Python<'_>,
        (front, chosen): (Front, Option<&str>),
        case: Case,
    ) -> PyResult<String> {
        self.with(py, front, chosen, |compiled| {
            let outcome = py.detach(|| compiled.outcome(case));
            errors::prompt(py, outcome, || compiled.column())
        })
    }

    fn request(
        &self,
        py: Python<'_>,
        chosen: Option<&str>,
        options: &Options<'_, '_>,
    ) -> PyResult<Request> {
        let reads_clock = self.reads_clock || chosen.is_some_and(asks_for_time);
        Request::new(py, self.model.dialect, reads_clock, options)
    }

    /// The case of a conversation.
    pub(crate) fn case(
        &self,
        py: Python<'_>,
        conversation: &Bound<'_, PyAny>,
        options: &Options<'_, '_>,
    ) -> PyResult<Case> {
        self.request(py, None, options)?.into_case(conversation)
    }

    /// The front that a caller asks for, or its own.
    pub(crate) fn front_of(&self, py: Python<'_>, named: Option<&str>) -> PyResult<Front> {
        named.map_or(Ok(self.front), |name| request::front(py, name))
    }
}

/// Makes a template again that was pickled.
#[pyfunction]
pub(crate) fn restore(py: Python<'_>, state: &str) -> PyResult<Template> {
    let state: Result<(rolecall_core::Template, String), _> = serde_json::from_str(state);
    let (template, limits) = state.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let limits = program::limits(py, Some(PyString::new(py, &limits).as_any()))?;
    Ok(py.detach(|| Template::of(template, limits)))
}

/// Whether a Jinja template may ask for the time.
fn asks_for_time(source: &str) -> bool {
    source.contains("strftime_now")
}

/// The special tokens of a mapping: texts, or objects that `str()` writes as such.
fn special_tokens(
    tokens: &Bound<'_, PyMapping>,
    into: &mut serde_json::Map<String, Value>,
) -> PyResult<()> {
    for entry in tokens.call_method0("items")?.try_iter()? {
        let (name, token): (Bound<'_, PyString>, Bound<'_, PyAny>) = entry?.extract()?;
        let value = if token.is_none() {
            continue;
        } else if token.is_instance_of::<PyList>() || token.is_instance_of::<PyDict>() {
            Converter::of(Dialect::Jinja).value(&token)?
        } else {
            Value::String(self::text(&token.str()?)?)
        };
        into.insert(text(&name)?, value);
    }
    Ok(())
}

#[pymethods]
impl Template {
    #[new]
    #[pyo3(signature = (source, *, special_tokens=None, name="template", dialect="jinja", front=None, response_template=None, limits=None))]
    #[expect(clippy::too_many_arguments, reason = "callers name most of them")]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        special_tokens: Option<&Bound<'_, PyMapping>>,
        name: &str,
        dialect: &str,
        front: Option<&str>,
        response_template: Option<&Bound<'_, PyAny>>,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Template> {
        let limits = program::limits(py, limits)?;
        let Some(dialect) = Dialect::named(dialect) else {
            let why = format!("there is no dialect `{dialect}`; there are `jinja` and `go`");
            return Err(refused(py, &why));
        };
        let of = |source: &str| rolecall_core::Template::from_source(name, dialect, source);
        let mut template = if let Ok(one) = source.cast::<PyString>() {
            of(&text(one)?)
        } else if let Ok(several) = source.cast::<PyMapping>() {
            let mut named = Vec::new();
            for entry in several.call_method0("items")?.try_iter()? {
                let (name, source): (Bound<'_, PyString>, Bound<'_, PyString>) =
                    entry?.extract()?;
                named.push((text(&name)?, of(&text(&source)?)));
            }
            let default = named.iter().find(|(name, _)| name == "default");
            let Some((_, default)) = default.or(named.first()) else {
                return Err(refused(py, "there is no template"));
            };
            let mut template = default.clone();
            template.named = named;
            template
        } else {
            let kind = source.get_type().name()?;
            let why =
                format!("a template is a text or texts by name, and this is of type `{kind}`");
            return Err(refused(py, &why));
        };
        if let Some(tokens) = special_tokens {
            self::special_tokens(tokens, &mut template.special_tokens)?;
            for (_, named) in &mut template.named {
                named.special_tokens.clone_from(&template.special_tokens);
            }
        }
        if let Some(front) = front {
            let front = request::front(py, front)?;
            template.front = Some(front.name().to_owned());
        }
        if let Some(response_template) = response_template.filter(|given| !given.is_none()) {
            let json = Converter::of(Dialect::Jinja).value(response_template)?;
            template.response_template = Some(json);
        }
        let made = py.detach(|| Template::of(template, limits));
        match made.usual.refusal() {
            None => Ok(made),
            Some(refusal) => errors::prompt(py, refusal, || made.usual.column()).map(|_| made),
        }
    }

    /// Return the prompt of a conversation, as ``apply_chat_template(…, tokenize=False)`` of
    /// transformers 5.24 returns it.
    ///
    /// The arguments have the names and the order that they have there, and what is refused there is
    /// refused here. Two defaults differ: ``add_generation_prompt`` is true unless a message is
    /// continued, and the result is always a text. A list of conversations gives a list of prompts.
    /// ``chat_template`` is the name of one of the model's templates, or a whole template. Python
    /// functions may be tools. ``now`` stops the clock of templates that print the date.
    ///
    /// >>> import rolecall
    /// >>> template = rolecall.Template("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    /// >>> template.apply_chat_template([{"role": "user", "content": "Hi"}])
    /// '<user>Hi'
    /// >>> answer = [{"role": "assistant", "content": "It is "}]
    /// >>> template.apply_chat_template(answer, continue_final_message=True)
    /// '<assistant>It is '
    #[pyo3(
        signature = (conversation=None, tools=None, documents=None, chat_template=None,
            add_generation_prompt=None, continue_final_message=None, *, now=None, **variables),
        text_signature = "($self, messages, tools=None, documents=None, chat_template=None, \
            add_generation_prompt=True, continue_final_message=False, *, now=None, **variables)"
    )]
    #[expect(clippy::too_many_arguments, reason = "transformers has as many")]
    fn apply_chat_template<'py>(
        &self,
        py: Python<'py>,
        conversation: Option<&Bound<'py, PyAny>>,
        tools: Option<&Bound<'py, PyAny>>,
        documents: Option<&Bound<'py, PyAny>>,
        chat_template: Option<&str>,
        add_generation_prompt: Option<&Bound<'py, PyAny>>,
        continue_final_message: Option<&Bound<'py, PyAny>>,
        now: Option<&Bound<'py, PyAny>>,
        variables: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let front = match (self.model.dialect, self.front) {
            (Dialect::Go, _) => {
                return Err(refused(
                    py,
                    "transformers has no templates in Go: `render` is for this one",
                ));
            }
            (_, own @ (Front::Transformers | Front::TransformersProcessor)) => own,
            _ => Front::Transformers,
        };
        let mut named = None;
        if let Some(variables) = variables {
            if conversation.is_none() {
                // The name that it has nearly everywhere else.
                named = variables.get_item("messages")?;
                if named.is_some() {
                    variables.del_item("messages")?;
                }
            }
            refuse_tokens(variables)?;
        }
        let Some(conversation) = conversation.or(named.as_ref()) else {
            return Err(pyo3::exceptions::PyTypeError::new_err(
                "apply_chat_template() needs messages",
            ));
        };
        let options = Options {
            tools,
            documents,
            add_generation_prompt,
            continue_final_message,
            now,
            variables,
        };
        let request = self.request(py, chat_template, &options)?;
        let asked = (front, chat_template);
        if request::is_batch(conversation)? {
            let prompts = PyList::empty(py);
            for (index, conversation) in conversation.try_iter()?.enumerate() {
                let case = request.case(&conversation?);
                let prompt = case.and_then(|case| self.prompt(py, asked, case));
                let prompt = prompt.map_err(|error| errors::of_conversation(py, error, index))?;
                prompts.append(prompt)?;
            }
            return Ok(prompts.into_any());
        }
        let prompt = self.prompt(py, asked, request.into_case(conversation)?)?;
        Ok(PyString::new(py, &prompt).into_any())
    }

    /// Return the prompt of a conversation as the users of an application get it.
    ///
    /// ``front`` names the application: ``transformers``, ``transformers-processor``, ``ollama``,
    /// ``ollama-openai``, or ``raw`` for none. Without it, the template's own front prepares the
    /// conversation.
    ///
    /// >>> import rolecall
    /// >>> source = "{{ .System }} {{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}"
    /// >>> template = rolecall.Template(source, dialect="go")
    /// >>> template.render([{"role": "user", "content": "Hi"}], front="ollama", now="2026-11-23")
    /// ' <user>Hi'
    #[pyo3(
        signature = (messages, tools=None, documents=None, add_generation_prompt=None,
            continue_final_message=None, *, front=None, now=None, **variables),
        text_signature = "($self, messages, tools=None, documents=None, \
            add_generation_prompt=True, continue_final_message=False, *, front=None, now=None, \
            **variables)"
    )]
    #[expect(clippy::too_many_arguments, reason = "callers name most of them")]
    fn render(
        &self,
        py: Python<'_>,
        messages: &Bound<'_, PyAny>,
        tools: Option<&Bound<'_, PyAny>>,
        documents: Option<&Bound<'_, PyAny>>,
        add_generation_prompt: Option<&Bound<'_, PyAny>>,
        continue_final_message: Option<&Bound<'_, PyAny>>,
        front: Option<&str>,
        now: Option<&Bound<'_, PyAny>>,
        variables: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        let options = Options {
            tools,
            documents,
            add_generation_prompt,
            continue_final_message,
            now,
            variables,
        };
        let front = self.front_of(py, front)?;
        let case = self.request(py, None, &options)?.into_case(messages)?;
        self.prompt(py, (front, None), case)
    }

    /// Return the prompts of many conversations, in their order. All cores render them.
    ///
    /// The first conversation without a prompt ends it with its error. With ``errors="return"`` the
    /// list has that error in the place of the prompt, and the others go on.
    ///
    /// >>> import rolecall
    /// >>> template = rolecall.Template("{{ messages[0].content }}")
    /// >>> template.render_many([[{"role": "user", "content": str(n)}] for n in range(3)])
    /// ['0', '1', '2']
    /// >>> template.render_many([[], [{"content": "a"}]], errors="return")
    /// [InputRefused('the conversation has no messages'), 'a']
    #[pyo3(
        signature = (conversations, tools=None, documents=None, add_generation_prompt=None,
            continue_final_message=None, *, front=None, now=None, errors="raise", **variables),
        text_signature = "($self, conversations, tools=None, documents=None, \
            add_generation_prompt=True, continue_final_message=False, *, front=None, now=None, \
            errors='raise', **variables)"
    )]
    #[expect(clippy::too_many_arguments, reason = "callers name most of them")]
    fn render_many<'py>(
        &self,
        py: Python<'py>,
        conversations: &Bound<'py, PyAny>,
        tools: Option<&Bound<'py, PyAny>>,
        documents: Option<&Bound<'py, PyAny>>,
        add_generation_prompt: Option<&Bound<'py, PyAny>>,
        continue_final_message: Option<&Bound<'py, PyAny>>,
        front: Option<&str>,
        now: Option<&Bound<'py, PyAny>>,
        errors: &str,
        variables: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let returns = match errors {
            "raise" => false,
            "return" => true,
            other => {
                let why = format!("`errors` has to be `raise` or `return`, not `{other}`");
                return Err(refused(py, &why));
            }
        };
        let options = Options {
            tools,
            documents,
            add_generation_prompt,
            continue_final_message,
            now,
            variables,
        };
        let front = self.front_of(py, front)?;
        let request = self.request(py, None, &options)?;
        let pool = pool()?;
        let prompts = PyList::empty(py);
        let mut bar = LateBar::new(conversations.len().ok(), "rendering", "conversations");
        let mut conversations = conversations.try_iter()?;
        loop {
            bar.at(prompts.len());
            let mut cases: Vec<PyResult<Case>> = Vec::new();
            for conversation in conversations.by_ref().take(AT_ONCE) {
                let case = request.case(&conversation?);
                let ends = case.is_err() && !returns;
                cases.push(case);
                if ends {
                    break;
                }
            }
            if cases.is_empty() {
                return Ok(prompts);
            }
            py.check_signals()?;
            self.with(py, front, None, |compiled| {
                let outcomes: Vec<PyResult<Outcome>> = py.detach(|| {
                    pool.install(|| {
                        let cases = cases.into_par_iter();
                        cases
                            .map(|case| case.map(|case| compiled.outcome(case)))
                            .collect()
                    })
                });
                for outcome in outcomes {
                    let prompt = outcome
                        .and_then(|outcome| errors::prompt(py, outcome, || compiled.column()))
                        .map_err(|error| errors::of_conversation(py, error, prompts.len()));
                    match prompt {
                        Ok(prompt) => prompts.append(prompt)?,
                        Err(error) if returns && is_refusal(py, &error)? => {
                            prompts.append(error.into_value(py))?;
                        }
                        Err(error) => return Err(error),
                    }
                }
                Ok(())
            })?;
        }
    }

    /// Say where each byte of a prompt comes from. The arguments are those of :meth:`render`.
    ///
    /// >>> import rolecall
    /// >>> template = rolecall.Template("<{{ messages[0].role }}>{{ messages[0].content | trim }}")
    /// >>> trace = template.trace([{"role": "user", "content": " Hi "}])
    /// >>> trace.prompt
    /// '<user>Hi'
    /// >>> trace.spans[-1].input
    /// {'kind': 'message', 'path': 'messages[0].content', 'start': 1, 'end': 3}
    #[pyo3(
        signature = (messages, tools=None, documents=None, add_generation_prompt=None,
            continue_final_message=None, *, front=None, now=None, **variables),
        text_signature = "($self, messages, tools=None, documents=None, \
            add_generation_prompt=True, continue_final_message=False, *, front=None, now=None, \
            **variables)"
    )]
    #[expect(clippy::too_many_arguments, reason = "callers name most of them")]
    fn trace<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'py, PyAny>,
        tools: Option<&Bound<'py, PyAny>>,
        documents: Option<&Bound<'py, PyAny>>,
        add_generation_prompt: Option<&Bound<'py, PyAny>>,
        continue_final_message: Option<&Bound<'py, PyAny>>,
        front: Option<&str>,
        now: Option<&Bound<'py, PyAny>>,
        variables: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = Options {
            tools,
            documents,
            add_generation_prompt,
            continue_final_message,
            now,
            variables,
        };
        let front = self.front_of(py, front)?;
        let case = self.case(py, messages, &options)?;
        let json = trace::trace(py, &self.model, &self.limits, front, case)?;
        py.import("rolecall.trace")?.call_method1("read", (json,))
    }

    /// Say what the model writes of a prompt: the text that it is trained on. The arguments are those
    /// of :meth:`render`. A list of conversations gives a list of masks, made on all cores.
    ///
    /// >>> import rolecall
    /// >>> template = rolecall.Template(
    /// ...     "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}"
    /// ...     "{% if add_generation_prompt %}<assistant>{% endif %}")
    /// >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    /// >>> template.mask(talk, add_generation_prompt=False).texts
    /// ['Hello</s>']
    #[pyo3(
        signature = (messages, tools=None, documents=None, add_generation_prompt=None,
            continue_final_message=None, *, front=None, now=None, **variables),
        text_signature = "($self, messages, tools=None, documents=None, \
            add_generation_prompt=True, continue_final_message=False, *, front=None, now=None, \
            **variables)"
    )]
    #[expect(clippy::too_many_arguments, reason = "callers name most of them")]
    fn mask<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'py, PyAny>,
        tools: Option<&Bound<'py, PyAny>>,
        documents: Option<&Bound<'py, PyAny>>,
        add_generation_prompt: Option<&Bound<'py, PyAny>>,
        continue_final_message: Option<&Bound<'py, PyAny>>,
        front: Option<&str>,
        now: Option<&Bound<'py, PyAny>>,
        variables: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = Options {
            tools,
            documents,
            add_generation_prompt,
            continue_final_message,
            now,
            variables,
        };
        let front = self.front_of(py, front)?;
        let request = self.request(py, None, &options)?;
        let module = py.import("rolecall.mask")?;
        let find = |cases, first| mask::masks(py, &self.model, &self.limits, front, cases, first);
        if !request::is_batch(messages)? {
            let json = find(vec![request.into_case(messages)?], None)?;
            return module.call_method1("read", (json,))?.get_item(0);
        }
        let masks = PyList::empty(py);
        let mut bar = LateBar::new(messages.len().ok(), "masking", "conversations");
        let mut conversations = messages.try_iter()?;
        loop {
            let first = masks.len();
            bar.at(first);
            let mut cases = Vec::new();
            for conversation in conversations.by_ref().take(AT_ONCE) {
                let case = request.case(&conversation?);
                let index = first + cases.len();
                cases.push(case.map_err(|error| errors::of_conversation(py, error, index))?);
            }
            if cases.is_empty() {
                return Ok(masks.into_any());
            }
            masks.call_method1(
                "extend",
                (module.call_method1("read", (find(cases, Some(first))?,))?,),
            )?;
        }
    }

    /// Say which places of the template some cases reach. A case is a conversation, or a mapping with
    /// the arguments of :meth:`render`.
    ///
    /// >>> import rolecall
    /// >>> template = rolecall.Template("{% if tools %}tools{% endif %}{{ messages[0].content }}")
    /// >>> coverage = template.cover([[{"role": "user", "content": "Hi"}]])
    /// >>> coverage.share
    /// 0.666...
    /// >>> coverage.missing
    /// [<rolecall.Place condition at 1:7: never true>]
    #[pyo3(signature = (cases, *, front=None))]
    fn cover<'py>(
        slf: &Bound<'py, Self>,
        cases: &Bound<'py, PyAny>,
        front: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("rolecall.coverage")?;
        module.call_method1("cover", (slf, cases, front))
    }

    /// Make the report card, as ``rolecall check`` makes it.
    ///
    /// ``select`` names the contracts to judge by, and ``ignore`` those that do not count. ``like``
    /// is a template, or a place for :func:`rolecall.load`: the card then says where this template
    /// is not like that one. ``served`` is True for what all known applications that serve models make
    /// of conversations, or the names of some, such as ``["vllm", "sglang"]``.
    ///
    /// >>> import rolecall
    /// >>> card = rolecall.Template("{{ messages[-1].content }}").check(select="messages-kept")
    /// >>> card.errors[0].severity
    /// 'error'
    #[pyo3(signature = (*, select=None, ignore=None, like=None, served=None, conversations=None))]
    fn check<'py>(
        slf: &Bound<'py, Self>,
        select: Option<&Bound<'py, PyAny>>,
        ignore: Option<&Bound<'py, PyAny>>,
        like: Option<&Bound<'py, PyAny>>,
        served: Option<&Bound<'py, PyAny>>,
        conversations: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("rolecall.card")?;
        let arguments = (slf, select, ignore, like, served, conversations);
        module.call_method1("check", arguments)
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.model.name.as_str()
    }

    /// Whether the model brings a response template, by which answers can be read.
    #[getter]
    fn reads_answers(&self) -> bool {
        self.model.response_template.is_some()
    }

    /// The source. If there are several templates, it is the source of the default one.
    #[getter]
    fn source(&self) -> &str {
        &self.model.source
    }

    /// The language of the source: `jinja` or `go`.
    #[getter]
    fn dialect(&self) -> &'static str {
        self.model.dialect.name()
    }

    /// The front of the template's users, such as `transformers`.
    #[getter]
    fn front(&self) -> &'static str {
        self.front.name()
    }

    /// The special tokens by name.
    #[getter]
    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tokens = PyDict::new(py);
        for (name, token) in &self.model.special_tokens {
            if let Some(token) = token.as_str() {
                tokens.set_item(name, token)?;
            }
        }
        Ok(tokens)
    }

    /// The sources of a model's templates by name, if it has several; otherwise empty.
    #[getter]
    fn templates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let templates = PyDict::new(py);
        for (name, source) in self.model.sources_by_name() {
            templates.set_item(name, source)?;
        }
        Ok(templates)
    }

    /// Read the answer of a model as a message, as ``parse_response`` of transformers 5.24 reads it.
    ///
    /// ``prefix`` is the prompt, because templates often write the beginning of an answer; an empty
    /// text says that there is none. ``tools`` give the arguments of calls their types. ``schema`` is
    /// a response template; without it, the model's own is used. A list of answers gives a list of
    /// messages. Answers and prefixes may also be token ids, in lists, arrays or tensors: then
    /// ``tokenizer`` turns them into texts. It has a method ``decode``, or is such a function.
    ///
    /// >>> import rolecall
    /// >>> template = rolecall.Template(
    /// ...     "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant><think>",
    /// ...     response_template={
    /// ...         "start_anchor": "<assistant>",
    /// ...         "fields": {"thinking": {"open": "<think>", "close": "</think>"}, "content": {}},
    /// ...     },
    /// ... )
    /// >>> prompt = template.apply_chat_template([{"role": "user", "content": "Hi"}])
    /// >>> template.parse_response("Greet back.</think>Hello!", prefix=prompt)
    /// {'thinking': 'Greet back.', 'content': 'Hello!'}
    ///
    /// :raises ResponseError: if the answer does not fit the response template.
    #[pyo3(signature = (response, schema=None, *, prefix=None, tools=None, tokenizer=None))]
    fn parse_response<'py>(
        &self,
        py: Python<'py>,
        response: &Bound<'py, PyAny>,
        schema: Option<&Bound<'py, PyAny>>,
        prefix: Option<&Bound<'py, PyAny>>,
        tools: Option<&Bound<'py, PyAny>>,
        tokenizer: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let template = response::template(py, schema, self.model.response_template.as_ref())?;
        let response = &response::decoded(response, tokenizer)?;
        // As in transformers, an empty list says that there is no prefix.
        let as_text = |prefix: &Bound<'py, PyAny>| {
            let text = response::decoded(prefix, tokenizer)?;
            let is_empty = text.len()? == 0;
            Ok::<_, PyErr>(if is_empty {
                PyString::new(py, "").into_any()
            } else {
                text
            })
        };
        let prefix = prefix
            .filter(|prefix| !prefix.is_none())
            .map(as_text)
            .transpose()?;
        let prefix = prefix.as_ref();
        let one = |response: &Bound<'py, PyString>, prefix: Option<&Bound<'py, PyAny>>| {
            let prefix = prefix
                .map(|prefix| text(prefix.cast::<PyString>()?))
                .transpose()?;
            let stream = response::begin(py, &template, prefix.as_deref(), tools)?;
            response::finish(py, stream, &text(response)?)
        };
        if let Ok(response) = response.cast::<PyString>() {
            return Ok(one(response, prefix)?.into_any());
        }
        let messages = PyList::empty(py);
        let several = prefix.and_then(|prefix| prefix.cast::<PyList>().ok());
        let count = response.len()?;
        if several.is_some_and(|prefixes| prefixes.len() != count) {
            return Err(refused(
                py,
                "there are more answers or prefixes than of the other",
            ));
        }
        for (index, response) in response.try_iter()?.enumerate() {
            let prefix = match several {
                Some(prefixes) => Some(prefixes.get_item(index)?),
                None => prefix.cloned(),
            };
            messages.append(one(response?.cast::<PyString>()?, prefix.as_ref())?)?;
        }
        Ok(messages.into_any())
    }

    /// Return a parser that reads an answer piece by piece, as ``get_response_parser`` of
    /// transformers 5.24 does.
    ///
    /// >>> import rolecall
    /// >>> template = rolecall.Template("{{ messages[0].content }}", response_template={
    /// ...     "start_anchor": "<assistant>", "fields": {"content": {"close": "</s>"}}})
    /// >>> parser = template.get_response_parser(prefix="")
    /// >>> [event["text"] for event in parser.feed("Hello!</") if "text" in event]
    /// ['Hello!']
    /// >>> parser.feed("s>")[-1]["value"]
    /// 'Hello!'
    /// >>> parser.finalize()
    /// ({'content': 'Hello!'}, [])
    #[pyo3(signature = (response_template=None, *, prefix=None, tools=None))]
    fn get_response_parser(
        &self,
        py: Python<'_>,
        response_template: Option<&Bound<'_, PyAny>>,
        prefix: Option<&str>,
        tools: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<ResponseParser> {
        let own = self.model.response_template.as_ref();
        let template = response::template(py, response_template, own)?;
        let stream = response::begin(py, &template, prefix, tools)?;
        Ok(ResponseParser::of(stream))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let module = py.import("rolecall._rolecall")?;
        Ok((module.getattr("restore")?, (self.state()?,)))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<Template>();
        other.is_ok_and(|other| {
            let other = other.get();
            self.model == other.model && self.limits == other.limits
        })
    }

    /// The same in every process.
    fn __hash__(&self) -> PyResult<u64> {
        let checksum = Checksum::of(self.state()?).to_string();
        Ok(u64::from_str_radix(&checksum, 16).unwrap_or_default())
    }

    fn __repr__(&self) -> String {
        format!(
            "<rolecall.Template '{}', {}, for {}>",
            self.model.name, self.model.dialect, self.front
        )
    }
}

/// Whether an exception says why there is no prompt.
fn is_refusal(py: Python<'_>, error: &PyErr) -> PyResult<bool> {
    let class = py.import("rolecall.errors")?.getattr("RolecallError")?;
    Ok(error.matches(py, class)?)
}

/// Takes off the arguments that ask for a text, as this method always returns one. Refuses those
/// that ask for tokens.
fn refuse_tokens(variables: &Bound<'_, PyDict>) -> PyResult<()> {
    for (name, why) in [
        (
            "tokenize",
            "the prompt is a text here: hand it to your tokenizer with add_special_tokens=False",
        ),
        (
            "sanitize_control_tokens",
            "only a tokenizer can keep control tokens of users apart",
        ),
    ] {
        if let Some(value) = variables.get_item(name)? {
            if value.is_truthy()? {
                let why = format!("`{name}` has to be False: {why}");
                return Err(refused(variables.py(), &why));
            }
            variables.del_item(name)?;
        }
    }
    Ok(())
}
