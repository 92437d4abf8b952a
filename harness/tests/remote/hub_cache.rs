//! Compares the cache with the one that `huggingface_hub` makes from the same hub.

use std::process::Command;

use super::world::{Hub, model};

/// Files in the cache that are no part of a model.
fn is_of_others(name: &str) -> bool {
    name.starts_with(".locks/") || name == "CACHEDIR.TAG" || name.starts_with("xet/")
}

/// Runs if the variable `ROLECALL_HF_PYTHON` names the Python of an environment with
/// `huggingface_hub`. Both programs make the same cache, and each uses the files that the other has
/// fetched.
#[test]
#[ignore = "needs huggingface_hub: set ROLECALL_HF_PYTHON to a Python that has it"]
fn huggingface_hub_makes_the_same_cache() {
    let Ok(python) = std::env::var("ROLECALL_HF_PYTHON") else {
        panic!("ROLECALL_HF_PYTHON is not set");
    };
    let names = [
        "additional_chat_templates/rag.jinja",
        "chat_template.jinja",
        "config.json",
        "tokenizer_config.json",
    ];
    let script = "import sys\nfrom huggingface_hub import hf_hub_download\nfor f in sys.argv[1:]: hf_hub_download('org/name', f)";
    let hub = Hub::new(model());
    let with_python = |world: &super::world::World, is_offline: bool| {
        let output = Command::new(&python)
            .arg("-c")
            .arg(script)
            .args(names)
            .env("HF_ENDPOINT", &hub.server.address)
            .env("HF_HOME", world.path("hf"))
            .env("HF_HUB_DISABLE_XET", "1")
            .env("HF_HUB_OFFLINE", if is_offline { "1" } else { "0" })
            .env("NO_PROXY", "127.0.0.1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
    };
    let (mut theirs, ours) = (hub.world(), hub.world());
    with_python(&theirs, false);
    let ran = ours.show("hf:org/name", "org/name");
    assert_eq!(ran.out, "<s>Hi", "{}", ran.err);
    let tree = |world: &super::world::World| -> Vec<String> {
        let names = world.tree("hf/hub").into_iter();
        names.filter(|name| !is_of_others(name)).collect()
    };
    assert_eq!(tree(&ours), tree(&theirs));
    assert_eq!(tree(&ours).len(), 9);

    // Each program reads the other's cache and sends no request.
    hub.server.asked();
    with_python(&ours, true);
    theirs.set("HF_HUB_OFFLINE", "1");
    theirs.show("hf:org/name", "org/name").gave("<s>Hi", &[]);
    assert_eq!(hub.server.asked().len(), 0);
}
