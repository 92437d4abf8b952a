//! Models with their template in a GGUF file. Only the beginning of the file with the template is
//! fetched.

use super::server::Reply;
use super::world::{COMMIT, Files, Hub, files};
use crate::sources::build::{Gguf, STRING, Value, text};

/// A model whose list of tokens alone has some MiB.
fn large(template: &str) -> Vec<u8> {
    let tokens = ["<unk>", "<s>", "</s>"].map(str::to_owned).into_iter();
    let tokens = tokens.chain((0..150_000).map(|index| format!("token{index}")));
    let tokens = tokens.map(|token| text(&token)).collect();
    let gguf = Gguf::model(template)
        .with("tokenizer.ggml.tokens", Value::Array(STRING, tokens))
        .without("tokenizer.chat_template")
        .with("tokenizer.chat_template", text(template));
    let mut bytes = gguf.bytes();
    bytes.resize(9 << 20, 1);
    bytes
}

fn with(name: &str, bytes: Vec<u8>) -> Files {
    let mut all = files(&[("README.md", "x"), ("config.json", "{}")]);
    all.push((name.to_owned(), bytes));
    all
}

#[test]
fn the_metadata_is_fetched_by_parts() {
    let hub = Hub::new(with("m-Q4_K_M.gguf", large("{{ bos_token }}G")));
    let mut world = hub.world();
    world.set("HF_TOKEN", "hf_secret");
    world.show("hf:org/name", "m-Q4_K_M").gave(
        "<s>G",
        &["fetched 2 files (4.2 MB) of hf:org/name at 1a2b3c4"],
    );
    let asked = hub.files.asked();
    let ranges: Vec<_> = asked.iter().map(|asked| asked.range().unwrap()).collect();
    assert_eq!(
        ranges,
        [(0, 1 << 20), (1 << 20, 2 << 20), (2 << 20, 4 << 20)]
    );
    assert!(
        asked
            .iter()
            .all(|asked| asked.header("authorization").is_none())
    );
    // Other programs would take it for the whole file, so it is not in their caches.
    assert!(!world.tree("hf").join("\n").contains("gguf"));
    let path = format!("hub/models--org--name/snapshots/{COMMIT}/m-Q4_K_M.gguf");
    assert!(world.tree("cache").contains(&path));
    let size = world.path("cache").join(path).metadata().unwrap().len();
    assert!(size < 4 << 20, "{size}");

    world.show("hf:org/name", "m-Q4_K_M").gave("<s>G", &[]);
    assert_eq!(hub.files.asked().len(), 0);
    hub.server.asked();
    world.set("HF_HUB_OFFLINE", "1");
    world.show("hf:org/name", "m-Q4_K_M").gave("<s>G", &[]);
    world
        .show("hf:org/name:Q4_K_M", "m-Q4_K_M")
        .gave("<s>G", &[]);
    assert_eq!(hub.server.asked().len(), 0);
}

#[test]
fn a_server_without_ranges_is_not_listened_to_longer_than_needed() {
    let bytes = large("G");
    let whole = bytes.clone();
    let hub = Hub::troubled(with("m.gguf", bytes), move |request, _| {
        request
            .path
            .starts_with("/stored/m.gguf")
            .then(|| Reply::new(200, &whole))
    });
    let ran = hub.world().show("hf:org/name", "m");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "G"), "{}", ran.err);
    assert_eq!(hub.files.asked().len(), 3);
}

#[test]
fn one_of_several_files_can_be_chosen() {
    let small = |template: &str| Gguf::model(template).bytes();
    let mut all = with("m-Q4_0.gguf", small("four"));
    all.push(("m-Q8_0.gguf".to_owned(), small("eight")));
    all.push(("mmproj-f16.gguf".to_owned(), Gguf::new().bytes()));
    let hub = Hub::new(all);
    let world = hub.world();
    let ran = world.show("hf:org/name", "m-Q4_0");
    assert_eq!(ran.out, "four");
    assert!(
        ran.err.ends_with("note: hf:org/name: m-Q4_0.gguf is taken of 3 GGUF files; hf:org/name:FILE takes another one\n"),
        "{}",
        ran.err
    );
    hub.files.asked();
    for name in ["hf:org/name:q8_0", "hf:org/name@main:m-Q8_0.gguf"] {
        assert_eq!(world.show(name, "m-Q8_0").out, "eight");
    }
    assert_eq!(hub.files.asked().len(), 1);
    world.show("hf:org/name:Q2_K", "x").refused(&[
        "hf:org/name:Q2_K: the model has no GGUF file Q2_K",
        "there are m-Q4_0.gguf, m-Q8_0.gguf, mmproj-f16.gguf",
    ]);
}

/// If a model has a template in a file of its own, transformers uses that, and the weights are not
/// fetched.
#[test]
fn weights_next_to_a_template_are_not_asked_for() {
    let mut all = with("m.gguf", large("G"));
    all.extend(files(&[("chat_template.jinja", "J")]));
    let hub = Hub::new(all);
    let ran = hub.world().show("hf:org/name", "org/name");
    assert_eq!(ran.out, "J", "{}", ran.err);
    assert_eq!(hub.files.asked().len(), 0);
}

#[test]
fn what_is_no_gguf_file_is_reported_after_the_first_part() {
    let hub = Hub::new(with("m.gguf", vec![b'x'; 3 << 20]));
    hub.world()
        .show("hf:org/name", "m")
        .refused(&["hf:org/name/m.gguf, byte 0: not a GGUF file"]);
    assert_eq!(hub.files.asked().len(), 1);
    let torn = Gguf::model("D").bytes()[..200].to_vec();
    let hub = Hub::new(with("m.gguf", torn));
    hub.world()
        .show("hf:org/name", "m")
        .refused(&["hf:org/name/m.gguf: the metadata is incomplete in the first 200 bytes"]);
}
