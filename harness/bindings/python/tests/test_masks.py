"""What the model writes of a prompt."""

from __future__ import annotations

import pytest

import rolecall

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TALK = [
    {"role": "user", "content": "Grüß dich"},
    {"role": "assistant", "content": "Schön!"},
    {"role": "user", "content": "Und?"},
    {"role": "assistant", "content": ""},
]


def test_the_answers_with_their_ends_are_learned() -> None:
    mask = rolecall.Template(CHATML).mask(TALK, add_generation_prompt=False)
    assert mask.prompt == rolecall.Template(CHATML).render(TALK, add_generation_prompt=False)
    assert mask.texts == ["Schön!<|im_end|>", "<|im_end|>"]
    for (start, end), text in zip(mask.learned, mask.texts):
        assert mask.prompt.encode()[start:end].decode() == text
    assert [(turn.message, turn.kind) for turn in mask.turns] == [(1, "as-asked"), (3, "as-asked")]
    for turn in mask.turns:
        assert turn.end and turn.learned and turn.end[1] == turn.learned[1]
    assert mask.marked is None
    assert mask.to_dict()["learned"][0]["start"] == mask.learned[0][0]


def test_tokens_with_a_learned_character_are_learned() -> None:
    mask = rolecall.Template(CHATML).mask(TALK[:2], add_generation_prompt=False)
    ((start, end),) = mask.characters
    offsets = [(0, start), (start - 1, start + 1), (start, end), (end - 1, end + 1), (end, end + 1)]
    assert mask.of_tokens(offsets) == [0, 1, 1, 1, 0]


def test_marks_are_compared() -> None:
    marked = CHATML.replace(
        "{{ m.content }}",
        "{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}"
        "{% else %}{{ m.content }}{% endif %}",
    )
    mask = rolecall.Template(marked).mask(TALK[:2])
    assert mask.marked == [(mask.learned[0][0], mask.learned[0][1] - len("<|im_end|>"))]


def test_many_conversations_have_the_masks_of_each() -> None:
    template = rolecall.Template(CHATML)
    talks = [[{"role": "user", "content": str(number)}, *TALK[1:]] for number in range(700)]
    masks = template.mask(talks, add_generation_prompt=False)
    assert len(masks) == 700
    for talk, mask in zip(talks[::99], masks[::99]):
        alone = template.mask(talk, add_generation_prompt=False)
        assert mask.to_dict() == alone.to_dict() and talk[0]["content"] in mask.prompt


def test_a_long_conversation_has_the_mask_of_its_parts() -> None:
    """The prompts of a long mask are the beginnings of one conversation."""
    source = (
        "{% set last = messages | length - 1 %}{% for m in messages %}<{{ m.role }}>"
        "{% if m.thinking and loop.index0 == last %}<think>{{ m.thinking }}</think>{% endif %}"
        "{{ m.content or '' }}</s>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
    )
    talk: list[dict[str, object]] = []
    for number in range(150):
        talk.append({"role": "user", "content": f"q{number} ü </s>"})
        # A null field is dropped, and reasoning gets its other names: transformers does so.
        talk.append({"role": "assistant", "content": f"a{number}", "reasoning": "hm", "name": None})
    mask = rolecall.Template(source).mask(talk, add_generation_prompt=False)
    texts = [f"a{number}</s>" for number in range(149)] + ["<think>hm</think>a149</s>"]
    assert mask.texts == texts
    assert {turn.kind for turn in mask.turns} == {"as-asked"}
    places = [(start, end) for start, end in mask.characters]
    ends = [end for _, end in places]
    tokens = list(zip([0, *ends], ends))
    assert mask.of_tokens(tokens) == [1] * 150
    assert mask.of_tokens([(end, end) for end in ends]) == [0] * 150


def test_ctrl_c_ends_a_long_mask() -> None:
    import signal
    import time

    template = rolecall.Template(CHATML)
    talk = TALK[:2] * 3000

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            for _ in range(1000):
                template.mask(talk)
        assert time.monotonic() - start < 2
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_what_has_no_mask_says_so() -> None:
    with pytest.raises(rolecall.TemplateRaised):
        rolecall.Template("{{ raise_exception('No.') }}").mask(TALK)
    with pytest.raises(rolecall.InputRefused):
        rolecall.Template("{{ .Prompt }}", dialect="go").mask(TALK)
    assert rolecall.Template(CHATML).mask(TALK[:1]).texts == []
