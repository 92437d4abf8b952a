//! The models of an organisation, or of a user, on the Hugging Face hub: `hf:ORG/*`.
//!
//! One request returns the names of the models with the most downloads, their files and, as
//! `config`, what the hub has read of their templates.

use std::path::Path;

use rolecall_core::problem::Problem;
use serde_json::Value;

use super::download::{Download, Downloader};
use super::files::is_template;
use super::found::{MOST_MODELS, Organisation};
use super::hub_refusal;
use super::name::{HubName, is_repository};
use super::settings;
use crate::http::without_password;

/// The most bytes of the hub's answer: it has the files and templates of all models.
const MOST_LISTED: u64 = 64 << 20;

/// Asks the hub for the models of an organisation.
pub(super) fn find(shown: &Path, name: &str) -> Result<Organisation, Problem> {
    if settings::is_hub_offline() {
        let message = "nothing may be fetched: HF_HUB_OFFLINE or ROLECALL_OFFLINE is set";
        return Err(Problem::new(shown, message)
            .help("run this without that variable, or name models that are in the cache"));
    }
    let endpoint = settings::endpoint();
    let token = settings::token().map(|token| (endpoint.as_str(), token));
    let most = MOST_MODELS + 1;
    let url = format!(
        "{endpoint}/api/models?author={name}&sort=downloads&direction=-1&limit={most}&full=true&config=true"
    );
    let answer = Downloader::new(token).get(&Download {
        url: &url,
        accept: Some("application/json"),
        range: None,
        most: MOST_LISTED,
        is_known: &|_| false,
    });
    let repository = HubName {
        repository: name.to_owned(),
        revision: "main".to_owned(),
        file: None,
    };
    let answer = answer.map_err(|error| hub_refusal::problem(shown, &repository, &error))?;
    let said = serde_json::from_slice(&answer.bytes.unwrap_or_default());
    let Ok(Value::Array(said)) = said else {
        let message = format!("{} gives no list of models", without_password(&endpoint));
        let help = "is HF_ENDPOINT the address of a Hugging Face hub?";
        return Err(Problem::new(shown, message).help(help));
    };
    // A hub may give fewer models at once, and says then where the others are.
    let has_more = said.len() > MOST_MODELS || answer.headers.contains_key("Link");
    let listed = said.iter().take(MOST_MODELS);
    let named = listed.filter_map(|model| Some((model["id"].as_str()?, model)));
    // Whoever asks for an organisation fetches nothing of another one.
    let is_own = |id: &str| {
        let owner = id.split_once('/').map(|(owner, _)| owner);
        is_repository(id) && owner.is_some_and(|owner| owner.eq_ignore_ascii_case(name))
    };
    let named: Vec<_> = named.filter(|(id, _)| is_own(id)).collect();
    if named.is_empty() {
        let message = format!("the hub knows no model of {name}");
        let help = "is the name right? Private models need a token: log in by `hf auth login` or set HF_TOKEN";
        return Err(Problem::new(shown, message).help(help));
    }
    let models = named.iter().filter(|(_, model)| has_template(model));
    let models: Vec<(String, usize)> = models
        .map(|(id, model)| (format!("hf:{id}"), downloads(model)))
        .collect();
    Ok(Organisation {
        others: named.len() - models.len(),
        models,
        has_more,
    })
}

fn downloads(model: &Value) -> usize {
    let downloads = model["downloads"].as_u64().unwrap_or(0);
    usize::try_from(downloads).unwrap_or(usize::MAX)
}

/// Whether a model has a chat template, as far as the hub says it: in a file of its own, or in its
/// tokenizer's configuration. A hub that says nothing about the files has to be asked for them.
fn has_template(model: &Value) -> bool {
    let Some(files) = model["siblings"].as_array() else {
        return true;
    };
    let config = &model["config"];
    let mut files = files.iter().filter_map(|file| file["rfilename"].as_str());
    files.any(|file| is_template(file) || config.is_null() && file == "tokenizer_config.json")
        || !config["tokenizer_config"]
            .get("chat_template")
            .is_none_or(Value::is_null)
        || !config["chat_template_jinja"].is_null()
}
