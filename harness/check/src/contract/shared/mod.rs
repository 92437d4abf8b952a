//! What several contracts share, by its subject.

pub(super) mod answers;
pub(super) mod arguments;
pub(super) mod calls;
pub(super) mod content;
pub(super) mod leaks;
pub(super) mod mask;
pub(super) mod mentions;
pub(super) mod messages;
pub(super) mod purpose;
pub(super) mod read_answer;
pub(super) mod reasoning;
pub(super) mod spelling;
pub(super) mod switches;
pub(super) mod tokens;
pub(super) mod vocabulary;

pub(super) mod agents;
pub(super) mod prefix;
pub(super) mod tools;
pub(super) mod working;
