//! Families of templates for which llama.cpp has handlers of its own (`common_chat_try_specialized_template`
//! of `common/chat.cpp`, and `common/parsers/`).

/// How llama.cpp continues the last message for a family.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Family {
    /// Texts that the source of a template has.
    marks: &'static [&'static str],
    /// A text that it does not have.
    without: Option<&'static str>,
    /// The opening of a message with a thought. None if the template's own opening comes before it.
    pub(super) opening: Option<&'static str>,
    /// The texts before and after a thought. None if the family has no thoughts.
    pub(super) thought: Option<[&'static str; 2]>,
    /// What happens to the messages.
    pub(super) messages: FamilyMessages,
}

/// What a handler does to the messages before the template sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FamilyMessages {
    /// Nothing.
    Same,
    /// The thought is under `thinking`, too. Beside calls the text is lost.
    ThinkingAndNoText,
    /// The thought is under `thinking`, too.
    Thinking,
    /// The thought is a part of the content.
    ThoughtParts,
    /// Results are in the message with their calls.
    ResultsWithCalls,
    /// Results have the order of their calls.
    SortedResults,
}

const IM: &str = "<|im_start|>assistant\n";
const THINK: Option<[&str; 2]> = Some(["<think>", "</think>"]);

/// The families, in the order in which llama.cpp tries them.
static FAMILIES: [Family; 19] = [
    // Ministral 3
    Family {
        without: Some("[CALL_ID]"),
        thought: Some(["[THINK]", "[/THINK]"]),
        messages: FamilyMessages::ThoughtParts,
        ..of(&["[SYSTEM_PROMPT]", "[TOOL_CALLS]", "[ARGS]"], "")
    },
    // gpt-oss
    Family {
        thought: Some([
            "<|channel|>analysis<|message|>",
            "<|end|><|start|>assistant<|channel|>final<|message|>",
        ]),
        messages: FamilyMessages::ThinkingAndNoText,
        ..of(&["<|channel|>"], "<|start|>assistant")
    },
    // Muse Glimmer
    Family {
        thought: Some([
            " to=self<|message|>",
            "<|eom|><|start|>assistant to=user<|message|>",
        ]),
        ..of(&["<atem:function_calls>", "<|eom|>"], "<|start|>assistant")
    },
    // Functionary 3.2
    Family {
        thought: None,
        ..of(
            &[">>>all", ">>>${recipient}"],
            "<|start_header_id|>assistant<|end_header_id|>\n\n>>>all\n",
        )
    },
    // Kimi K2
    of(
        &["<|tool_calls_section_begin|>", "<|tool_call_begin|>"],
        "<|im_assistant|>assistant<|im_middle|>",
    ),
    // Kimi K3
    Family {
        thought: Some([
            "<|open|>think<|sep|>",
            "<|close|>think<|sep|><|open|>response<|sep|>",
        ]),
        ..of(
            &["<|open|>", "<|close|>", "<|end_of_msg|>"],
            "<|open|>message role=\"assistant\"<|sep|>",
        )
    },
    // Ling 3
    of(
        &["<role>ASSISTANT</role>", "<arg_key>"],
        "<role>ASSISTANT</role>\n",
    ),
    // Cohere2 MoE
    Family {
        thought: Some(["<|START_THINKING|>", "<|END_THINKING|><|START_TEXT|>"]),
        ..of(
            &["<|START_TEXT|>", "<|START_ACTION|>"],
            "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        )
    },
    // LFM2
    Family {
        messages: FamilyMessages::Thinking,
        ..of(&["<|tool_list_start|>", "<|tool_list_end|>"], IM)
    },
    // LFM2.5
    Family {
        without: Some("<|tool_list_start|>"),
        messages: FamilyMessages::Thinking,
        ..of(&["List of tools: ["], IM)
    },
    // GigaChat 3
    Family {
        without: Some("<|function_call|>"),
        thought: None,
        ..of(
            &["<|role_sep|>", "<|message_sep|>"],
            "assistant<|role_sep|>\n",
        )
    },
    // MiniMax M3
    Family {
        opening: None,
        thought: Some(["<mm:think>", "</mm:think>"]),
        ..of(&["]<]minimax[>[", "<tool_call>", "<invoke name="], "")
    },
    // DeepSeek V3.2, then V4
    of(&["dsml_token", "DSML", "function_calls"], "<｜Assistant｜>"),
    Family {
        messages: FamilyMessages::SortedResults,
        ..of(&["dsml_token", "DSML", "tool_calls"], "<｜Assistant｜>")
    },
    // Gemma 4, newer and older
    Family {
        thought: GEMMA_4,
        ..of(&["'<|tool_call>call:'", "{#- OpenAI Chat Completions:"], "")
    },
    Family {
        thought: GEMMA_4,
        messages: FamilyMessages::ResultsWithCalls,
        ..of(&["'<|tool_call>call:'"], "")
    },
    // MiniCPM5
    Family {
        thought: LINES,
        ..of(
            &[
                "Tool usage guidelines:",
                "<function name=\"",
                "<param name=\"",
            ],
            IM,
        )
    },
    // Qwen3-Coder, with and without thoughts
    Family {
        without: Some(TIGHT),
        thought: LINES,
        ..of(&["<tool_call>", "<function=", "<parameter=", "<think>"], IM)
    },
    Family {
        without: Some(TIGHT),
        thought: None,
        ..of(&["<tool_call>", "<function=", "<parameter="], IM)
    },
];

const GEMMA_4: Option<[&str; 2]> = Some(["<|channel>thought\n", "<channel|>"]);
const LINES: Option<[&str; 2]> = Some(["<think>\n", "\n</think>\n\n"]);
const TIGHT: &str = "'<tool_call><function=' ~ tool_call.name ~ '>'";

const fn of(marks: &'static [&'static str], opening: &'static str) -> Family {
    Family {
        marks,
        without: None,
        opening: Some(opening),
        thought: THINK,
        messages: FamilyMessages::Same,
    }
}

impl Family {
    /// The family of a template.
    pub(super) fn of(source: &str) -> Option<&'static Family> {
        FAMILIES.iter().find(|family| {
            family.marks.iter().all(|mark| source.contains(mark))
                && !family.without.is_some_and(|mark| source.contains(mark))
        })
    }
}
