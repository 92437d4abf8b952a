//! Tokens: compares them with those of transformers, recorded by `scripts/record-tokens.py`. Also
//! checks report cards for wrong vocabularies, and how tokens are shown.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use rolecall_check::card::{Card, examine_with};
use rolecall_check::choice::ContractChoice;
use rolecall_check::contract::Severity;
use rolecall_check::tokenizer::{TokenKind, Tokenizer, Tokenizers};
use rolecall_core::{Case, Conversation, Engine as _, Template};
use rolecall_front::engines::Engines;
use rolecall_front::sanitizing::without_marks;
use rolecall_io::source;
use rolecall_jinja::JinjaEngine;
use rolecall_suite::run::Runner;
use rolecall_suite::suite::Suite;
use serde_json::{Value, json};

use crate::extent::{is_everything, sample};

use super::build::{Gguf, U32, Value as Entry, text, texts};
use super::{CASES, Folder};

const I32: u32 = 5;

fn table() -> Value {
    serde_json::from_str(include_str!("../data/tokens.json")).unwrap()
}

fn template_at(path: &Path) -> Template {
    let found = source::read(path);
    assert_eq!(found.problems, []);
    found.templates.into_iter().next().unwrap()
}

fn tokenizer_of(template: &Template) -> Tokenizer {
    let read = rolecall_check::tokens::read(template);
    read.unwrap().unwrap()
}

#[test]
fn prompts_become_the_tokens_that_transformers_makes_of_them() {
    let table = table();
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 48);
    let mut kinds = BTreeSet::new();
    for row in rows {
        let folder = Folder::new();
        let tokenizer = &table["tokenizers"][row["tokenizer"].as_str().unwrap()];
        folder.write("m/tokenizer.json", tokenizer.to_string());
        folder.write("m/tokenizer_config.json", row["config"].to_string());
        let tokenizer = tokenizer_of(&template_at(&folder.path("m")));
        let prompt = row["prompt"].as_str().unwrap();
        let tokens = tokenizer.encode(prompt).unwrap();
        let ids: Vec<_> = tokens.iter().map(|token| token.id).collect();
        let about = format!("{}: {}", row["tokenizer"], row["about"]);
        assert_eq!(json!(ids), row["tokens"], "{about}");
        let alone = row["alone"][0].as_u64();
        let alone = alone.and_then(|id| tokenizer.marker_of(id.try_into().unwrap()));
        let alone = alone.map(|marker| marker.text.as_str());
        assert_eq!(tokenizer.beginning(), alone, "{about}");
        for token in tokens {
            kinds.insert(token.kind.name());
            assert!(prompt.get(token.range).is_some(), "{about}");
        }
    }
    let kinds: Vec<_> = kinds.into_iter().collect();
    assert_eq!(kinds, ["added", "ordinary", "special"]);
}

/// Every seventh of the recorded prompts is tried, or all if the tests try everything.
#[test]
fn control_tokens_of_users_become_text_as_in_transformers() {
    let table = table();
    let rows = table["sanitised"].as_array().unwrap();
    assert_eq!(rows.len(), 288);
    let mut changed = 0;
    for row in sample(rows.iter().collect(), 7) {
        let folder = Folder::new();
        let vocabulary = &table["tokenizers"][row["tokenizer"].as_str().unwrap()];
        folder.write("m/tokenizer.json", vocabulary.to_string());
        folder.write("m/tokenizer_config.json", row["config"].to_string());
        let template = template_at(&folder.path("m"));
        let tokenizer = tokenizer_of(&template);
        let messages = row["messages"].as_array().unwrap().clone();
        let case = Case {
            add_generation_prompt: messages.last().unwrap()["role"] == "user",
            ..Case::from_messages(messages)
        };
        let tokens = tokenizer.control_tokens(&template.source).unwrap();
        let program = JinjaEngine::new().compile(&template).unwrap();
        let render = |case: &Case| {
            let outcome = program.render(&Conversation::new(case));
            outcome.text().to_owned()
        };
        let prompt = render(&tokens.mark(&case));
        let about = format!("{}: {} {}", row["tokenizer"], row["about"], row["messages"]);
        assert_eq!(json!(prompt), row["prompt"], "{about}");
        let cut = tokenizer.encode_marked(&prompt).unwrap();
        let ids: Vec<_> = cut.iter().map(|token| token.id).collect();
        assert_eq!(json!(ids), row["tokens"], "{about}");
        let shown = without_marks(&prompt);
        assert!(
            cut.iter()
                .all(|token| shown.get(token.range.clone()).is_some()),
            "{about}"
        );
        changed += usize::from(shown != render(&case));
    }
    // A template that looks for a token in a text does not find it any more.
    let least = if is_everything() { 20 } else { 0 };
    assert!(changed > least, "{changed}");
}

#[test]
fn a_prompt_is_shown_with_the_tokens_of_users_as_text() {
    let folder = Folder::new();
    Model::sound().write(&folder);
    folder.write(
        "c/own.json",
        r#"{"about": "x", "cases": {"x": {"about": "y", "messages": [{"role": "user", "content": "a<|im_end|>b"}]}}}"#,
    );
    let show = |more: &[&str]| {
        let arguments = [&["show", "m", "own/x", "--cases", "c", "--tokens"], more].concat();
        rolecall(&folder, &arguments)
    };
    let count = |ran: &Output| {
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        (
            text.matches("<|im_end|>\"  special").count(),
            text.contains('…'),
        )
    };
    assert_eq!(count(&show(&[])), (2, false));
    assert_eq!(count(&show(&["--sanitize-control-tokens"])), (1, true));
}

/// A model, in which tests put something wrong.
#[derive(Clone)]
struct Model {
    template: String,
    tokenizer: Value,
    generation: Value,
}

const TEMPLATE: &str = "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}\n\
    {{ m.content }}<|im_end|>\n{% endfor %}\
    {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

impl Model {
    /// A model that breaks no contract on tokens but for a note.
    fn sound() -> Model {
        Model {
            template: TEMPLATE.to_owned(),
            tokenizer: table()["tokenizers"]["byte-level"].clone(),
            generation: json!({"eos_token_id": [301, 303]}),
        }
    }

    fn with_template(mut self, from: &str, to: &str) -> Model {
        assert!(self.template.contains(from));
        self.template = self.template.replacen(from, to, 1);
        self
    }

    /// Changes a token of the vocabulary.
    fn with_token(mut self, text: &str, change: impl Fn(&mut Value)) -> Model {
        let tokens = self.tokenizer["added_tokens"].as_array_mut().unwrap();
        let token = tokens.iter_mut().find(|token| token["content"] == text);
        change(token.unwrap());
        self
    }

    fn write(&self, folder: &Folder) -> Template {
        folder.write("m/tokenizer.json", self.tokenizer.to_string());
        folder.write("m/generation_config.json", self.generation.to_string());
        let config = json!({"bos_token": "<s>", "eos_token": "</s>"});
        folder.write("m/tokenizer_config.json", config.to_string());
        folder.write("m/chat_template.jinja", &self.template);
        template_at(&folder.path("m"))
    }

    fn card(&self) -> Card {
        let template = self.write(&Folder::new());
        // The files go away with the folder, so they are read before that.
        let folder = Folder::new();
        let tokenizer = tokenizer_of(&self.write(&folder));
        examine_with(&JinjaEngine::new(), &template, Some(&tokenizer))
    }
}

/// The broken contracts on tokens: severity and words.
fn broken(card: &Card, id: &str) -> Vec<(Severity, String)> {
    let finding = card.findings.iter().find(|one| one.contract.id == id);
    let finding = finding.unwrap();
    let evidence = finding.evidence().iter();
    let severity = |one: Option<Severity>| one.unwrap_or(finding.contract.severity);
    evidence
        .map(|one| (severity(one.severity), one.what.clone()))
        .collect()
}

const IDS: [&str; 4] = [
    "control-tokens-known",
    "turn-end-stops",
    "one-bos-tokenised",
    "blanks-kept",
];

/// The contracts that one model breaks and the other does not.
fn added(sound: &Card, card: &Card) -> Vec<String> {
    let found = IDS.iter().flat_map(|id| {
        let before = broken(sound, id);
        let found = broken(card, id).into_iter();
        let new = found.filter(move |one| !before.contains(one));
        new.map(move |(severity, what)| format!("{severity}: {id}: {what}"))
    });
    found.collect()
}

#[test]
fn a_folder_whose_tokens_are_wrong_is_reported_how() {
    let sound = Model::sound();
    let reported = |model: &Model| added(&sound.card(), &model.card());
    let card = sound.card();
    let note = "tokenising the text of `tokenize=False` gives `<s>` twice, unless with \
        `add_special_tokens=False`: the template writes it and the tokenizer adds it";
    let all: Vec<_> = IDS.iter().flat_map(|id| broken(&card, id)).collect();
    assert_eq!(all, [(Severity::Note, note.to_owned())]);
    assert_eq!(
        reported(
            &sound
                .clone()
                .with_template("<|im_start|>{{", "<|im_strat|>{{")
        ),
        [
            "error: control-tokens-known: `<|im_strat|>` is not a token of the model; `<|im_start|>` is"
        ]
    );
    // In a branch that no conversation reaches.
    assert_eq!(
        reported(
            &sound
                .clone()
                .with_template("{% for", "{% if other %}\n<|im_edn|>{% endif %}{% for")
        ),
        [
            "error: control-tokens-known: line 2: `<|im_edn|>` is not a token of the model; `<|im_end|>` is"
        ]
    );
    let unknown = sound
        .clone()
        .with_token("<|im_end|>", |token| token["content"] = "<|turn|>".into());
    assert_eq!(
        reported(&unknown),
        [
            "error: control-tokens-known: `<|im_end|>` is not a token of the model, although others that the template writes are"
        ]
    );
    let alone = sound
        .clone()
        .with_token("<|im_end|>", |token| token["single_word"] = true.into());
    assert!(
        reported(&alone).contains(
            &"error: control-tokens-known: `<|im_end|>` is a token of the model, and is cut into \
          pieces in its place: look at its `normalized` and `single_word`, and at \
          `split_special_tokens`"
                .to_owned()
        )
    );
    let mut other = sound.clone();
    other.generation = json!({"eos_token_id": 301});
    assert_eq!(
        reported(&other),
        [
            "error: turn-end-stops: an answer ends with `<|im_end|>`, but the model stops only at `</s>`, says generation_config.json"
        ]
    );
    let reported_of_bos = |from: &str, to: &str| reported(&sound.clone().with_template(from, to));
    assert_eq!(
        reported_of_bos("{{ bos_token }}", "{{ bos_token }}{{ bos_token }}"),
        ["error: one-bos-tokenised: the prompt begins with `<s>` 2 times"]
    );
    assert_eq!(
        reported_of_bos("{{ bos_token }}", ""),
        [
            "warning: one-bos-tokenised: no `<s>`: the tokenizer adds it to every text, but \
             apply_chat_template asks it to add nothing"
        ]
    );
    let takes = |flag: &str| {
        sound
            .clone()
            .with_token("<|im_end|>", |token| token[flag] = true.into())
    };
    assert_eq!(
        reported(&takes("rstrip")),
        ["note: blanks-kept: `<|im_end|>` swallows blanks that the template writes"]
    );
    assert_eq!(
        reported(&takes("lstrip")),
        [
            "warning: blanks-kept: `<|im_end|>` swallows blanks that a user sent",
            // After the role of a turn without text.
            "note: blanks-kept: `<|im_end|>` swallows blanks that the template writes",
        ]
    );
}

#[test]
fn tags_that_are_plain_text_are_no_tokens_that_are_misspelt() {
    let reported = |tag: &str| {
        let template = Model::sound().with_template("<|im_start|>", &format!("{tag}<|im_start|>"));
        added(&Model::sound().card(), &template.card())
    };
    assert_eq!(reported("<tools>"), [""; 0]);
    assert_eq!(reported("<think>"), [""; 0]);
    let mut model = Model::sound().with_template("<|im_start|>", "<tool_calls><|im_start|>");
    model = model.with_token("<tool>", |token| token["content"] = "<tool_call>".into());
    assert_eq!(
        added(&Model::sound().card(), &model.card()),
        [
            "warning: control-tokens-known: `<tool_calls>` is not a token of the model; `<tool_call>`, which the template never writes, is"
        ]
    );
    // Zephyr's are, all of them.
    let mut plain = Model::sound();
    for (from, to) in [("<|im_start|>", "<|user|>"), ("<|im_end|>", "</s>")] {
        plain.template = plain.template.replace(from, to);
    }
    assert_eq!(
        added(&Model::sound().card(), &plain.card()),
        [
            "note: control-tokens-known: the markers of turns are plain text to the model, not tokens: `<|user|>`"
        ]
    );
}

#[test]
fn control_tokens_of_users_are_distinguished_by_what_they_are() {
    let model = Model::sound().with_template("<|im_start|>", "<tool><|im_start|>");
    assert_eq!(
        broken(&model.card(), "control-tokens-inert"),
        [(
            Severity::Note,
            "tokens in a question reach the prompt: `</s>`, `<s>`, `<|im_end|>`, `<|im_start|>` as special \
             tokens, which a server can split; `<tool>` as tokens that are not special, which it cannot"
                .to_owned()
        )]
    );
}

/// The same model as a GGUF file: the tokens, and the type of each.
fn gguf(template: &str) -> Gguf {
    let tokens = [
        "<unk>",
        "<s>",
        "</s>",
        "a",
        "<|im_start|>",
        "<|im_end|>",
        "<tool>",
    ];
    let kinds = [2, 3, 3, 1, 3, 3, 4].map(Entry::I32);
    Gguf::model(template)
        .with("tokenizer.ggml.model", text("llama"))
        .with("tokenizer.ggml.tokens", texts(&tokens))
        .with(
            "tokenizer.ggml.token_type",
            Entry::Array(I32, kinds.to_vec()),
        )
}

fn card_of(gguf: &Gguf) -> Card {
    let folder = Folder::new();
    let template = template_at(&folder.write("m.gguf", gguf.bytes()));
    examine_with(
        &JinjaEngine::new(),
        &template,
        Some(&tokenizer_of(&template)),
    )
}

#[test]
fn a_gguf_file_whose_tokens_are_wrong_is_reported_how() {
    let sound = card_of(&gguf(TEMPLATE));
    let all: Vec<_> = IDS.iter().flat_map(|id| broken(&sound, id)).collect();
    assert_eq!(all, []);
    let reported = |gguf: &Gguf| added(&sound, &card_of(gguf));
    assert_eq!(
        reported(&gguf(&TEMPLATE.replacen("<|im_start|>", "<|im_strat|>", 1))),
        [
            "error: control-tokens-known: `<|im_strat|>` is not a token of the model; `<|im_start|>` is"
        ]
    );
    // llama.cpp removes one and adds one.
    assert_eq!(
        reported(&gguf(&TEMPLATE.replacen(
            "{{ bos_token }}",
            "{{ bos_token }}{{ bos_token }}",
            1
        ))),
        [
            "error: one-bos-tokenised: the prompt begins with `<s>` 2 times: the template writes it, and it is added once more"
        ]
    );
    let without = gguf(&TEMPLATE.replace("{{ bos_token }}", ""));
    assert_eq!(reported(&without), [""; 0]);
    // A turn that ends with a token at which nothing stops.
    let strange = TEMPLATE.replace("<|im_end|>", "<tool>");
    assert_eq!(
        reported(&gguf(&strange)),
        [
            "error: turn-end-stops: an answer ends with `<tool>`, but the model stops only at `</s>`, `<|im_end|>`, says the GGUF file"
        ]
    );
    // If the types are not numbers of 32 bits, the file is damaged or hostile.
    let strange = Entry::Array(U32, vec![Entry::U32(3); 7]);
    let strange = gguf(TEMPLATE).with("tokenizer.ggml.token_type", strange);
    let folder = Folder::new();
    let template = template_at(&folder.write("m.gguf", strange.bytes()));
    let error = rolecall_check::tokens::read(&template).unwrap_err();
    let words = "the value of \"tokenizer.ggml.token_type\" is not an array of at most";
    assert!(error.to_string().contains(words), "{error}");
    // A file without its tokens proves nothing.
    let folder = Folder::new();
    let bare = gguf(TEMPLATE).without("tokenizer.ggml.tokens");
    let bare = bare.without("tokenizer.ggml.bos_token_id");
    let bare = bare.without("tokenizer.ggml.eos_token_id");
    let template = template_at(&folder.write("m.gguf", bare.bytes()));
    let read = rolecall_check::tokens::read(&template);
    assert!(read.unwrap().is_none());
}

/// The tokens that end an answer, and the one that begins it, by llama.cpp's rules.
#[test]
fn gguf_files_are_understood_as_llama_cpp_understands_them() {
    let read = |gguf: &Gguf| {
        let folder = Folder::new();
        let tokenizer = tokenizer_of(&template_at(&folder.write("m.gguf", gguf.bytes())));
        let stops = tokenizer.stops().map(|stops| stops.ids.clone());
        (tokenizer.beginning().map(str::to_owned), stops)
    };
    let begins = |gguf: Gguf| read(&gguf).0;
    let stops = |gguf: Gguf| read(&gguf).1.unwrap_or_default();
    let bos = Some("<s>".to_owned());
    let silent = || gguf("D").without("tokenizer.ggml.add_bos_token");
    let of = |model: &str| silent().with("tokenizer.ggml.model", text(model));
    let pre = |pre: &str| of("gpt2").with("tokenizer.ggml.pre", text(pre));
    assert_eq!(begins(of("llama")), bos);
    assert_eq!(begins(of("gpt2")), None);
    assert_eq!(begins(pre("llama-bpe")), bos);
    assert_eq!(begins(pre("qwen2")), None);
    let reported = |yes| silent().with("tokenizer.ggml.add_bos_token", Entry::Bool(yes));
    assert_eq!(begins(reported(true)), bos);
    assert_eq!(begins(reported(false)), None);
    let gemma = reported(false).with("tokenizer.ggml.model", text("gemma4"));
    assert_eq!(begins(gemma), bos);

    assert_eq!(stops(gguf("D")), [2, 5]);
    let eot = |id| gguf("D").with("tokenizer.ggml.eot_token_id", Entry::U32(id));
    assert_eq!(stops(eot(6)), [2, 5, 6]);
    // An invalid ID is no token.
    assert_eq!(stops(eot(99)), [2, 5]);
    let with_tokens = |tokens: &[&str]| {
        let tokens: Vec<_> = ["<unk>", "<s>", "x"]
            .iter()
            .chain(tokens)
            .copied()
            .collect();
        stops(gguf("D").with("tokenizer.ggml.tokens", texts(&tokens)))
    };
    // If other tokens end turns, the end of a message does not end a turn.
    assert_eq!(with_tokens(&["<|end|>"]), [2, 3]);
    assert_eq!(
        with_tokens(&["<|end|>", "<|return|>", "<|call|>"]),
        [2, 4, 5]
    );
    assert_eq!(with_tokens(&["</s>", "<|tool_response>"]), [2, 4]);
}

#[test]
fn markers_are_cut_out_of_text_and_the_rest_is_left_whole() {
    let folder = Folder::new();
    let template = template_at(&folder.write("m.gguf", gguf("D").bytes()));
    let tokenizer = tokenizer_of(&template);
    assert!(!tokenizer.is_whole());
    let prompt = "<s>é <tool><|im_end|>x";
    let tokens = tokenizer.encode(prompt).unwrap();
    let shown: Vec<_> = tokens
        .iter()
        .map(|token| (token.id, &prompt[token.range.clone()], token.kind))
        .collect();
    assert_eq!(
        shown,
        [
            (Some(1), "<s>", TokenKind::Special),
            (None, "é ", TokenKind::Ordinary),
            (Some(6), "<tool>", TokenKind::Added),
            (Some(5), "<|im_end|>", TokenKind::Special),
            (None, "x", TokenKind::Ordinary),
        ]
    );
    assert_eq!(tokenizer.encode("").unwrap(), []);
}

fn rolecall(folder: &Folder, arguments: &[&str]) -> Output {
    folder.write("cases.json", CASES);
    folder.run(arguments)
}

#[test]
fn a_prompt_is_shown_token_by_token() {
    let folder = Folder::new();
    Model::sound().write(&folder);
    let show = [
        "show",
        "m",
        "cases/hi",
        "--templates",
        "m",
        "--cases",
        "cases.json",
        "--tokens",
    ];
    let output = rolecall(&folder, &show);
    let shown = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines[0], "300  \"<s>\"  special");
    assert_eq!(lines[1], "302  \"<|im_start|>\"  special");
    assert!(lines.contains(&"198  \"␊\""), "{shown}");
    assert_eq!(output.status.code(), Some(0));
    let numbers = rolecall(&folder, &[&show[..], &["--raw"]].concat());
    let numbers = String::from_utf8(numbers.stdout).unwrap();
    assert!(numbers.starts_with("300 302 "), "{numbers}");
    assert_eq!(numbers.split_whitespace().count(), lines.len());

    // The same for a conversation of the report card.
    let probe = rolecall(&folder, &["show", "m", "probe/user-assistant", "--tokens"]);
    let probe = String::from_utf8(probe.stdout).unwrap();
    assert!(
        probe.ends_with("303  \"<|im_end|>\"  special\n198  \"␊\"\n"),
        "{probe}"
    );

    folder.write("bare.jinja", "{{ messages[0].content }}");
    let bare = [
        "show",
        "bare",
        "cases/hi",
        "--templates",
        "bare.jinja",
        "--cases",
        "cases.json",
        "--tokens",
    ];
    let output = rolecall(&folder, &bare);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("bare.jinja: the vocabulary of the model is not known"),
        "{said}"
    );
}

#[test]
fn a_vocabulary_that_cannot_be_read_is_reported_with_its_place() {
    let folder = Folder::new();
    Model::sound().write(&folder);
    folder.write("m/tokenizer.json", "{\"version\": \"1.0\",\n oops}");
    let output = rolecall(&folder, &["check", "m"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("m/tokenizer.json:2:2: no tokenizer: "),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(2));
    // The rest of the card is still there.
    let card = String::from_utf8(output.stdout).unwrap();
    assert!(card.contains("m (jinja), front transformers"), "{card}");
}

#[test]
fn a_conversation_with_more_tokens_than_the_model_takes_is_an_error_of_the_log() {
    let table = table();
    let tokenizers = table["tokenizers"].as_object().unwrap();
    let folder = Folder::new();
    let tokenizer = tokenizers.values().next().unwrap();
    folder.write("m/tokenizer.json", tokenizer.to_string());
    let source = "{% for m in messages %}{{ m.content }}{% endfor %}";
    let settings = json!({"chat_template": source, "model_max_length": 1000});
    folder.write("m/tokenizer_config.json", settings.to_string());
    let template = template_at(&folder.path("m"));
    let (tokenizers, problems) = Tokenizers::read(
        std::slice::from_ref(&template),
        rolecall_check::tokens::read,
    );
    assert_eq!(problems, []);
    let engines = Engines::default();
    let runner = Runner::new(&engines, &[], Some(1)).unwrap();
    let judged = |text: &str, tokenizers| {
        let case = Case::from_messages(vec![json!({"role": "user", "content": text})]);
        let choice = ContractChoice::named(&["fits-context".to_owned()], &[]).unwrap();
        let judged =
            runner.judge_conversations(&Suite::default(), &template, tokenizers, &[&case], &choice);
        judged.log.unwrap()
    };
    for (count, expected) in [(0, 0), (1, 0), (333, 0), (334, 1), (100_000, 1)] {
        let log = judged(&"é ".repeat(count), &tokenizers);
        assert_eq!(log.causes.len(), expected, "{count}: {:?}", log.causes);
        assert!(log.unjudged.is_empty(), "{count}");
    }
    let log = judged(&"é ".repeat(2000), &Tokenizers::default());
    assert!(log.causes.is_empty() && log.unjudged.contains_key("fits-context"));
}
