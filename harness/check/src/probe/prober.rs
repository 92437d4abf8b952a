//! Rendering probes with a template.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use rolecall_core::guard;
use rolecall_core::{
    Case, Dialect, Engine, Hits, Limit, Limits, Observer, Outcome, Site, Template, UnknownName,
};

use super::catalogue::{CALL_RESULT, USER};
use super::comments::{code, without_comments};
use super::decided::Decided;
use super::definition::Probe;
use super::input::{ProbeInput, ProbeInputs, ProbeVariant, Setting, Unread};
use super::input_style::{Arguments, Content, InputStyle, Requirement};
use super::masked::{MaskedProbe, MaskedProbes};
use super::outcome::{Examined, ProbeOutcome};
use super::reading::{AnswerProber, NoReadings, Readings};
use super::words;
use crate::published::Index;
use crate::tokenizer::Tokenizer;
use rolecall_answers::mask::{NoMask, joined};
use rolecall_answers::masker::Masker;
use rolecall_core::lines::Lines;
use rolecall_front::front::{Change, Front};
use rolecall_front::prepared_case::PreparedCase;
use rolecall_front::program::FrontProgram;
use rolecall_jinja::Reading;

/// A template under examination, with a front.
pub struct Prober<'t> {
    program: Rc<FrontProgram<'t>>,
    /// The prepared probes, shared with other templates.
    inputs: &'t ProbeInputs,
    /// The renders of the template so far, with this front or another.
    renders: Rc<RefCell<Renders>>,
    tokenizer: Option<&'t Tokenizer>,
    /// The published templates that it is compared with, if not those that come with Rolecall.
    index: Option<&'t Index>,
    front: Front,
    input_style: InputStyle,
    /// What a user sets, and its number among the settings of the inputs.
    setting: Option<(usize, Setting)>,
    seen: RefCell<HashMap<ProbeVariant, Seen>>,
    /// The outcomes of conversations that are not in the catalogue.
    asked: RefCell<Vec<Rc<ProbeOutcome>>>,
    /// The probes that were looked at since somebody asked.
    looked: RefCell<Vec<(Probe, ProbeVariant, IsPrepared)>>,
    /// What is known of the template's source, found out on first use.
    source: Rc<OnceCell<Source>>,
    /// What the template does not read, found out on first use.
    unread: Rc<OnceCell<Unread>>,
    /// Parsed answers, found out on first use.
    readings: OnceCell<Rc<Readings>>,
    /// What content decides, found out on first use.
    decided: OnceCell<Rc<Decided>>,
    /// What a model learns of probes, found out on first use.
    masked: OnceCell<Rc<MaskedProbes>>,
    /// How many probes exceeded the limits, and the limit that the last of them exceeded.
    exceeded: Cell<(usize, Option<Limit>)>,
    /// The panics of examinations of the template, with this front or another.
    internal_errors: Rc<RefCell<Vec<String>>>,
}

/// Whether the front prepares a probe for the template, found out on first use.
type IsPrepared = Rc<OnceCell<bool>>;

type Seen = (Rc<ProbeOutcome>, IsPrepared);

/// What is known of a template's source.
struct Source {
    lines: Lines,
    without_comments: String,
    code: String,
    reading: Option<Reading>,
}

/// After so many probes beyond the limits, the template is not rendered any more.
const MOST_EXCEEDED: usize = 5;

/// The largest prompt of a probe, in bytes. Probes are short, and their prompts stay in memory.
const LARGEST_PROMPT: usize = 256 << 10;

/// Renders, each with the variant of the probe that was rendered first.
type Renders = HashMap<RenderKey, (ProbeVariant, Rc<ProbeOutcome>)>;

/// Everything that a render depends on. Probes that look the same to the template are rendered
/// once.
#[derive(Debug, PartialEq, Eq, Hash)]
struct RenderKey {
    number: usize,
    /// Whether the front selects another of the model's templates.
    is_of_other: bool,
    /// Whether this is a second render, to be compared with the first.
    is_again: bool,
}

impl<'t> Prober<'t> {
    /// Loads a template, and finds out the input style in which it accepts probes with its front.
    pub fn new(
        engine: &'t dyn Engine,
        template: &'t Template,
        inputs: &'t ProbeInputs,
    ) -> Prober<'t> {
        Prober {
            program: Rc::new(FrontProgram::load(engine, template)),
            inputs,
            renders: Rc::default(),
            tokenizer: None,
            index: None,
            front: Front::of(template),
            input_style: InputStyle::PLAIN,
            setting: None,
            seen: RefCell::default(),
            asked: RefCell::default(),
            looked: RefCell::default(),
            source: Rc::default(),
            unread: Rc::default(),
            readings: OnceCell::new(),
            decided: OnceCell::new(),
            masked: OnceCell::new(),
            exceeded: Cell::default(),
            internal_errors: Rc::default(),
        }
        .finding_its_input_style()
    }

    /// The same template without a front, as users of servers without one get it.
    #[must_use]
    pub fn without_front(&'t self) -> Prober<'t> {
        Prober {
            tokenizer: None,
            front: Front::Raw,
            input_style: InputStyle::PLAIN,
            setting: None,
            exceeded: Cell::default(),
            ..self.again()
        }
        .finding_its_input_style()
    }

    /// The same template for a user who sets a variable.
    #[must_use]
    pub(crate) fn with_setting(&self, setting: &Setting) -> Prober<'t> {
        let number = self.inputs.number_of(setting);
        Prober {
            setting: Some((number, setting.clone())),
            ..self.again()
        }
    }

    /// The same template, seen in the same way.
    #[must_use]
    pub(crate) fn again(&self) -> Prober<'t> {
        Prober {
            program: Rc::clone(&self.program),
            inputs: self.inputs,
            renders: Rc::clone(&self.renders),
            tokenizer: self.tokenizer,
            index: self.index,
            front: self.front,
            input_style: self.input_style,
            setting: self.setting.clone(),
            // The keys of these do not have the front, which may be another one here.
            seen: RefCell::default(),
            asked: RefCell::default(),
            looked: RefCell::default(),
            source: Rc::clone(&self.source),
            unread: Rc::clone(&self.unread),
            readings: OnceCell::new(),
            decided: OnceCell::new(),
            masked: OnceCell::new(),
            exceeded: self.exceeded.clone(),
            internal_errors: Rc::clone(&self.internal_errors),
        }
    }

    /// The same template with other limits, asked in the same input style. None if its engine
    /// cannot change them.
    #[must_use]
    pub(crate) fn within(&self, limits: &Limits) -> Option<Prober<'t>> {
        Some(Prober {
            program: Rc::new(self.program.within(limits)?),
            // What exceeds these limits may be within the others, so neither outcomes nor their count
            // are shared.
            renders: Rc::default(),
            tokenizer: None,
            front: Front::of(self.template()),
            setting: None,
            exceeded: Cell::default(),
            ..self.again()
        })
    }

    /// Finds out the input style in which the template accepts probes.
    fn finding_its_input_style(mut self) -> Prober<'t> {
        let prober = &mut self;
        // The plainest first: a template that needs no tools should be asked without any.
        let input_styles = [
            Requirement::Nothing,
            Requirement::Tools,
            Requirement::Documents,
        ]
        .into_iter()
        .flat_map(|given| {
            [Content::String, Content::Parts].map(|content| InputStyle {
                given,
                content,
                ..InputStyle::PLAIN
            })
        });
        for input_style in input_styles {
            let seen = prober.see_in(USER, input_style);
            if seen.has(words::USER) {
                prober.input_style = input_style;
                break;
            }
            // Each further style would take as long.
            if seen.is_out_of_limits() {
                return self;
            }
        }
        // An object first, as the documentation of transformers writes calls; many templates take both
        // forms.
        if !prober.see(CALL_RESULT).has(words::FIRST_VALUE) {
            let text = InputStyle {
                arguments: Arguments::String,
                ..prober.input_style
            };
            if prober.see_in(CALL_RESULT, text).has(words::FIRST_VALUE) {
                prober.input_style = text;
            }
        }
        if prober.see(CALL_RESULT).is_refused() {
            let said = InputStyle {
                beside_calls: words::BESIDE_CALLS,
                ..prober.input_style
            };
            if prober.see_in(CALL_RESULT, said).has(words::FIRST_VALUE) {
                prober.input_style = said;
            }
        }
        self
    }

    /// Runs a part of the examination of the template. A panic costs this part only.
    pub(crate) fn contained<T>(&self, part: &str, run: impl FnOnce() -> T) -> Option<T> {
        let internal_error = |why: String| {
            let mut all = self.internal_errors.borrow_mut();
            let sentence = guard::internal_error(part, &why);
            if !all.contains(&sentence) {
                all.push(sentence);
            }
        };
        guard::catch(run).map_err(internal_error).ok()
    }

    /// A sentence for each part of the examination in which there was a panic.
    pub(crate) fn internal_errors(&self) -> Vec<String> {
        self.internal_errors.borrow().clone()
    }

    /// The same, asked in another input style.
    #[must_use]
    pub(crate) fn with_input_style(self, input_style: InputStyle) -> Prober<'t> {
        Prober {
            input_style,
            ..self
        }
    }

    /// The same, with the tokenizer of the model.
    #[must_use]
    pub(crate) fn with_tokenizer(self, tokenizer: Option<&'t Tokenizer>) -> Prober<'t> {
        Prober { tokenizer, ..self }
    }

    /// The same, compared with the published templates of an index.
    #[must_use]
    pub(crate) fn with_index(self, index: Option<&'t Index>) -> Prober<'t> {
        Prober { index, ..self }
    }

    /// The index of published templates, if it is not the one that comes with Rolecall.
    pub(crate) fn index(&self) -> Option<&'t Index> {
        self.index
    }

    /// The front that prepares the probes.
    pub(crate) fn front(&self) -> Front {
        self.front
    }

    /// The tokenizer of the model, if there is one.
    pub fn tokenizer(&self) -> Option<&'t Tokenizer> {
        self.tokenizer
    }

    pub fn template(&self) -> &'t Template {
        self.program.template
    }

    /// Its source, the comments left out.
    pub(crate) fn source_without_comments(&self) -> &str {
        &self
            .source
            .get_or_init(|| self.read_source())
            .without_comments
    }

    /// The code in its source: the content of its tags, without texts of several words.
    pub(crate) fn code(&self) -> &str {
        &self.source.get_or_init(|| self.read_source()).code
    }

    /// The content of its source. None if it cannot be read, or is for Ollama.
    pub(crate) fn reading(&self) -> Option<&Reading> {
        let source = self.source.get_or_init(|| self.read_source());
        source.reading.as_ref()
    }

    fn read_source(&self) -> Source {
        let template = self.template();
        let without_comments = without_comments(template);
        Source {
            lines: Lines::of(&template.source),
            code: code(&without_comments),
            without_comments,
            reading: match template.dialect {
                Dialect::Jinja => rolecall_jinja::read(&template.source),
                Dialect::Go => None,
            },
        }
    }

    pub fn dialect(&self) -> Dialect {
        self.program.template.dialect
    }

    /// The input style of the probes for the template.
    pub(crate) fn input_style(&self) -> InputStyle {
        self.input_style
    }

    /// What the template makes of a probe.
    pub fn see(&self, probe: Probe) -> Rc<ProbeOutcome> {
        self.see_in(probe, self.input_style)
    }

    /// The outcome of a probe in another input style.
    pub(crate) fn see_in(&self, probe: Probe, input_style: InputStyle) -> Rc<ProbeOutcome> {
        self.seen(probe, input_style, false)
    }

    /// What the template makes of a probe at another time of another year.
    pub(crate) fn see_later(&self, probe: Probe) -> Rc<ProbeOutcome> {
        self.seen(probe, self.input_style, true)
    }

    fn seen(&self, probe: Probe, input_style: InputStyle, is_later: bool) -> Rc<ProbeOutcome> {
        let variant = ProbeVariant {
            probe: probe.name,
            input_style,
            is_later,
            setting: self.setting_number(),
        };
        let known = self.seen.borrow().get(&variant).cloned();
        let (seen, is_prepared) = known.unwrap_or_else(|| {
            let seen = (self.look(probe, variant, false), Rc::default());
            self.seen.borrow_mut().insert(variant, seen.clone());
            seen
        });
        let mut looked = self.looked.borrow_mut();
        looked.push((probe, variant, is_prepared));
        seen
    }

    /// What the template makes of a probe, from an earlier render if there is one.
    fn look(&self, probe: Probe, variant: ProbeVariant, is_again: bool) -> Rc<ProbeOutcome> {
        let input = self
            .inputs
            .of(variant, probe, self.front, &self.program.model);
        let Some(render) = self.render_of(&input, is_again) else {
            return self.look_with(&self.program, probe, &input);
        };
        let known = self.renders.borrow().get(&render).cloned();
        match known {
            Some((as_what, known)) if as_what == variant => known,
            Some((_, known)) => {
                let asked = Arc::clone(&input.asked);
                Rc::new(known.of_twin(probe.name, probe.about, asked))
            }
            None => {
                let seen = self.look_with(&self.program, probe, &input);
                let mut renders = self.renders.borrow_mut();
                renders.insert(render, (variant, Rc::clone(&seen)));
                seen
            }
        }
    }

    /// Renders a probe with a program.
    fn look_with(
        &self,
        program: &FrontProgram<'_>,
        probe: Probe,
        input: &ProbeInput,
    ) -> Rc<ProbeOutcome> {
        let outcome = self.render(program, input);
        let asked = Arc::clone(&input.asked);
        Rc::new(ProbeOutcome::new(probe.name, probe.about, asked, outcome))
    }

    /// The key of an input's render. None for an engine that is an application itself, because its
    /// input is not what templates see.
    fn render_of(&self, input: &ProbeInput, is_again: bool) -> Option<RenderKey> {
        let unread = *self.unread.get_or_init(|| self.unread());
        let number = input
            .number(unread)
            .filter(|_| !self.program.has_fronts())?;
        Some(RenderKey {
            number,
            is_of_other: self.front.chooses_other(self.template(), &input.asked),
            is_again,
        })
    }

    /// Whether one of the probes that were looked at since the last such question is another
    /// conversation to the template if no front prepares it.
    pub(crate) fn looked_at_prepared(&self) -> bool {
        let looked = std::mem::take(&mut *self.looked.borrow_mut());
        let unread = *self.unread.get_or_init(|| self.unread());
        let number = |probe, variant, front| {
            let input = self.inputs.of(variant, probe, front, &self.program.model);
            input.number(unread)
        };
        looked.into_iter().any(|(probe, variant, is_prepared)| {
            *is_prepared.get_or_init(|| {
                let prepared = number(probe, variant, self.front);
                prepared.is_none() || prepared != number(probe, variant, Front::Raw)
            })
        })
    }

    /// What the template does not read: what its source does not name at all. Another template of
    /// its model may read it.
    fn unread(&self) -> Unread {
        let template = self.template();
        if template.dialect != Dialect::Jinja || !template.named.is_empty() {
            return Unread::default();
        }
        let source = self.source_without_comments();
        Unread {
            tools: !source.contains("tools"),
            documents: !source.contains("documents"),
            generation_prompt: !source.contains("add_generation_prompt"),
        }
    }

    /// How a probe is put to the template, if nothing else is said.
    fn usual(&self, probe: Probe) -> ProbeVariant {
        ProbeVariant {
            probe: probe.name,
            input_style: self.input_style,
            is_later: false,
            setting: self.setting_number(),
        }
    }

    fn setting_number(&self) -> Option<usize> {
        self.setting.as_ref().map(|(number, _)| *number)
    }

    /// Renders a probe a second time.
    pub(crate) fn see_again(&self, probe: Probe) -> Rc<ProbeOutcome> {
        self.look(probe, self.usual(probe), true)
    }

    /// What the template makes of a probe for a caller who does not define a variable, such as
    /// `tools`. None where the engine always defines it.
    pub(crate) fn see_without(
        &self,
        probe: Probe,
        variable: &'static str,
    ) -> Option<Rc<ProbeOutcome>> {
        let (variant, model) = (self.usual(probe), &self.program.model);
        let input = self.inputs.of(variant, probe, self.front, model);
        let rendered = || {
            let outcome = self.program.outcome_without(variable, &input.input)?;
            Some(self.counted(outcome))
        };
        let outcome = self.spent().or_else(rendered)?;
        let asked = Arc::clone(&input.asked);
        let seen = ProbeOutcome::new(probe.name, probe.about, asked, outcome);
        Some(Rc::new(seen))
    }

    /// What the template makes of a conversation that is not in the catalogue.
    pub fn ask(&self, name: &'static str, about: &'static str, case: Case) -> Rc<ProbeOutcome> {
        let mut case = self.input_style.complete(case);
        if let Some((_, Setting { name, value })) = &self.setting {
            case.variables.insert(name.clone(), value.clone());
        }
        let seen = self.answer(name, about, case);
        self.asked.borrow_mut().push(Rc::clone(&seen));
        seen
    }

    /// The same for a part of a probe's conversation, which is in the template's input style
    /// already.
    pub(crate) fn answer(
        &self,
        name: &'static str,
        about: &'static str,
        case: Case,
    ) -> Rc<ProbeOutcome> {
        let input = ProbeInput::new(case, self.front, &self.program.model);
        let outcome = self.render(&self.program, &input);
        Rc::new(ProbeOutcome::new(name, about, input.asked, outcome))
    }

    /// What users of an application get of a conversation that was asked, perhaps without one of the
    /// application's changes.
    pub(crate) fn see_served(
        &self,
        own: &ProbeOutcome,
        asked: &Arc<Case>,
        front: Front,
        without: Option<&'static Change>,
    ) -> ProbeOutcome {
        let outcome = self.spent().unwrap_or_else(|| {
            let model = &self.program.model;
            let input = match without {
                None => PreparedCase::new(asked, front, model),
                Some(change) => PreparedCase::without(asked, front, model, change),
            };
            self.counted(self.program.outcome(&input))
        });
        ProbeOutcome::new(own.probe, own.about, Arc::clone(asked), outcome)
    }

    /// The changes that an application makes to a conversation that was asked.
    pub(crate) fn served_changes(&self, asked: &Case, front: Front) -> Vec<&'static Change> {
        front.changes(asked, &self.program.model)
    }

    /// What the template makes of a conversation that is not in the catalogue, and which of its places
    /// that reaches. No places are known if the front picks another template of the model.
    pub(crate) fn covered(&self, case: Case) -> (Outcome, Option<Hits>) {
        let case = self.input_style.complete(case);
        let input = PreparedCase::new(&case, self.front, &self.program.model);
        if let Some(outcome) = self.spent() {
            return (outcome, None);
        }
        let (outcome, hits) = self.program.covered(&input);
        (self.counted(outcome), hits)
    }

    /// What the template makes of a conversation that is not in the catalogue, and what it looks at.
    pub(crate) fn examine(&self, name: &'static str, about: &'static str, case: Case) -> Examined {
        let case = self.input_style.complete(case);
        let input = ProbeInput::new(case, self.front, &self.program.model);
        let mut examination = Observer::default();
        let outcome = self.spent().unwrap_or_else(|| {
            let (outcome, found) = self.program.examined(&input.input);
            examination = found;
            self.counted(outcome)
        });
        if !matches!(outcome, Outcome::Rendered { .. }) {
            examination.spans = None;
        }
        Examined {
            seen: Rc::new(ProbeOutcome::new(name, about, input.asked, outcome)),
            spans: examination.spans,
            decisions: examination.decisions,
        }
    }

    /// The outcomes of all conversations so far that were written in the template's own input
    /// style.
    pub fn asked(&self) -> Vec<Rc<ProbeOutcome>> {
        let seen = self.seen.borrow();
        let usual = seen
            .iter()
            .filter(|(variant, _)| variant.input_style == self.input_style && !variant.is_later)
            .map(|(_, (seen, _))| Rc::clone(seen));
        usual.chain(self.asked.borrow().iter().cloned()).collect()
    }

    /// The prompt of a probe, and where the model's own text is in it.
    pub fn own_text(&self, probe: Probe) -> Option<(String, Vec<Range<usize>>)> {
        if self.see(probe).is_out_of_limits() {
            return None;
        }
        let (variant, model) = (self.usual(probe), &self.program.model);
        let input = self.inputs.of(variant, probe, self.front, model);
        self.program.own_text(&input.input)
    }

    /// What a template with another source, but the same tokens and variables, makes of probes. If
    /// the engine reads both sources alike, nothing is rendered again.
    pub fn with_source(&self, source: &str, probes: &[Probe]) -> Vec<Rc<ProbeOutcome>> {
        let own = self.template();
        if self.program.engine.reads_alike(source, &own.source) {
            return probes.iter().map(|probe| self.see(*probe)).collect();
        }
        let template = Template {
            source: source.to_owned(),
            ..own.clone()
        };
        let program = FrontProgram::load(self.program.engine, &template);
        let look = |probe: &Probe| {
            let (variant, model) = (self.usual(*probe), &program.model);
            let input = self.inputs.of(variant, *probe, self.front, model);
            self.look_with(&program, *probe, &input)
        };
        probes.iter().map(look).collect()
    }

    /// Writes answers with the template, and reads them with its response template.
    pub(crate) fn answers(&self) -> Result<AnswerProber<'_, 't>, NoReadings> {
        AnswerProber::new(&self.program, self.input_style)
    }

    /// The parsed answers of all probes.
    pub(crate) fn readings(&self) -> Rc<Readings> {
        let read = || Rc::new(self.answers().map(|answers| answers.all()));
        Rc::clone(self.readings.get_or_init(read))
    }

    /// What content decides, as the first caller finds it out.
    pub(crate) fn decided(&self, find: impl FnOnce() -> Decided) -> Rc<Decided> {
        Rc::clone(self.decided.get_or_init(|| Rc::new(find())))
    }

    /// Whether the template has `{% generation %}` blocks.
    pub(crate) fn has_marks(&self) -> bool {
        self.template().source.contains("endgeneration")
    }

    /// What a model learns of some probes. The first caller names the probes, and later callers get the
    /// same ones.
    pub(crate) fn masked(&self, probes: impl FnOnce() -> Vec<Probe>) -> Rc<MaskedProbes> {
        let find = || Rc::new(self.find_masks(&probes()));
        Rc::clone(self.masked.get_or_init(find))
    }

    fn find_masks(&self, probes: &[Probe]) -> MaskedProbes {
        let seen: Vec<_> = probes
            .iter()
            .map(|probe| (*probe, self.see(*probe)))
            .collect();
        if self.exceeded.get().0 > 0 {
            return Err("some conversations exceed the limits");
        }
        let masker = Masker::new(&self.program);
        let mut found = Vec::new();
        for (probe, seen) in seen {
            match masker.mask(&seen.asked, self.front) {
                Ok(mask) if Some(mask.prompt.as_str()) == seen.text() => {
                    let own = self.has_marks().then(|| self.own_text(probe)).flatten();
                    let own = own.filter(|(text, _)| *text == mask.prompt);
                    let marked = own.map(|(_, spans)| joined(spans));
                    found.push(MaskedProbe { seen, mask, marked });
                }
                Err(NoMask::Untraced) => {
                    return Err("the engine cannot tell where the bytes of a prompt come from");
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// What a program makes of an input.
    fn render(&self, program: &FrontProgram<'_>, input: &ProbeInput) -> Outcome {
        self.spent()
            .unwrap_or_else(|| self.counted(program.outcome(&input.input)))
    }

    /// The outcome of every probe after too many exceeded the limits, because each further render
    /// would take as long.
    fn spent(&self) -> Option<Outcome> {
        match self.exceeded.get() {
            (MOST_EXCEEDED.., Some(limit)) => Some(Outcome::Exceeded { limit }),
            _ => None,
        }
    }

    /// Replaces an outcome whose prompt is too large, and counts those that exceed a limit.
    fn counted(&self, outcome: Outcome) -> Outcome {
        let outcome = match outcome {
            Outcome::Rendered { text } if text.len() > LARGEST_PROMPT => Outcome::Exceeded {
                limit: Limit::Output,
            },
            outcome => outcome,
        };
        if let Outcome::Exceeded { limit } = outcome {
            self.exceeded.set((self.exceeded.get().0 + 1, Some(limit)));
        }
        outcome
    }

    /// The variables that the template reads.
    pub fn variables(&self) -> BTreeSet<String> {
        self.program.without_front().variables()
    }

    /// The line of a byte of the template's source, from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        let source = self.source.get_or_init(|| self.read_source());
        source.lines.line(at)
    }

    /// The places of the template that a render can reach. Empty if the engine cannot tell.
    pub(crate) fn sites(&self) -> Vec<Site> {
        let sites = self.program.without_front().sites();
        sites.unwrap_or_default()
    }

    /// The names in the template that do not exist, if the engine can report them.
    pub fn unknown_names(&self) -> Option<Vec<UnknownName>> {
        self.program.without_front().unknown_names()
    }

    /// Whether the engine cannot read the template.
    pub fn is_unread(&self) -> bool {
        self.program.without_front().refusal().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::catalogue::{
        MISSING_ANSWER, NULL_ANSWER, SYSTEM_TURNS, SYSTEM_USER, TOOLS, TWO_USERS,
    };
    use crate::probe::counting_engine::CountingEngine;
    use rolecall_front::engines::Engines;

    #[test]
    fn a_template_without_measure_is_not_asked_for_long() {
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let limit = |source: &str, probes: &[Probe]| {
            let template = Template::from_source("t", Dialect::Jinja, source);
            let inputs = ProbeInputs::default();
            let prober = Prober::new(engine, &template, &inputs);
            let outcomes: Vec<_> = probes
                .iter()
                .map(|probe| (*prober.see(*probe).outcome).clone())
                .collect();
            (prober.exceeded.get().0, outcomes)
        };
        let output = Outcome::Exceeded {
            limit: Limit::Output,
        };
        let probes = [TWO_USERS, SYSTEM_USER, TOOLS, CALL_RESULT, SYSTEM_TURNS];
        let (count, outcomes) = limit("{{ 'x' * 300000 }}", &probes);
        assert_eq!((count, outcomes), (MOST_EXCEEDED, vec![output.clone(); 5]));
        // A template that exceeds the limits in some conversations only still renders the others.
        let source =
            "{{ messages[0].content }}{% if messages | length > 1 %}{{ 'x' * 300000 }}{% endif %}";
        let (count, outcomes) = limit(source, &[USER, TWO_USERS, USER]);
        assert!(count < MOST_EXCEEDED, "{outcomes:?}");
        assert_eq!(outcomes[1], output);
        assert_eq!(outcomes[0].kind(), rolecall_core::OutcomeKind::Rendered);
    }

    #[test]
    fn a_conversation_is_rendered_once_whatever_it_is_called() {
        let template = Template::from_source("t", Dialect::Jinja, "");
        let (engine, inputs) = (CountingEngine::default(), ProbeInputs::default());
        let prober = Prober::new(&engine, &template, &inputs);
        let begun = engine.renders();
        let since = || engine.renders() - begun;
        // transformers drops null values.
        let (null, missing) = (prober.see(NULL_ANSWER), prober.see(MISSING_ANSWER));
        assert_eq!(
            (null.probe, missing.probe),
            (NULL_ANSWER.name, MISSING_ANSWER.name)
        );
        assert_eq!((&null.outcome, since()), (&missing.outcome, 1));
        assert_ne!(null.asked.messages, missing.asked.messages);
        // Without a front the template receives it.
        let alone = prober.without_front();
        assert_eq!(
            (
                alone.see(MISSING_ANSWER).outcome == missing.outcome,
                since()
            ),
            (true, 1)
        );
        assert_eq!(
            (alone.see(NULL_ANSWER).outcome == null.outcome, since()),
            (false, 2)
        );
        // A second render and another day are rendered again.
        assert_eq!(
            (
                prober.see_again(MISSING_ANSWER).outcome == missing.outcome,
                since()
            ),
            (true, 3)
        );
        prober.see_later(MISSING_ANSWER);
        assert_eq!(since(), 4);
    }

    #[test]
    fn what_is_asked_is_written_down_once_for_all_templates() {
        let (engine, inputs) = (CountingEngine::default(), ProbeInputs::default());
        let asked = ["one", "other"].map(|source| {
            let template = Template::from_source("t", Dialect::Jinja, source);
            Arc::clone(&Prober::new(&engine, &template, &inputs).see(TOOLS).asked)
        });
        assert!(Arc::ptr_eq(&asked[0], &asked[1]));
    }
}
