//! Messages about invalid names, and about paths that look like names.

use super::world::World;

#[test]
fn names_that_are_no_paths_are_said_how_to_write() {
    let world = World::new();
    for (path, help) in [
        (
            "Qwen/Qwen2.5",
            "if it is a model on the Hugging Face hub, write hf:Qwen/Qwen2.5",
        ),
        (
            "llama3.1:8b",
            "if it is a model of Ollama's, write ollama:llama3.1:8b",
        ),
        ("https://huggingface.co/a/b/tree/main", "write hf:a/b\n"),
    ] {
        world
            .show(path, "x")
            .refused(&[&format!("{path}: no such file or folder\n"), help]);
        world
            .run(&["check", path])
            .refused(&["no such file or folder", help]);
    }
    let ran = world.show("nowhere.jinja", "x");
    ran.refused(&["nowhere.jinja: no such file or folder\n"]);
    assert!(!ran.err.contains("hf:"), "{}", ran.err);
}

#[test]
fn names_that_are_none_are_refused_before_anything_is_asked() {
    let mut world = World::new();
    world.set("HF_ENDPOINT", "http://127.0.0.1:1");
    for name in [
        "hf:",
        "hf:a/b/c",
        "hf:../../etc",
        "hf:a/b@../../x",
        "hf:a/b:../x",
    ] {
        world
            .show(name, "x")
            .refused(&["not the name of a model", "write hf:ORG/NAME"]);
    }
    world
        .show("ollama:../x", "x")
        .refused(&["not the name of a model", "ollama:NAME:TAG"]);
    assert_eq!(world.tree("hf").len() + world.tree("cache").len(), 0);
}
