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


def test_what_has_no_mask_says_so() -> None:
    with pytest.raises(rolecall.TemplateRaised):
        rolecall.Template("{{ raise_exception('No.') }}").mask(TALK)
    with pytest.raises(rolecall.InputRefused):
        rolecall.Template("{{ .Prompt }}", dialect="go").mask(TALK)
    assert rolecall.Template(CHATML).mask(TALK[:1]).texts == []
