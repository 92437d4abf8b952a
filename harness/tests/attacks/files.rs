//! Folders whose files are not what they seem.

use super::World;

/// A link out of a model's folder is a problem, and what it leads to is not shown.
#[test]
fn a_template_that_is_a_link_is_not_read() {
    let world = World::new();
    world.link(
        "work/model/chat_template.jinja",
        "../../outside/secret.jinja",
    );
    world
        .rolecall(&["check", "model"])
        .is_well(&[2])
        .says(&["a link that leads outside"]);
}
