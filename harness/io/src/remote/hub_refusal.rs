//! Refusals of the Hugging Face hub, explained with what to do.
//!
//! The hub says it in the header `X-Error-Code`. Without a token it answers 401 both for
//! private repositories and for those that do not exist.

use std::path::Path;

use rolecall_core::problem::Problem;

use super::download::DownloadError;
use super::name::HubName;

/// The hub's message about an invalid token.
const INVALID_TOKEN: &str = "Invalid credentials in Authorization header";

/// Whether the model is there and the revision is not.
pub(super) fn is_no_revision(error: &DownloadError) -> bool {
    matches!(error, DownloadError::Status { code: Some(code), .. } if code == "RevisionNotFound")
}

/// Whether the hub has no such model, or hides it from this user.
pub(super) fn is_no_model(error: &DownloadError) -> bool {
    match error {
        DownloadError::Status {
            status,
            code,
            message,
            ..
        } => match code.as_deref() {
            Some(code) => code == "RepoNotFound",
            None => matches!(status, 401 | 404) && message.as_deref() != Some(INVALID_TOKEN),
        },
        _ => false,
    }
}

/// A refusal as a problem with the name that the user gave.
pub(super) fn problem(shown: &Path, name: &HubName, error: &DownloadError) -> Problem {
    let (message, help) = words(name, error);
    Problem::new(shown, message).help(help)
}

fn words(name: &HubName, error: &DownloadError) -> (String, String) {
    let DownloadError::Status {
        status,
        code,
        message,
        ..
    } = error
    else {
        return (error.to_string(), error.help().to_owned());
    };
    let page = format!("https://huggingface.co/{}", name.repository);
    if is_no_revision(error) {
        let message = format!("the model has no revision {:?}", name.revision);
        let help = format!("a revision is a branch, a tag or a commit: see {page}/tree/main");
        return (message, help);
    }
    if code.as_deref() == Some("GatedRepo") {
        let message = "the model is gated: you have to ask its authors for access".to_owned();
        let help = if *status == 401 {
            format!("ask for access on {page}, then log in by `hf auth login` or set HF_TOKEN")
        } else {
            format!(
                "ask for access on {page} with the account that HF_TOKEN or `hf auth login` is of"
            )
        };
        return (message, help);
    }
    if message.as_deref() == Some(INVALID_TOKEN) {
        let message = "the Hugging Face hub rejects the token".to_owned();
        let help = "log in again with `hf auth login`, or correct or unset HF_TOKEN".to_owned();
        return (message, help);
    }
    if is_no_model(error) {
        let message = "no such model on the Hugging Face hub, or a private one".to_owned();
        let help = if name.repository.contains('/') {
            "is the name right? For a private model log in by `hf auth login` or set HF_TOKEN"
        } else {
            "the name of a model has two parts, the owner first: hf:ORG/NAME"
        };
        return (message, help.to_owned());
    }
    if *status == 403 {
        let help = "has the token of HF_TOKEN or `hf auth login` the right to read this model?";
        return (error.to_string(), help.to_owned());
    }
    (error.to_string(), error.help().to_owned())
}
