use rolecall_core::{Case, Dialect, Template};
use rolecall_front::engines::Engines;
use serde_json::{Value, json};

use super::*;

/// Conversations with answers, calls, and without.
fn cases() -> Vec<Case> {
    let call = json!([{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]);
    let conversations = [
        json!([{"role": "user", "content": "q"}]),
        json!([
            {"role": "system", "content": "s"},
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": " a "},
            {"role": "user", "content": "q"},
        ]),
        json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a", "tool_calls": call},
            {"role": "tool", "content": "r"},
            {"role": "assistant", "content": "b"},
        ]),
        json!([{"role": "user", "content": 3}]),
    ];
    let cases = conversations.into_iter().flat_map(|messages: Value| {
        [true, false].map(|opens| {
            let mut case = Case::from_messages(messages.as_array().unwrap().clone());
            case.add_generation_prompt = opens;
            case
        })
    });
    cases.collect()
}

fn marked_source(source: &str) -> Result<Marked, Unmarked> {
    marked_in(source, &cases())
}

fn marked_in(source: &str, cases: &[Case]) -> Result<Marked, Unmarked> {
    let template = Template::from_source("t", Dialect::Jinja, source);
    let engines = Engines::default();
    let engine = engines.for_dialect(Dialect::Jinja);
    let pairs = cases.iter().map(|case| Pair {
        template: &template,
        case,
    });
    marked(engine, &template, pairs)
}

const OPENING: &str = "{{- '<|im_start|>assistant\\n' if add_generation_prompt }}";

#[test]
fn a_print_is_cut_where_the_answer_begins_and_ends() {
    let source = "{%- for m in messages %}\n\
        \x20   {%- if m.role == 'assistant' %}\n\
        \x20       {{- '<|im_start|>assistant\\n' + m.content | trim + '<|im_end|>\\n' }}\n\
        \x20   {%- else %}\n\
        \x20       {{- '<|im_start|>' ~ m.role ~ '\\n' ~ m.content ~ '<|im_end|>\\n' }}\n\
        \x20   {%- endif %}\n\
        {%- endfor %}\n";
    let found = marked_source(&format!("{source}{OPENING}")).unwrap();
    let expected = "{{- '<|im_start|>assistant\\n' }}{% generation %}{{ m.content | trim + \
                    '<|im_end|>' }}{% endgeneration %}{{ '\\n' }}\n";
    assert!(found.source.contains(expected), "{}", found.source);
    assert_eq!(
        (found.blocks, found.prompts, found.refusals, found.answers),
        (1, 8, 0, 4)
    );
}

#[test]
fn a_branch_for_all_roles_is_distinguished() {
    let source = "{% for m in messages %}\n<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n\
        {% endfor %}";
    let found = marked_source(&format!("{source}{OPENING}")).unwrap();
    assert_eq!((found.blocks, found.prompts, found.answers), (1, 8, 4));
    let text = &found.source;
    assert!(text.contains("if m['role'] == 'assistant'"), "{text}");
}

#[test]
fn calls_and_text_may_need_blocks_of_their_own() {
    let source = "{% for m in messages %}{% if m.role == 'assistant' %}<|im_start|>assistant\n\
        {{ m.content }}{% for c in m.tool_calls or [] %}<call>{{ c.function.name }}</call>{% endfor %}\
        <|im_end|>\n{% else %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endif %}\
        {% endfor %}";
    let found = marked_source(&format!("{source}{OPENING}")).unwrap();
    assert_eq!((found.prompts, found.answers), (8, 4), "{}", found.source);
}

#[test]
fn a_cut_sum_refuses_what_it_refused_before() {
    // A content that is no text cannot be added to one, but it could be printed.
    let source = "{% for m in messages %}{% if m.role == 'assistant' %}\
        {{ '<|im_start|>assistant\n' + m.content }}{{ '<|im_end|>' }}\
        {% else %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}";
    let mut cases = cases();
    cases.push(Case::from_messages(vec![
        json!({"role": "user", "content": "q"}),
        json!({"role": "assistant", "content": 3}),
    ]));
    let found = marked_in(&format!("{source}{OPENING}"), &cases).unwrap();
    let text = &found.source;
    assert!(
        text.contains("{% generation %}{{ '' + m.content }}"),
        "{text}"
    );
    assert_eq!((found.prompts, found.refusals), (8, 1));
}

#[test]
fn a_line_break_before_calls_may_belong_to_the_opening() {
    let source = "{%- for m in messages %}{% if m.role == 'assistant' %}\
        {{- '<|im_start|>assistant' }}{% if m.content %}{{- '\n' + m.content }}{% endif %}\
        {%- for c in m.tool_calls or [] %}{{- '\n<call>' ~ c.function.name ~ '</call>' }}{% endfor %}\
        {{- '<|im_end|>\n' }}\
        {%- else %}{{- '<|im_start|>' ~ m.role ~ '\n' ~ m.content ~ '<|im_end|>\n' }}{% endif %}\
        {%- endfor %}";
    let mut cases = cases();
    for content in ["", "a"] {
        let call = json!({"type": "function", "function": {"name": "f", "arguments": {}}});
        cases.push(Case::from_messages(vec![
            json!({"role": "user", "content": "q"}),
            json!({"role": "assistant", "content": content, "tool_calls": [call, call]}),
        ]));
    }
    let found = marked_in(&format!("{source}{OPENING}"), &cases).unwrap();
    let text = &found.source;
    assert!(
        text.contains("if loop.first and not m['content']"),
        "{text}"
    );
    assert_eq!((found.prompts, found.answers), (10, 6));
}

#[test]
fn a_template_may_open_its_answers_always() {
    let source = "{% for m in messages %}{% if m.role == 'assistant' %} {{ m.content }}</s>\
        {% else %}[INST]{{ m.content }}[/INST]{% endif %}{% endfor %}";
    let found = marked_source(source).unwrap();
    assert_eq!((found.blocks, found.prompts, found.answers), (1, 8, 4));
}

#[test]
fn white_space_next_to_marks_stays() {
    // The tags take away white space on one side, on both, or on none.
    for (before, after) in [("", ""), ("-", ""), ("", "-"), ("-", "-")] {
        let source = format!(
            "{{% for m in messages %}}\n  {{% if m.role == 'assistant' {after}%}}\n   <|im_start|>assistant\n\
             \x20   {{{{{before} m.content {after}}}}}\n  <|im_end|>\n\n  {{%{before} else %}}\n\
             <|im_start|>{{{{ m.role }}}}: {{{{ m.content }}}}<|im_end|>{{% endif %}}\n{{% endfor %}}\
             {{{{ '   <|im_start|>assistant' if add_generation_prompt }}}}"
        );
        match marked_source(&source) {
            Ok(found) => assert_eq!((found.prompts, found.answers), (8, 4), "{}", found.source),
            Err(why) => panic!("{why}: {source}"),
        }
    }
}

#[test]
fn what_is_put_together_before_it_is_printed_has_no_place_for_marks() {
    let source = "{% for m in messages %}\n\
        {% set text = '<|im_start|>' ~ m.role ~ '\\n' ~ m.content ~ '<|im_end|>\\n' %}\n\
        {{- text }}{% endfor %}";
    let Err(Unmarked::Blocked(blame)) = marked_source(&format!("{source}{OPENING}")) else {
        panic!("it has marks");
    };
    assert_eq!(blame.obstacle, Obstacle::Captured);
    assert_eq!(blame.line, Some(2));
    assert!(blame.to_string().contains("from line 2"), "{blame}");
}

#[test]
fn some_templates_are_not_for_marks() {
    let marks = "{% generation %}{{ messages[0].content }}{% endgeneration %}";
    assert!(matches!(marked_source(marks), Err(Unmarked::HasMarks)));
    let nothing = "{{ messages[0].content }}";
    assert!(matches!(
        marked_source(nothing),
        Err(Unmarked::NothingWritten)
    ));
    assert!(matches!(
        marked_source("{% if %}"),
        Err(Unmarked::Refused(_))
    ));
}
