// What the pages of commands and the page in the browser share. All text becomes text, never markup,
// whatever a template printed.
const $ = (id) => document.getElementById(id);
const counted = (count, one, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

// Adds children to an element: elements, texts, lists of both, and nothing.
function fill(parent, ...children) {
  for (const child of children.flat(9)) {
    if (child !== null && child !== undefined && child !== false) parent.append(child);
  }
  return parent;
}

// Builds an element. A function is a listener.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === 'function') made.addEventListener(key, value);
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value === true ? '' : value);
  }
  return fill(made, children);
}

// Some fonts lack the control pictures, so the page shows signs that every font has.
const SIGNS = { '\u240a': '↵', '\u2403': '■', '\u2409': '⇥', '\u240d': '←', '\u2421': 'DEL' };
const sign = (mark) => SIGNS[mark] || `^${String.fromCharCode(mark.charCodeAt(0) - 0x2400 + 64)}`;

// A character that nobody sees, with a sign in its place: quiet, or in a box if it is a number.
const unseen = (text, shown) => element('span', { class: shown.startsWith('U+') ? 'mark hidden' : 'mark', 'data-sign': shown }, text);

// A text of a transcript.
const marked = (text) => text.split(/([\u2400-\u2426]|⟦U\+[0-9A-F]+⟧)/)
  .map((piece, at) => (at % 2 ? unseen(piece, piece.startsWith('⟦') ? piece.slice(1, -1) : sign(piece)) : piece));

const transcript = (text) => element('pre', { class: 'transcript' }, marked(text));

// A prompt, with a mark at the place of the defect.
const pointed = ([before, mark, after]) => element('pre', { class: 'transcript' },
  marked(before), element('mark', {}, marked(mark)), marked(`${after}\u2403`));

// The tokens of a prompt, each in its colour. Its number is the tooltip.
function tokensOf(tokens) {
  const tell = (id, kind) => `${id === null ? 'text' : `token ${id}`}${kind === 'ordinary' ? '' : `, ${kind}`}`;
  return tokens.map(([id, kind, text]) => element('span', { class: `token is-${kind}`, title: tell(id, kind) }, marked(text)));
}

function difference(diff) {
  const lines = diff.hunks.map((hunk, at) => [
    at > 0 && element('div', { class: 'quiet' }, '…'),
    hunk.map(([side, pieces]) => element('div', { class: side === '-' ? 'gone' : side === '+' ? 'came' : null },
      `${side} `, pieces.map(([text, changed]) => (changed ? element('b', {}, marked(text)) : marked(text))))),
  ]);
  return [diff.first && element('p', {}, marked(diff.first)), element('pre', { class: 'diff' }, lines)];
}

const INK = { kept: 'good', merged: 'good', partial: 'bad', dropped: 'bad', failed: 'note', refused: 'cool' };

function support(name, value) {
  if (value === undefined || value === null) return null;
  let word = value, why = null, ink = null;
  if (typeof value === 'object' && value.is) {
    word = value.is;
    why = value.message || value.why || null;
    ink = INK[value.is];
    if (value.text !== undefined) word = JSON.stringify(value.text);
  } else if (Array.isArray(value)) word = value.length ? value.join(', ') : 'none';
  else if (typeof value === 'boolean') word = value ? 'yes' : 'no';
  return element('div', {}, element('dt', {}, name),
    element('dd', { class: ink, title: why }, String(word), why && element('span', { class: 'quiet' }, ` ${why}`)));
}

// The capabilities in their order: nested groups become words before the name.
function capabilities(tree, path = []) {
  return Object.entries(tree).flatMap(([key, value]) => {
    const name = [...path, key.replaceAll('_', ' ')];
    const isGroup = value && typeof value === 'object' && !Array.isArray(value) && value.is === undefined;
    return isGroup ? capabilities(value, name) : [support(name.join(', '), value)];
  });
}

// The conversation of a probe: one line for each message, then the other fields.
function asked({ messages, ...rest }) {
  const lines = messages.map((message) => JSON.stringify(message));
  for (const [name, value] of Object.entries(rest)) lines.push(`${name}: ${JSON.stringify(value)}`);
  return lines.join('\n');
}

// Lines of a template's source, with a mark at one of them.
const excerpt = (lines) => element('pre', { class: 'source' }, lines.map(([number, text, isIt]) =>
  element('div', { class: isIt ? 'it' : null }, element('span', { class: 'quiet' }, `${String(number).padStart(4)} `), text)));

// The page of a contract, as `rolecall explain` prints it.
function explanation(page) {
  if (!page) return null;
  const parts = page.split(/^```.*$/m).map((part, at) => (at % 2
    ? element('pre', {}, part.trim())
    : part.trim().split(/\n\n+/).filter((text) => text && !text.startsWith('# ')).map((text) =>
      (text.startsWith('## ') ? element('h3', {}, text.slice(3)) : element('p', {}, text.replaceAll('\n', ' '))))));
  return element('details', { class: 'explanation' }, element('summary', {}, 'Why it matters, and how to fix it'), parts);
}

// What a page adds to an evidence and to a prompt that proves it, such as buttons.
const extras = { evidence: () => null, render: () => null };

// The prompts that prove something, side by side.
function shown(all) {
  const renders = (evidence) => evidence.renders.map((render) => element('div', { class: 'render' },
    element('p', { class: 'quiet' }, `${render.probe}: ${render.about} `, extras.render(render)),
    element('pre', { class: 'asked' }, asked(render.conversation)),
    render.marked ? pointed(render.marked) : transcript(render.transcript)));
  return all.map((evidence) => [
    element('p', {}, marked(evidence.what), extras.evidence(evidence)),
    evidence.because && element('p', {}, 'Why: ', marked(evidence.because)),
    evidence.diff
      ? [difference(evidence.diff), element('details', {},
        element('summary', {}, 'Both conversations and their prompts'), element('div', { class: 'two' }, renders(evidence)))]
      : element('div', { class: 'two' }, renders(evidence)),
  ]);
}

// What is known about a broken contract: the reason, the lines of the template, and the prompts that
// prove it.
function evidenceOf(one, page) {
  return [
    element('p', {}, `Guards against: ${one.guards_against}`),
    one.deliberate && element('p', { class: 'good' }, `Deliberate: ${one.deliberate}`),
    (one.source || []).map(excerpt),
    explanation(page),
    shown(one.evidence || []),
  ];
}

// The first of several are shown completely.
const OPEN_CAUSES = 3;

// The report card of a template. `page` has the explanations of contracts.
function reportCard(card, page) {
  const finding = (one, at) => element('details', {
    class: `finding is-${one.severity}`, id: `contract-${one.contract}`, open: one.severity === 'error' && at < OPEN_CAUSES,
  },
    element('summary', {}, element('b', {}, one.contract), element('span', { class: 'quiet' }, `${one.severity} · ${one.meaning}`),
      element('span', { class: 'what' }, marked(one.evidence?.[0]?.what ?? ''))),
    evidenceOf(one, page(one.contract)));
  const by = (verdict) => card.findings.filter((one) => one.verdict === verdict);
  const order = { error: 0, warning: 1, limitation: 2, note: 3 };
  const broken = by('broken').sort((a, b) => order[a.severity] - order[b.severity]);
  const alone = card.alone || [];
  const { switches = [], prefix_cache: cache = {}, ...able } = card.capabilities;
  const chips = (findings, title) => element('ul', { class: 'chips' },
    findings.map((one) => element('li', { title: title(one) }, one.contract)));
  const { nearest } = card;
  return [
    nearest && element('p', { class: 'quiet' }, `Renders as ${nearest.is_named ? 'its base ' : ''}${nearest.template} in ${nearest.same} of ${nearest.conversations} conversations`,
      nearest.places.length > 0 && `; other text ${nearest.places.slice(0, 3).join('; ')}`,
      nearest.places.length > 3 && element('span', { title: nearest.places.slice(3).join('\n') }, `; and ${nearest.places.length - 3} more`)),
    element('h2', {}, `Broken contracts: ${broken.length || 'none'}`),
    broken.map(finding),
    alone.length > 0 && element('h2', {}, `Broken on servers that pass conversations to the template unchanged: ${alone.length}`),
    alone.map((one) => finding(one, OPEN_CAUSES)),
    element('details', {}, element('summary', {}, counted(by('holds').length, 'contract holds', 'contracts hold')),
      chips(by('holds'), (one) => one.meaning)),
    element('details', {}, element('summary', {}, counted(by('does-not-apply').length, 'does not apply', 'do not apply')),
      chips(by('does-not-apply'), (one) => one.reason)),
    element('h2', {}, 'Capabilities'),
    element('dl', { class: 'grid' }, capabilities(able)),
    Object.entries(cache).filter(([, one]) => one.percent > 0).map(([name, one]) => element('p', {},
      `Prefix cache, ${name}: ${one.percent} % is computed again after each turn `,
      element('span', { class: 'quiet' }, one.turns.map((turn) => `${turn.percent} % after ${turn.after} (${turn.recomputed_bytes} of ${turn.bytes} bytes)`).join(', ')))),
    switches.length > 0 && element('h2', {}, 'Switches'),
    switches.map(switched),
    card.served && served(card.served),
    roundtrip(card.read_back || []),
  ];
}

// What applications that serve the template make of conversations: a table, and each difference with
// its cause.
function served({ fronts, capabilities: rows, differences }) {
  const ink = { same: 'good', works: 'good', neither: 'quiet', changes: 'note' };
  const verdict = (word) => element('td', { class: ink[word] || 'bad' }, word);
  return [
    element('h2', {}, differences.length ? 'Where it is served' : 'Where it is served: it works everywhere'),
    element('div', { class: 'wide' }, element('table', {},
      element('tr', {}, ['', ...fronts].map((front) => element('th', {}, front))),
      rows.map((row) => element('tr', {}, element('td', {}, row.capability), fronts.map((front) => verdict(row.verdicts[front])))))),
    differences.map((one) => element('details', { class: `finding is-${ink[one.verdict] ? 'note' : 'error'}` },
      element('summary', {}, element('b', {}, `${one.front} ${one.verdict}`), element('span', { class: 'quiet' }, one.capabilities.join(', '))),
      one.changes.map((change) => element('p', {}, change.sentence, element('span', { class: 'quiet' }, ` (${change.source})`))),
      shown(one.evidence))),
  ];
}

// The answers that the chat template writes and the response template parses: the prompt, the text and
// the message side by side.
function roundtrip(answers) {
  if (answers.length === 0) return null;
  const whole = answers.filter((one) => one.verdict === 'read back').length;
  const column = (title, ...content) => element('div', {}, element('h3', {}, title), content);
  const json = (value) => element('pre', { class: 'transcript' }, JSON.stringify(value, null, 1));
  const notes = (one) => [one.form !== 'whole' && one.form, one.setting && `with ${one.setting}`].filter(Boolean).join(', ');
  const answer = (one) => element('details', { open: ['changed', 'failed'].includes(one.verdict), class: `answer is-${one.verdict === 'read back' ? 'good' : 'bad'}` },
    element('summary', {}, element('b', {}, one.about),
      element('span', { class: one.verdict === 'read back' ? 'good' : 'bad' }, ` ${one.verdict}`),
      notes(one) && element('span', { class: 'quiet' }, ` (${notes(one)})`)),
    element('div', { class: 'answers' },
      column('prompt', element('div', { class: 'ends' }, transcript(one.prompt))),
      column('text that the model writes', transcript(one.text)),
      column('parsed message', one.read ? json(one.read) : element('p', { class: 'bad' }, one.refusal)),
      one.verdict !== 'read back' && column('original message', json(one.message))));
  return [
    element('h2', {}, `Answers that the response template parses correctly: ${whole} of ${answers.length}`),
    answers.map(answer),
  ];
}

// A variable that users may set: each value with its effect.
const switched = (one) => element('div', { class: 'switch' },
  element('p', {}, element('b', {}, one.name),
    one.default !== undefined && element('span', { class: 'quiet' }, ` as ${JSON.stringify(one.default)} if it is not set`)),
  element('ul', {}, one.values.map((value) => element('li', {},
    element('code', {}, JSON.stringify(value.value)), ': ', marked(value.effect)))));
