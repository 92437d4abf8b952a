//! All models of an organisation: `hf:ORG/*`.

use super::server::{Reply, Server};
use super::world::{World, sha256};

const SOUND: &str = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}\
    {{ '<|assistant|>' if add_generation_prompt }}";

/// A hub with an organisation: models, each with the source of its template, most used first.
fn hub(models: &'static [(&'static str, &'static str)], next: bool) -> Server {
    Server::new(move |request, _| {
        let path = request.path.as_str();
        if path.starts_with("/api/models?author=org&") {
            let listed = models.iter().enumerate().map(|(at, (name, source))| {
                let config = match *source {
                    "" => serde_json::json!({"architectures": []}),
                    _ => serde_json::json!({"tokenizer_config": {"chat_template": source}}),
                };
                serde_json::json!({
                    "id": if name.contains('/') { (*name).to_owned() } else { format!("org/{name}") },
                    "downloads": 1000 >> (2 * at),
                    "siblings": [{"rfilename": "tokenizer_config.json"}],
                    "config": config,
                })
            });
            let reply = Reply::new(200, listed.collect::<serde_json::Value>().to_string());
            return if next {
                reply.with("Link", "<http://x/api/models?cursor=y>; rel=\"next\"")
            } else {
                reply
            };
        }
        let of = |name: &str| path.split(['/', '?']).any(|part| part == name);
        let Some((_, source)) = models.iter().find(|(name, _)| of(name)) else {
            return Reply::new(404, "");
        };
        if path.starts_with("/api/models/") {
            let files = serde_json::json!([{"rfilename": "tokenizer_config.json"}]);
            let commit = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";
            let said = serde_json::json!({"sha": commit, "siblings": files});
            return Reply::new(200, said.to_string());
        }
        let file = serde_json::json!({"chat_template": source}).to_string();
        let etag = format!("\"{}\"", &sha256(file.as_bytes())[..40]);
        Reply::new(200, file).with("ETag", etag)
    })
}

fn world(hub: &Server) -> World {
    let mut world = World::new();
    world.set("HF_ENDPOINT", &hub.address);
    world
}

/// Two models with the same template, which loses all messages but the last.
const FORGETFUL: &str = "{% for m in messages[-1:] %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}\
    {{ '<|assistant|>' if add_generation_prompt }}";

#[test]
fn an_organisation_is_checked_and_summed_up() {
    let hub = hub(
        &[
            ("big", FORGETFUL),
            ("base", ""),
            ("small", FORGETFUL),
            ("other", SOUND),
            // Whatever the hub lists, these are not models of the organisation.
            ("others/stolen", FORGETFUL),
            ("organic/name", FORGETFUL),
        ],
        false,
    );
    let world = world(&hub);
    let ran = world.run(&["check", "hf:org/*"]);
    let said = "hf:org/*: 3 models have a chat template; 1 is left out, which has none, or one in a GGUF \
        file only\n";
    assert!(ran.err.contains(said), "{ran:?}");
    assert!(!ran.err.contains("there are more models"), "{ran:?}");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    // 1000 and 62 of 1000 + 62 + 15 downloads.
    let words: Vec<&str> = ran.out.split_whitespace().collect();
    let row = ["messages-kept", "error", "2", "66.7", "%", "98.6", "%"];
    assert!(
        words.windows(row.len()).any(|words| words == row),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("3 templates: 1 clean; 1,077 downloads\n"),
        "{}",
        ran.out
    );
    assert!(hub.paths().iter().all(|path| !path.contains("/base/")));
    assert!(
        hub.paths()
            .iter()
            .all(|path| !path.contains("others") && !path.contains("organic"))
    );

    // A list of one's own counts instead. Models that have a template alike have the same card.
    world.write("list.csv", "org/big,1\norg/small,3\norg/other,4\n");
    let check = [
        "check",
        "hf:org/*",
        "--downloads",
        "list.csv",
        "--format",
        "json",
    ];
    let found: serde_json::Value = serde_json::from_str(&world.run(&check).out).unwrap();
    let kept = found["summary"]["contracts"].as_array().unwrap();
    let kept = kept
        .iter()
        .find(|one| one["contract"] == "messages-kept")
        .unwrap();
    assert_eq!(
        (&kept["downloads"], &kept["downloads_percent"]),
        (&4.into(), &50.0.into())
    );
    assert_eq!(found["summary"]["clean"], 1);
    let [big, small] = [0, 2].map(|at| &found["cards"][at]);
    assert_eq!(
        [&big["template"], &small["template"]],
        ["org/big", "org/small"]
    );
    assert_eq!(big["findings"], small["findings"]);

    let ran = world.run(&["check", "hf:org/*", "--format", "markdown"]);
    let row = "\n| `messages-kept` | error | 2 | 66.7 % | 98.6 % | ";
    assert!(ran.out.contains(row), "{}", ran.out);
}

#[test]
fn what_is_not_looked_at_is_said() {
    let hub = hub(&[("a", SOUND)], true);
    let ran = world(&hub).run(&["check", "hf:org/*"]);
    let said = "hf:org/*: there are more models, and only the 200 with the most downloads are looked at; name \
        others themselves, as hf:ORG/NAME\n";
    assert!(ran.err.contains(said), "{ran:?}");
}

#[test]
fn an_organisation_without_templates_is_a_problem() {
    let mut world = world(&hub(&[("base", "")], false));
    let refused = |world: &World, words: &[&str]| world.run(&["check", "hf:org/*"]).refused(words);
    refused(
        &world,
        &[
            "hf:org/*: no model has a chat template",
            "name a model with GGUF files itself",
        ],
    );
    let nobody = hub(&[], false);
    world.set("HF_ENDPOINT", &nobody.address);
    refused(
        &world,
        &[
            "hf:org/*: the hub knows no model of org",
            "is the name right?",
        ],
    );
    world.set("HF_HUB_OFFLINE", "1");
    refused(&world, &["hf:org/*: nothing may be fetched"]);
    assert_eq!(nobody.paths().len(), 1);
    world.unset("HF_HUB_OFFLINE");
    world.write("t.jinja", SOUND);
    world.write("list.csv", "t,1\nu;2\n");
    let check = ["check", "t.jinja", "--downloads", "list.csv"];
    world.run(&check).refused(&[
        "list.csv:2:1: there is no comma and no tab",
        "org/name,1200",
    ]);
}
