//! Tokenizers that want all the memory of a machine, or work without end.

use serde_json::{Value, json};

use super::World;
use crate::extent::{is_everything, sample};

const TEMPLATE: &str =
    "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}";

fn words(count: usize) -> Value {
    (0..count)
        .map(|n| (format!("w{n}"), Value::from(n)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn bpe() -> Value {
    json!({"type": "BPE", "vocab": words(50), "merges": []})
}

fn replace(pattern: &Value, content: &str) -> Value {
    json!({"type": "Replace", "pattern": pattern, "content": content})
}

fn nested(key: &str, kind: &str, inner: &Value, depth: usize) -> Value {
    let mut step = inner.clone();
    for _ in 0..depth {
        step = json!({"type": kind, key: [step]});
    }
    step
}

/// Names, and what is in the file besides an honest model.
#[allow(clippy::too_many_lines)] // It is a table.
fn hostile() -> Vec<(&'static str, Value)> {
    let double = replace(&json!({"String": "a"}), "aa");
    let sequence = |steps: Vec<Value>| json!({"type": "Sequence", "normalizers": steps});
    if !is_everything() {
        // The others are large, and take long to be written.
        let forty = sequence(vec![double; 40]);
        return vec![("forty doublings", json!({"normalizer": forty}))];
    }
    let split = |pattern: &str| json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
    let processor = |count: usize| json!({"type": "TemplateProcessing", "single": vec![json!({"SpecialToken": {"id": "x", "type_id": 0}}); count], "pair": [], "special_tokens": {}});
    let ids = |count: usize| json!({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}], "pair": [], "special_tokens": {"x": {"id": "x", "ids": vec![0; count], "tokens": vec!["x"; count]}}});
    let model = |model: Value| json!({"model": model});
    let long = "a".repeat(1 << 20);
    let token = |content: &str| json!({"id": 0, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true});
    vec![
        (
            "forty doublings",
            json!({"normalizer": sequence(vec![double.clone(); 40])}),
        ),
        (
            "doublings in sequences",
            json!({"normalizer": nested("normalizers", "Sequence", &sequence(vec![double.clone(); 40]), 20)}),
        ),
        (
            "a sequence in a sequence",
            json!({"normalizer": nested("normalizers", "Sequence", &double, 100)}),
        ),
        (
            "the empty text",
            json!({"normalizer": replace(&json!({"String": ""}), "x")}),
        ),
        (
            "an empty expression",
            json!({"normalizer": sequence(vec![replace(&json!({"Regex": ""}), "xxxxxxxx"); 10])}),
        ),
        (
            "every character",
            json!({"normalizer": replace(&json!({"Regex": "."}), &long)}),
        ),
        (
            "a long prefix",
            json!({"normalizer": {"type": "Prepend", "prepend": long}}),
        ),
        (
            "a huge table",
            json!({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "/////w=="}}),
        ),
        (
            "a table of zeros",
            json!({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAAAAAAAAAA"}}),
        ),
        (
            "a table that ends",
            json!({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAA="}}),
        ),
        (
            "no table",
            json!({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "*"}}),
        ),
        (
            "an expression that goes back",
            json!({"pre_tokenizer": split("(a|a)*(a|a)*(a|a)*b")}),
        ),
        (
            "nested repetition",
            json!({"pre_tokenizer": split("((.+)+)+$(?!x)\\1")}),
        ),
        (
            "counted repetition",
            json!({"pre_tokenizer": split("((a{1,100}){1,100}){1,100}")}),
        ),
        (
            "a long expression",
            json!({"pre_tokenizer": split(&"(a?)".repeat(100_000))}),
        ),
        (
            "groups in groups",
            json!({"pre_tokenizer": split(&("(".repeat(5000) + &")".repeat(5000)))}),
        ),
        (
            "many cutters",
            json!({"pre_tokenizer": {"type": "Sequence", "pretokenizers": vec![split("."); 5000]}}),
        ),
        (
            "many pieces",
            json!({"post_processor": processor(1_000_000)}),
        ),
        ("many numbers", json!({"post_processor": ids(1_000_000)})),
        (
            "processors",
            json!({"post_processor": {"type": "Sequence", "processors": vec![processor(60); 1000]}}),
        ),
        (
            "a large vocabulary",
            model(json!({"type": "BPE", "vocab": words(1_000_000), "merges": []})),
        ),
        (
            "many merges",
            model(json!({"type": "BPE", "vocab": words(50), "merges": vec!["a b"; 2_000_000]})),
        ),
        (
            "a long word",
            model(json!({"type": "BPE", "vocab": {long.as_str(): 0}, "merges": []})),
        ),
        (
            "chance",
            model(json!({"type": "BPE", "vocab": words(50), "merges": [], "dropout": 0.5})),
        ),
        (
            "long words cut as a whole",
            model(
                json!({"type": "WordPiece", "unk_token": "w0", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100_000_000, "vocab": words(50)}),
            ),
        ),
        (
            "a lattice",
            model(
                json!({"type": "Unigram", "unk_id": 0, "vocab": (0..4000).map(|n| json!(["a".repeat(n + 1), -1.0])).collect::<Vec<_>>()}),
            ),
        ),
        (
            "numbers far apart",
            model(json!({"type": "BPE", "vocab": {"a": 4_294_967_295_u32, "b": 0}, "merges": []})),
        ),
        ("a strange model", model(json!({"type": "Nothing"}))),
        ("no model", model(Value::Null)),
        (
            "padding",
            json!({"padding": {"strategy": {"Fixed": 1_000_000_000_u64}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "x"}}),
        ),
        (
            "truncation",
            json!({"truncation": {"max_length": 0, "strategy": "LongestFirst", "stride": 1_000_000, "direction": "Right"}}),
        ),
        (
            "a long added token",
            json!({"added_tokens": [token(&long)]}),
        ),
        ("an empty added token", json!({"added_tokens": [token("")]})),
        (
            "many added tokens",
            json!({"added_tokens": (0..200_000).map(|n| token(&format!("<{n}>"))).collect::<Vec<_>>()}),
        ),
        (
            "a decoder",
            json!({"decoder": nested("decoders", "Sequence", &json!({"type": "ByteLevel"}), 100)}),
        ),
    ]
}

#[test]
fn no_tokenizer_takes_more_than_its_share() {
    let mut wrong = Vec::new();
    let all = hostile();
    let count = all.len();
    for (name, part) in all {
        let world = World::new();
        let mut file = json!({"version": "1.0", "added_tokens": [], "model": bpe()});
        for (key, value) in part.as_object().unwrap() {
            file[key] = value.clone();
        }
        world.write("work/model/tokenizer.json", file.to_string());
        let config = json!({"chat_template": TEMPLATE, "bos_token": "<s>"});
        world.write("work/model/tokenizer_config.json", config.to_string());
        for arguments in [
            &["check", "model"][..],
            &[
                "show",
                "--tokens",
                "--templates",
                "model",
                "model",
                "plain/single-turn",
            ],
        ] {
            let complaints = world.rolecall(arguments).complaints(&[0, 1, 2]);
            if !complaints.is_empty() {
                wrong.push(format!("{name}, {arguments:?}: {complaints:?}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Special tokens in the other files of a model.
#[test]
fn no_special_token_takes_more_than_its_share() {
    let long = || "x".repeat(10 << 20);
    let many = || -> serde_json::Map<_, _> {
        (0..100_000)
            .map(|n| (format!("t{n}_token"), Value::from(format!("<{n}>"))))
            .collect()
    };
    let decoder = || -> serde_json::Map<_, _> {
        (0..300_000)
            .map(|n| (n.to_string(), json!({"content": format!("<{n}>")})))
            .collect()
    };
    let mut wrong = Vec::new();
    let parts: [(&str, &dyn Fn() -> Value); 7] = [
        ("a long token", &|| json!({"bos_token": long()})),
        (
            "a long object",
            &|| json!({"bos_token": {"__type": "AddedToken", "content": long()}}),
        ),
        ("many tokens", &|| json!({"extra_special_tokens": many()})),
        (
            "a long extra token",
            &|| json!({"extra_special_tokens": {"x_token": long()}}),
        ),
        (
            "extra tokens",
            &|| json!({"additional_special_tokens": vec![long(); 2]}),
        ),
        ("a decoder", &|| json!({"added_tokens_decoder": decoder()})),
        (
            "a long decoder",
            &|| json!({"added_tokens_decoder": {"0": {"content": long()}}}),
        ),
    ];
    let parts = parts.iter();
    let all = parts.flat_map(|part| [false, true].map(|has_vocabulary| (part, has_vocabulary)));
    for ((name, part), has_vocabulary) in sample(all.collect(), 9) {
        let world = World::new();
        let mut config = part();
        config["chat_template"] = TEMPLATE.into();
        world.write("work/model/tokenizer_config.json", config.to_string());
        if has_vocabulary {
            let file = json!({"version": "1.0", "added_tokens": [], "model": bpe()});
            world.write("work/model/tokenizer.json", file.to_string());
        }
        let complaints = world.rolecall(&["check", "model"]).complaints(&[0, 1, 2]);
        if !complaints.is_empty() {
            wrong.push(format!("{name}: {complaints:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
