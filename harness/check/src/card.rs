//! The report card of a template: what it can do, and which contracts it keeps or breaks.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use rolecall_core::guard::{self, on_large_stack};
use rolecall_core::{Dialect, Engine, Template};
use serde::Serialize;

use crate::capability::{self, Capabilities, Switch};
use crate::choice::ContractChoice;
use crate::contract::{self, Contract, Finding, Judgement, Render, Severity};
use crate::deciding;
use crate::nearest::{Nearest, Skeleton};
use crate::probe::{ContentComparison, ProbeInputs, Prober, catalogue};
use crate::published::Index;
use crate::roundtrip::{self, Roundtrip};
use crate::served::Served;
use crate::tokenizer::Tokenizer;
use rolecall_front::front::Front;
use rolecall_io::settings::unset_tokens;
use rolecall_io::syntax_error::SyntaxError;

/// What there is to know about a template.
///
/// As JSON: `{"template", "dialect", "front", "engine", "capabilities": {…}, "findings": […]}`,
/// with the fields of [`Capabilities`] and of [`Finding`], and `"alone"`, findings too, where
/// there are any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Card {
    /// The template's name.
    pub template: String,
    /// Its dialect.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub dialect: Dialect,
    /// The front that was before it: what is found is what its users get.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub front: Front,
    /// The engine that rendered it.
    pub engine: String,
    /// Why the engine cannot read it, if so. What else the card says follows from that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syntax_error: Option<SyntaxError>,
    /// Special tokens that the template names and nothing sets, as of a file without its model,
    /// with the values that took their place here.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub assumed: BTreeMap<&'static str, &'static str>,
    /// The published template whose prompts are nearest, if one is near.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
    /// The parts of its prompts, if it is compared with published templates.
    #[serde(skip)]
    pub skeleton: Skeleton,
    /// What it can do.
    pub capabilities: Capabilities,
    /// What content decides: every comparison of content with a literal that a render came to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub content_decides: Vec<ContentComparison>,
    /// Its judgement by every contract, as users of its front get it.
    pub findings: Vec<Finding>,
    /// Contracts that are broken only where no application comes before the template, as on servers
    /// that hand conversations on as they are written.
    #[serde(rename = "alone", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub without_front: Vec<Finding>,
    /// What the response template makes of answers that the chat template writes. Empty without a
    /// response template.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub read_back: Vec<Roundtrip>,
    /// What applications that serve the template make of conversations, if a user asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served: Option<Served>,
}

/// Examines a template. It is compiled once, and rendered about a hundred times.
pub fn examine(engine: &dyn Engine, template: &Template) -> Card {
    examine_with(engine, template, None)
}

/// Examines a template with its model's tokenizer, if there is one.
pub fn examine_with(
    engine: &dyn Engine,
    template: &Template,
    tokenizer: Option<&Tokenizer>,
) -> Card {
    Examiner::default().examine(engine, template, tokenizer)
}

/// Examines one template after the other. All of them share the prepared probes.
#[derive(Default)]
pub struct Examiner {
    inputs: ProbeInputs,
    choice: ContractChoice,
    index: Option<Arc<Index>>,
}

impl Examiner {
    /// An examiner that judges by the chosen contracts alone, and by those that a template's sidecar
    /// explains. It renders only what these need.
    pub fn by(choice: ContractChoice) -> Examiner {
        Examiner {
            choice,
            ..Examiner::default()
        }
    }

    /// The same, comparing with the published templates of an index.
    #[must_use]
    pub fn with_index(self, index: Option<Arc<Index>>) -> Examiner {
        Examiner { index, ..self }
    }

    /// Examines a template. With a tokenizer, the contracts about tokens are judged too.
    pub fn examine(
        &self,
        engine: &dyn Engine,
        template: &Template,
        tokenizer: Option<&Tokenizer>,
    ) -> Card {
        self.examine_by(engine, template, tokenizer, &self.choice)
    }

    /// The same, judged by other contracts.
    pub fn examine_by(
        &self,
        engine: &dyn Engine,
        template: &Template,
        tokenizer: Option<&Tokenizer>,
        choice: &ContractChoice,
    ) -> Card {
        on_large_stack(|| {
            let card = guard::catch(|| self.card(engine, template, tokenizer, choice));
            card.unwrap_or_else(|why| Card::lost(engine, template, &why))
        })
    }

    fn card(
        &self,
        engine: &dyn Engine,
        template: &Template,
        tokenizer: Option<&Tokenizer>,
        choice: &ContractChoice,
    ) -> Card {
        let assumed = assumed_by_card(template);
        let template = &*with_tokens(template, &assumed);
        let prober = Prober::new(engine, template, &self.inputs)
            .with_tokenizer(tokenizer)
            .with_index(self.index.as_deref());
        let explored = prober.contained("capabilities", || capability::explore(&prober));
        let mut capabilities = explored.unwrap_or_else(capability::lost);
        // No contract says more about a template that cannot be read.
        let is_unread = prober.is_unread();
        let is_chosen = |contract: &Contract| {
            // A reason in the sidecar may be out of date, which only a judgement shows.
            let mut explained = template.broken.iter();
            let is_explained = explained.any(|(id, _)| id == contract.id);
            let all = contract::by_id(contract.id);
            is_unread || is_explained || all.is_some_and(|contract| choice.has(contract))
        };
        let prefix_cache = || contract::prefix_cache(&prober, &capabilities, is_chosen);
        capabilities.prefix_cache = prober
            .contained("prefix cache", prefix_cache)
            .unwrap_or_default();
        let judged = contract::judge_for_fronts(&prober, &capabilities, is_chosen);
        // The rest is the same without a front.
        let prepared: Vec<&Contract> = judged
            .iter()
            .filter(|(_, is_prepared)| *is_prepared)
            .map(|(finding, _)| finding.contract)
            .collect();
        let mut findings: Vec<Finding> = judged.into_iter().map(|(finding, _)| finding).collect();
        prober.contained("settings", || {
            add_broken_under_settings(&mut findings, &prober, &capabilities);
        });
        let without_front = || broken_without_front(&prober, &findings, &prepared);
        let without_front = prober.contained("contracts without a front", without_front);
        let read_back = prober.contained("roundtrip", || roundtrip::roundtrips(&prober));
        let of_deciding = |finding: &Finding| contract::is_about_deciding(finding.contract);
        let content_decides = if findings.iter().any(of_deciding) {
            prober.contained("what content decides", || {
                deciding::decided(&prober).comparisons.clone()
            })
        } else {
            None
        };
        // To find it, the template is compiled once more.
        let syntax_error = if is_unread {
            SyntaxError::find(engine, template)
        } else {
            None
        };
        let of_others = |finding: &Finding| contract::is_about_others(finding.contract);
        let skeleton = if findings.iter().any(of_others) {
            prober.contained("published templates", || Skeleton::of(&prober))
        } else {
            None
        };
        let internal_errors = prober.internal_errors();
        if !internal_errors.is_empty() {
            findings.push(Finding::of_internal_errors(internal_errors));
        }
        Card {
            template: template.name.to_string(),
            dialect: template.dialect,
            front: Front::of(template),
            engine: engine.name().to_owned(),
            syntax_error,
            assumed,
            nearest: None,
            skeleton: skeleton.unwrap_or_default(),
            capabilities,
            content_decides: content_decides.unwrap_or_default(),
            findings,
            without_front: without_front.unwrap_or_default(),
            read_back: read_back.unwrap_or_default(),
            served: None,
        }
    }
}

/// Renders what conversations can have as users of these fronts get it.
pub fn served(engine: &dyn Engine, template: &Template, fronts: &[Front]) -> Served {
    on_large_stack(|| {
        let template = with_assumed_tokens(template);
        let inputs = ProbeInputs::default();
        Served::examine(&Prober::new(engine, &template, &inputs), fronts)
    })
}

/// Renders every probe with a template: those in the catalogue, and those that contracts build
/// themselves. A probe that evidence shows is returned as the evidence has it.
pub fn probes(engine: &dyn Engine, template: &Template) -> BTreeMap<&'static str, Render> {
    let template = &*as_examined(template);
    let inputs = ProbeInputs::default();
    let prober = Prober::new(engine, template, &inputs);
    let mut capabilities = capability::explore(&prober);
    capabilities.prefix_cache = contract::prefix_cache(&prober, &capabilities, |_| true);
    let findings = contract::judge(&prober, &capabilities);
    for probe in catalogue::ALL {
        prober.see(*probe);
    }
    let evidence = findings.iter().flat_map(Finding::evidence);
    let shown = evidence.flat_map(|evidence| evidence.renders.iter().cloned());
    let asked = prober.asked().into_iter().map(|seen| Render::of(&seen));
    let mut by_name = BTreeMap::new();
    for render in shown.chain(asked) {
        by_name.entry(render.probe).or_insert(render);
    }
    by_name
}

/// A template as its card takes it.
pub fn as_examined(template: &Template) -> Cow<'_, Template> {
    with_tokens(template, &assumed_by_card(template))
}

/// The default values that a card takes: none in a suite of one's own, so that the prompts there and
/// the card are made with the same tokens.
fn assumed_by_card(template: &Template) -> BTreeMap<&'static str, &'static str> {
    if template.has_all_tokens {
        BTreeMap::new()
    } else {
        assumed(template)
    }
}

/// A template with default values for tokens that nothing sets.
pub fn with_assumed_tokens(template: &Template) -> Cow<'_, Template> {
    with_tokens(template, &assumed(template))
}

/// A template with these values for some of its special tokens.
fn with_tokens<'t>(
    template: &'t Template,
    tokens: &BTreeMap<&'static str, &'static str>,
) -> Cow<'t, Template> {
    let mut template = Cow::Borrowed(template);
    for (name, token) in tokens {
        template = Cow::Owned(template.into_owned().with_special_token(name, token));
    }
    template
}

/// Default values for BOS and EOS if a template file comes without its model. Its users have the
/// model's tokens, and without any, most of what a template does would fail.
pub fn assumed(template: &Template) -> BTreeMap<&'static str, &'static str> {
    let lacks_model = template.dialect == Dialect::Jinja && template.special_tokens.is_empty();
    let unset = if lacks_model {
        unset_tokens(template)
    } else {
        Vec::new()
    };
    let known = [("bos_token", "<s>"), ("eos_token", "</s>")];
    let known = known.into_iter();
    known.filter(|(name, _)| unset.contains(name)).collect()
}

/// The most settings under which contracts are judged.
const MOST_SETTINGS: usize = 3;

/// Adds what breaks a contract only if a user sets a variable.
fn add_broken_under_settings(
    findings: &mut [Finding],
    prober: &Prober<'_>,
    capabilities: &Capabilities,
) {
    let is_judged = |finding: &Finding| contract::has_settings(finding.contract);
    if !findings.iter().any(is_judged) {
        return;
    }
    let switches = capabilities.switches.iter();
    let settings = switches
        .filter(|switch| switch.is_for_users())
        .flat_map(Switch::settings);
    for setting in settings.take(MOST_SETTINGS) {
        let usual = prober;
        let prober = usual.with_setting(&setting);
        let capabilities = capability::under_setting(&prober, capabilities);
        let is_of_opening = changes_opening_alone(usual, &prober);
        let holds = |contract: &Contract| {
            let mut known = findings.iter();
            contract::is_under_settings(contract, is_of_opening)
                && known.any(|known| known.contract == contract && !known.is_broken())
        };
        let broken = contract::judge_by_some(&prober, &capabilities, holds);
        for mut found in broken.into_iter().filter(Finding::is_defect) {
            let Judgement::Broken(evidence) = &mut found.judgement else {
                continue;
            };
            for one in evidence {
                one.what = format!("with {setting}: {}", one.what);
            }
            let mut known = findings.iter_mut();
            if let Some(known) = known.find(|known| known.contract == found.contract) {
                *known = found;
            }
        }
    }
}

/// Whether a setting changes nothing but how the answer is opened that a prompt asks for. Most
/// switches for thinking do only that.
fn changes_opening_alone(usual: &Prober<'_>, set: &Prober<'_>) -> bool {
    [
        catalogue::SYSTEM_USER_ASSISTANT,
        catalogue::TOOLS_TURN,
        catalogue::REASONED_USER_CLOSED,
        catalogue::CALL_TURN_USER_CLOSED,
    ]
    .into_iter()
    .all(|probe| usual.see(probe).outcome == set.see(probe).outcome)
}

/// The contracts that hold with the template's front and break without it. Nobody uses a Go
/// template without a front.
fn broken_without_front(
    prober: &Prober<'_>,
    findings: &[Finding],
    prepared: &[&Contract],
) -> Vec<Finding> {
    let template = prober.template();
    if template.dialect == Dialect::Go || Front::of(template) == Front::Raw {
        return Vec::new();
    }
    if prepared.is_empty() {
        return Vec::new();
    }
    let prober = prober.without_front();
    let capabilities = capability::explore(&prober);
    let holds = |contract: &Contract| {
        let mut known = findings.iter();
        prepared.contains(&contract)
            && known.any(|known| known.contract == contract && known.judgement == Judgement::Holds)
    };
    let mut broken = contract::judge_by_some(&prober, &capabilities, holds);
    broken.retain(Finding::is_defect);
    broken
}

fn is_explained(finding: &Finding) -> bool {
    finding.is_defect() && finding.deliberate.is_some()
}

impl Card {
    /// The card of a template about which nothing is known because of a panic.
    fn lost(engine: &dyn Engine, template: &Template, why: &str) -> Card {
        let sentence = guard::internal_error("the report card", why);
        Card {
            template: template.name.to_string(),
            dialect: template.dialect,
            front: Front::of(template),
            engine: engine.name().to_owned(),
            syntax_error: None,
            assumed: BTreeMap::new(),
            nearest: None,
            skeleton: Skeleton::default(),
            capabilities: capability::lost(),
            content_decides: Vec::new(),
            findings: vec![Finding::of_internal_errors(vec![sentence])],
            without_front: Vec::new(),
            read_back: Vec::new(),
            served: None,
        }
    }

    /// Takes all contracts but the chosen ones from the card. A template that cannot be read keeps all
    /// of them, because no contract says more about it.
    pub fn narrow(&mut self, choice: &ContractChoice) {
        if self.syntax_error.is_none() {
            self.findings.retain(|finding| choice.has(finding.contract));
            self.without_front
                .retain(|finding| choice.has(finding.contract));
        }
    }

    /// The card of another template, which differs from this one in its name and place alone.
    #[must_use]
    pub fn of_twin(&self, template: &Template) -> Card {
        Card {
            template: template.name.to_string(),
            ..self.clone()
        }
    }

    pub fn broken(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.is_broken())
    }

    /// Broken contracts that the template's sidecar does not explain. Limitations
    /// and notes need no explanation.
    pub fn unexplained(&self) -> impl Iterator<Item = &Finding> {
        self.broken()
            .filter(|finding| finding.deliberate.is_none() && finding.severity().is_defect())
    }

    /// Contracts that the template's sidecar explains, and that are not broken.
    pub(crate) fn overexplained(&self) -> impl Iterator<Item = &Finding> {
        let is_broken_there = |id| {
            self.without_front
                .iter()
                .any(|finding| finding.contract.id == id)
        };
        self.findings.iter().filter(move |finding| {
            let is_broken = finding.is_broken() || is_broken_there(finding.contract.id);
            finding.deliberate.is_some() && !is_broken
        })
    }

    /// Wrong statements of the template's sidecar about contracts: a contract that does not exist,
    /// a broken one without a reason, and one that is not broken.
    pub fn complaints(&self, template: &Template) -> Vec<String> {
        let strange = template
            .broken
            .iter()
            .filter(|(id, _)| contract::by_id(id).is_none())
            .map(|(id, _)| format!("the sidecar explains `{id}`, but there is no such contract"));
        let unexplained = self.unexplained().map(|finding| {
            let what = finding.evidence().first().map_or("", |first| &first.what);
            let id = finding.contract.id;
            format!("`{id}` is broken, and the sidecar does not say why: {what}")
        });
        let overexplained = self.overexplained().map(|finding| {
            let id = finding.contract.id;
            format!("the sidecar says why `{id}` is broken, but it is not")
        });
        strange.chain(unexplained).chain(overexplained).collect()
    }

    /// Counts the broken contracts of a severity, without explained defects.
    pub fn count(&self, severity: Severity) -> usize {
        self.broken()
            .filter(|finding| finding.severity() == severity && !is_explained(finding))
            .count()
    }

    /// Counts the defects that the template's sidecar or the file of known defects explains.
    pub fn explained_count(&self) -> usize {
        self.broken()
            .filter(|finding| is_explained(finding))
            .count()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use rolecall_jinja::JinjaEngine;

    /// Writes the number of messages first, which changes as the conversation goes on.
    const SOURCE: &str =
        "{{ messages | length }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";

    #[test]
    fn what_only_servers_without_a_front_break_is_distinguished() {
        let source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\
            {% for c in m.tool_calls or [] %}{{ c | tojson }}{% endfor %}{% endfor %}";
        let mut template = Template::from_source("t", Dialect::Jinja, source);
        let ids = |findings: &mut dyn Iterator<Item = &Finding>| -> Vec<&str> {
            findings.map(|finding| finding.contract.id).collect()
        };
        let card = examine(&JinjaEngine::new(), &template);
        // transformers drops null values; without it `None` is in the prompt.
        let null = "no-null-leak";
        assert_eq!(
            ids(&mut card.without_front.iter()),
            ["empty-content-alike", null]
        );
        assert!(!ids(&mut card.broken()).contains(&null));
        assert!(
            serde_json::to_string(&card)
                .unwrap()
                .contains(r#""alone":[{"contract":"empty-content-alike""#)
        );
        // A reason for it is neither required nor reported as needless.
        template.broken = vec![(null.into(), "So it is.".into())];
        let card = examine(&JinjaEngine::new(), &template);
        assert_eq!(ids(&mut card.overexplained()), [""; 0]);
        template.front = Some("raw".to_owned());
        let card = examine(&JinjaEngine::new(), &template);
        assert!(ids(&mut card.broken()).contains(&null) && card.without_front.is_empty());
    }

    #[test]
    fn every_probe_can_be_shown_as_the_evidence_shows_it() {
        let source =
            "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}";
        let template = Template::from_source("t", Dialect::Jinja, source);
        let probes = probes(&JinjaEngine::new(), &template);
        for probe in catalogue::ALL {
            assert!(probes.contains_key(probe.name), "{probe:?}");
        }
        // One that a contract asks under its own name, and tokens that nothing sets.
        let asked = &probes["control-tokens"];
        assert!(asked.outcome.text().contains("<|user|>"), "{asked:?}");
        assert!(probes["user"].outcome.text().starts_with("<s>"));
        let card = examine(&JinjaEngine::new(), &template);
        for render in card
            .broken()
            .flat_map(Finding::evidence)
            .flat_map(|one| &one.renders)
        {
            assert_eq!(probes[render.probe].probe, render.probe);
        }
    }

    #[test]
    fn a_card_as_json() {
        let mut template = Template::from_source("t", Dialect::Jinja, SOURCE);
        template.broken = vec![("history-stable".into(), "It counts.".into())];
        let card = examine(&JinjaEngine::new(), &template);
        let json = serde_json::to_value(&card).unwrap();
        assert_eq!(json["template"], "t");
        assert_eq!(json["dialect"], "jinja");
        assert_eq!(json["front"], "transformers");
        assert_eq!(json["engine"], "rolecall-jinja");
        assert_eq!(json["capabilities"]["question"], json!({"is": "kept"}));
        assert_eq!(json["capabilities"]["tools"], json!({"is": "dropped"}));
        let finding = |id: &str| {
            let findings = json["findings"].as_array().unwrap();
            let finding = findings.iter().find(|finding| finding["contract"] == id);
            finding.unwrap().clone()
        };
        let broken = finding("history-stable");
        assert_eq!(broken["verdict"], "broken");
        assert_eq!(broken["severity"], "warning");
        assert_eq!(broken["deliberate"], "It counts.");
        assert_eq!(
            broken["evidence"][0],
            json!({
                "what": "what was written before changes when the conversation goes on",
                "renders": [
                    {
                        "probe": "user-assistant",
                        "about": "a question and its answer",
                        "conversation": {
                            "messages": [
                                {"role": "user", "content": "askquill"},
                                {"role": "assistant", "content": "saidquill"},
                            ],
                            "add_generation_prompt": false,
                        },
                        "outcome": "rendered",
                        "text": "2<user>askquill<assistant>saidquill",
                    },
                    {
                        "probe": "user-assistant-user-closed",
                        "about": "a second question, no answer asked for",
                        "conversation": {
                            "messages": [
                                {"role": "user", "content": "askquill"},
                                {"role": "assistant", "content": "saidquill"},
                                {"role": "user", "content": "morequill"},
                            ],
                            "add_generation_prompt": false,
                        },
                        "outcome": "rendered",
                        "text": "3<user>askquill<assistant>saidquill<user>morequill",
                    },
                ],
                "parts_at": 0,
                "because": "what is printed near line 1 gives another text; \
                            100 % of a chat's prompt is computed again after each turn \
                            (1228 of 1228 bytes)",
                "expected": "prefix",
            })
        );
        assert_eq!(finding("deterministic")["verdict"], "holds");
        assert_eq!(
            finding("one-bos")["reason"],
            "the beginning-of-sequence token is not known"
        );
        let unexplained: Vec<_> = card.unexplained().map(|f| f.contract.id).collect();
        assert_eq!(finding("tools-kept")["severity"], "limitation");
        assert!(unexplained.contains(&"finished-turn-continues"));
        assert!(!unexplained.contains(&"tools-kept") && !unexplained.contains(&"history-stable"));
    }
}
