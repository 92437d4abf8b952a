const index = JSON.parse(document.getElementById('index').textContent);

// The kinds of pages. Each has its outcomes and verdicts, by their letters in the index, and the
// reason why a template has no result for a case.
const KINDS = {
  run: {
    outcomes: {
      r: { word: 'rendered', cell: '--good-cell', ink: 'good' },
      a: { word: 'raised', cell: '--cool-cell', ink: 'cool' },
      f: { word: 'failed', cell: '--note-cell', ink: 'note' },
      e: { word: 'exceeded', cell: '--bad-cell', ink: 'bad' },
      c: { word: 'crashed', cell: '--bad-cell', ink: 'bad' },
      n: { word: 'not asked', cell: '--bad-cell', ink: 'bad' },
    },
    states: { '!': 'differs', '?': 'stale', '~': 'diverges', '-': 'compared with nothing', n: 'new', c: 'changed' },
    missing: (template) => `not for ${template.dialect} templates`,
  },
  comparison: {
    outcomes: {
      d: { word: 'differs', cell: '--bad-cell', ink: 'bad' },
      s: { word: 'same prompt', cell: '--good-cell', ink: 'good' },
      u: { word: 'same refusal', cell: '--cool-cell', ink: 'cool' },
      x: { word: 'both fail', cell: '--note-cell', ink: 'note' },
    },
    states: {},
    missing: () => 'on one side only',
  },
};
const KIND = KINDS[index.kind];
const OUTCOMES = KIND.outcomes;
const STATES = KIND.states;
const ISSUE = 'unexpected';

const state = { search: '', outcomes: new Set(), template: null, pair: null, contract: null };
const rows = [];

// Stale records, results without a comparison and listed divergences do not count as failures.
const isIssue = (template, at) => STATES[template.states[at]] !== undefined && !'~?-'.includes(template.states[at]);

// The cases of a template that match the search and the filters.
function shows(template, at) {
  const outcome = OUTCOMES[template.outcomes[at]];
  if (!outcome) return false;
  const wanted = state.outcomes;
  const fits = wanted.size === 0 || wanted.has(outcome.word) || (wanted.has(ISSUE) && isIssue(template, at));
  if (!fits) return false;
  const search = state.search;
  return search === '' || template.name.toLowerCase().includes(search) || index.cases[at].id.includes(search);
}

const number = (template) => template.outcomes.split('').filter((_, at) => shows(template, at)).length;

function address(template, pair) {
  const parts = [];
  if (template) parts.push('t=' + encodeURIComponent(template));
  if (pair) parts.push('c=' + encodeURIComponent(pair));
  if (state.search) parts.push('q=' + encodeURIComponent(state.search));
  if (state.outcomes.size) parts.push('o=' + [...state.outcomes].join(','));
  return '#' + parts.join('&');
}

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  state.template = parts.get('t');
  state.pair = parts.get('c');
  state.contract = parts.get('k');
  state.search = (parts.get('q') || '').toLowerCase();
  state.outcomes = new Set((parts.get('o') || '').split(',').filter(Boolean));
}

const go = (to) => { if (location.hash !== to) location.hash = to; };
// The search and the filters change the address without a step in the history.
function refine() {
  history.replaceState(null, '', address(state.template, state.pair) || '#');
  show();
}

// ---- Overview -------------------------------------------------------------------------

const WIDEST_CELL = 4;
const GAP = 3;
// The width of the texts next to the strips, roughly.
const BESIDE = 560;
let cell = WIDEST_CELL;
let offsets = [];

function overview() {
  const gaps = index.cases.filter((one, at) => at > 0 && index.cases[at - 1].family !== one.family).length;
  const room = (window.innerWidth > 720 ? window.innerWidth - BESIDE : window.innerWidth - 24) - gaps * GAP;
  cell = Math.max(1, Math.min(WIDEST_CELL, Math.floor(room / index.cases.length)));
  let x = 0;
  offsets = index.cases.map((one, at) => {
    if (at > 0 && index.cases[at - 1].family !== one.family) x += GAP;
    x += cell;
    return x - cell;
  });
  const width = x;
  const hasCards = index.templates.some((template) => template.broken);
  const hasDialects = index.templates.some((template) => template.dialect);
  const body = element('tbody');
  for (const template of index.templates) {
    const strip = element('canvas', {
      class: 'strip', width, height: 16, tabindex: 0, role: 'img', style: `max-width:${width}px`,
      'aria-label': `${template.name}: ${summary(template)}. Arrow keys move through its cases, Enter opens one.`,
      click: (event) => open(template, caseAt(event)),
      mousemove: (event) => tell(template, caseAt(event)),
      focus: () => move(template, strip, 0),
      keydown: (event) => step(event, template, strip),
    });
    const link = element('a', { href: '#' }, template.name);
    const count = element('td', { class: 'number quiet pairs', 'data-word': 'pairs' });
    const row = element('tr', {},
      element('td', {}, link),
      hasDialects && element('td', { class: 'quiet' }, template.dialect),
      hasCards && ['error', 'warning', 'limitation', 'note'].map((severity) => {
        const ids = (template.broken || {})[severity] || [];
        const ink = { error: 'bad', warning: 'note' }[severity] || 'quiet';
        return element('td', { class: `number ${ids.length ? ink : 'quiet'}`, title: ids.join('\n'), 'data-word': ids.length === 1 ? severity : `${severity}s` }, ids.length || '·');
      }),
      count,
      element('td', { class: 'cells' }, index.cases.length ? strip : null));
    rows.push({ template, row, strip, link, count, cursor: 0 });
    body.append(row);
  }
  const heading = (text, numeric) => element('th', { scope: 'col', class: numeric ? 'number' : null }, text);
  fill($('overview'),
    comparison(),
    element('table', {},
      element('thead', {}, element('tr', {},
        heading('template'), hasDialects && heading('dialect'),
        hasCards && [heading('errors', true), heading('warnings', true), heading('limits', true), heading('notes', true)],
        heading('pairs', true), heading('cases, by family'))),
      body),
    element('p', { id: 'nothing', class: 'empty', hidden: true }, 'Nothing matches the search and the filters.'));
}

// ---- The verdict ----------------------------------------------------------------------

function cause(one, at) {
  const others = Object.entries(one.others);
  return element('details', { class: 'cause', open: at < OPEN_CAUSES },
    element('summary', {},
      element('span', { class: `chip ${one.fault === 'new' || one.fault === 'unverified' ? 'note' : 'bad'}` }, `${counted(one.count, 'pair')} ${one.faults}`), ' ',
      element('b', {}, `${one.template} ${one.case}`), ' ',
      element('span', { class: 'quiet' }, one.case_about || '')),
    element('p', {}, one.about, one.word && `: ${one.word}`),
    one.diff ? difference(one.diff) : one.shown && transcript(one.shown),
    one.source && [element('h3', {}, `The line of ${one.path} that writes it`), excerpt(one.source)],
    element('h3', {}, 'The conversation'),
    element('pre', { class: 'asked' }, one.asked.join('\n')),
    others.length > 0 && element('details', {},
      element('summary', {}, `The same in ${counted(one.count - 1, 'other pair')}`),
      others.map(([template, cases]) => element('p', {}, element('b', {}, template), ' ',
        cases.map((id, nth) => [nth > 0 && ', ', element('a', { href: address(template, id) }, id)])))),
    element('p', {}, element('a', { href: address(one.template, one.case) }, 'the whole prompt'), ' · ', element('code', {}, one.command)));
}

const heldCard = (one) => element('details', { class: 'cause', open: true },
  element('summary', {}, element('span', { class: 'chip bad' }, one.kind), ' ', element('b', {}, one.template), ` ${one.word}`),
  one.forbidden.map((found) => [
    element('p', {}, element('b', { class: found.severity === 'error' ? 'bad' : 'note' }, `${found.severity} ${found.contract}`), ' ', marked(found.what)),
    explanation(found.page)]),
  one.diff && difference(one.diff));

function verdict() {
  const one = index.verdict;
  if (!one) return;
  fill($('verdict'),
    element('h1', { class: `verdict ${one.sign[0]}` }, one.sign[1], ' ', one.headline),
    element('p', { class: 'quiet' }, one.facts),
    one.others.map((text) => element('p', { class: 'bad' }, marked(text))),
    one.cards.map(heldCard),
    one.causes.map(cause),
    one.more > 0 && element('p', { class: 'quiet' }, `${counted(one.more, 'more cause')} in the list of cases.`));
}

// The severities of findings, the worst first, with their inks and their headings.
const SEVERITIES = {
  error: { many: 'errors', ink: 'bad' },
  warning: { many: 'warnings', ink: 'note' },
  limitation: { many: 'limitations', ink: null },
  note: { many: 'notes', ink: null },
  known: { many: 'known', ink: 'good' },
};

// The contracts that a template breaks with a severity, known ones included.
const brokenBy = (template, severity) => (severity === 'known' ? template.known : (template.broken || {})[severity]) || [];

// The number of broken contracts in all templates, and the templates that break each contract. A link
// leads to the findings of a template.
function contracts() {
  const cards = index.templates.filter((template) => template.broken);
  if (cards.length === 0) return;
  const severities = Object.entries(SEVERITIES);
  const total = (severity) => cards.reduce((sum, template) => sum + brokenBy(template, severity).length, 0);
  const one = (count, word, ink) => element('div', { class: count ? ink : 'quiet' },
    element('dt', {}, word), element('dd', {}, count.toLocaleString('en')));
  const groups = index.contracts.map((contract) => ({
    contract,
    found: severities.map(([severity, { many, ink }]) => ({
      severity, many, ink, templates: cards.filter((template) => brokenBy(template, severity).includes(contract.id)),
    })).filter(({ templates }) => templates.length > 0),
  })).filter(({ found }) => found.length > 0);
  const percent = (part, whole) => `${(100 * part / (whole || 1)).toFixed(1)} %`;
  const share = (templates) => cards.length > 1 && ` (${percent(templates.length, cards.length)})`;
  const rank = ({ found }) => Object.keys(SEVERITIES).indexOf(found[0].severity);
  groups.sort((a, b) => rank(a) - rank(b) || b.found[0].templates.length - a.found[0].templates.length);
  // The evidence is unpacked when somebody opens it. The page of one template opens its errors itself.
  const group = ({ contract, found }, at) => {
    const worst = found[0];
    const example = element('div');
    const details = element('details', { class: `finding is-${worst.severity}` },
      element('summary', {}, element('b', {}, contract.id), ' ',
        found.map(({ severity, many, ink, templates }) => [element('span', { class: `count ${ink || ''}` },
          severity === 'known' ? `${templates.length} known` : counted(templates.length, severity, many), share(templates)), ' ']),
        element('span', { class: 'quiet' }, contract.meaning)),
      example,
      found.map(({ many, templates }) => [
        element('p', { class: 'quiet' }, many),
        element('ul', { class: 'chips' }, templates.map((template) => element('li', {},
          element('a', { href: `${address(template.name, null)}&k=${encodeURIComponent(contract.id)}` }, template.name)))),
      ]));
    details.addEventListener('toggle', async () => {
      if (!details.open || example.childNodes.length) return;
      const template = worst.templates[0];
      const known = await chunk(template);
      const one = known.card.findings.find((one) => one.contract === contract.id);
      if (!one || example.childNodes.length) return;
      fill(example, cards.length > 1 && element('h3', {}, `In ${template.name}`), evidenceOf(one, contract.page));
    });
    details.open = cards.length === 1 && index.isOfCards && worst.severity === 'error' && at < OPEN_CAUSES;
    return details;
  };
  fill($('contracts'),
    element('dl', { class: 'totals' }, one(cards.length, cards.length === 1 ? 'template' : 'templates', null),
      severities.map(([severity, { many, ink }]) => one(total(severity), total(severity) === 1 ? severity : many, ink))),
    groups.length > 0 && element('details', { open: index.isOfCards },
      element('summary', {}, `By contract: ${groups.length} of ${index.contracts.length} are broken`), groups.map(group)));
}

// The differences of most cases are visible, the others are folded.
const FIRST_GROUPS = 12;

// The differences between two sides, by cause. It is empty if the page does not compare two sides.
function comparison() {
  if (!index.sides) return [];
  const words = (one) => one.sides && one.sides.map((text, at) => element('p', {}, marked(`${'AB'[at]} ${text}`)));
  const link = (one) => element('p', {}, element('a', { href: address(one.template, one.case) }, 'both prompts'));
  const group = (one, at) => element('details', { class: 'cause', open: at < OPEN_CAUSES },
    element('summary', {},
      element('span', { class: 'chip bad' }, counted(one.count, 'case')), ' ',
      element('b', {}, one.change), ' ',
      element('span', { class: 'quiet' }, `such as ${one.case}`, one.about && `: ${one.about}`)),
    one.source.map((text, at) => text !== null && element('p', {}, `${'AB'[at]}: `, element('code', {}, text))),
    one.first && !one.diff && element('p', {}, marked(one.first)),
    words(one), one.diff && difference(one.diff),
    one.consequences.map((line) => element('p', {}, marked(line))), link(one));
  const failure = (one) => element('li', {},
    element('a', { href: address(one.template, one.case) }, counted(one.count, 'case')),
    element('span', { class: 'quiet' }, ` such as ${one.case}`), words(one));
  const rest = index.differences.slice(FIRST_GROUPS);
  const part = (title, content) => [element('h2', {}, title), content];
  return [
    element('dl', { class: 'sides' }, index.sides.map((side, at) => [
      element('dt', { class: at ? 'good' : 'bad' }, 'AB'[at]), element('dd', {}, side)])),
    index.warning && element('p', { class: 'bad' }, index.warning),
    index.only.map(([what, names]) => element('details', {},
      element('summary', {}, what), element('p', { class: 'quiet' }, names.join(', ')))),
    index.differences.length > 0 && part('What differs', [
      index.differences.slice(0, FIRST_GROUPS).map(group),
      rest.length > 0 && element('details', {},
        element('summary', {}, `${rest.length} more, of fewer cases each`),
        rest.map((one) => group(one, FIRST_GROUPS)))]),
    index.failures.length > 0 && element('details', { class: 'failures' },
      element('summary', {}, `Failures on both sides: ${counted(index.failures.length, 'cause')}`),
      element('ol', { class: 'groups' }, index.failures.map(failure))),
    element('h2', {}, 'Every case'),
  ];
}

function summary(template) {
  const counts = Object.values(OUTCOMES)
    .map(({ word }) => [word, template.outcomes.split('').filter((letter) => OUTCOMES[letter]?.word === word).length])
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${word}`);
  return counts.join(', ');
}

// A canvas takes only colours that are computed.
const colours = {};
function computeColours() {
  for (const name of ['--none-cell', '--bad', '--ink', ...Object.values(OUTCOMES).map(({ cell }) => cell)]) {
    $('tip').style.color = `var(${name})`;
    colours[name] = getComputedStyle($('tip')).color;
  }
  $('tip').style.color = '';
}

function draw({ template, strip, cursor }, focused) {
  const context = strip.getContext('2d');
  context.clearRect(0, 0, strip.width, strip.height);
  offsets.forEach((x, at) => {
    const letter = template.outcomes[at];
    if (!OUTCOMES[letter]) return;
    const shown = shows(template, at);
    context.fillStyle = colours[shown ? OUTCOMES[letter].cell : '--none-cell'];
    context.fillRect(x, 2, Math.max(1, cell - 1), 12);
    if (shown && isIssue(template, at)) {
      context.fillStyle = colours['--bad'];
      context.fillRect(x, 0, Math.max(1, cell - 1), 16);
    }
  });
  if (focused) {
    context.fillStyle = colours['--ink'];
    context.fillRect(offsets[cursor], 0, Math.max(2, cell - 1), 3);
    context.fillRect(offsets[cursor], 13, Math.max(2, cell - 1), 3);
  }
}

function caseAt(event) {
  const x = event.offsetX * (event.target.width / event.target.clientWidth || 1);
  let found = 0;
  offsets.forEach((offset, at) => { if (offset <= x) found = at; });
  return found;
}

function tell(template, at) {
  const outcome = OUTCOMES[template.outcomes[at]];
  const one = index.cases[at];
  const word = outcome ? outcome.word : KIND.missing(template);
  const extra = STATES[template.states[at]] ? `, ${STATES[template.states[at]]}` : '';
  $('tip').textContent = `${template.name} · ${one.id} · ${word}${extra} · ${one.about || ''}`;
}

function move(template, strip, by) {
  const row = rows.find((candidate) => candidate.template === template);
  let to = row.cursor;
  do to += Math.sign(by) || 0; while (by !== 0 && to >= 0 && to < offsets.length && !shows(template, to));
  if (to >= 0 && to < offsets.length) row.cursor = to;
  draw(row, true);
  tell(template, row.cursor);
  strip.addEventListener('blur', () => draw(row, false), { once: true });
}

function step(event, template, strip) {
  const visible = rows.filter(({ row }) => !row.hidden);
  const here = visible.findIndex((candidate) => candidate.template === template);
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const down = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by) move(template, strip, by);
  else if (down && visible[here + down]) {
    visible[here + down].cursor = visible[here].cursor;
    visible[here + down].strip.focus();
  } else if (event.key === 'Enter') open(template, visible[here].cursor);
  else return;
  event.preventDefault();
}

function open(template, at) {
  if (OUTCOMES[template.outcomes[at]]) go(address(template.name, index.cases[at].id));
}

// ---- One template ---------------------------------------------------------------------

const chunks = new Map();

// The data of a template stay compressed until somebody opens it.
function chunk(template) {
  if (!chunks.has(template.chunk)) {
    const packed = Uint8Array.from(atob($(template.chunk).textContent.trim()), (byte) => byte.charCodeAt(0));
    const text = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
    chunks.set(template.chunk, text.then(JSON.parse));
  }
  return chunks.get(template.chunk);
}

// The differences between the report cards of A and B.
function changes(known) {
  if (!known.change) return null;
  const list = (sign, ink) => (one) => element('li', { class: ink }, `${sign} ${one.severity} ${one.contract}: ${one.what}`);
  return [
    element('h2', {}, 'Report card'),
    element('ul', { class: 'changes' },
      known.change.broken.map(list('+', 'bad')), known.change.mended.map(list('-', 'good')),
      known.change.changed.map((one) => list(one.degree, { worse: 'bad', better: 'good' }[one.degree] || null)(one)),
      known.change.capabilities.map((one) => element('li', {
        class: { gained: 'good', lost: 'bad' }[one.turn] || null }, `${one.name}: ${one.a} → ${one.b}`))),
  ];
}

function caseList(template) {
  const nav = element('nav', { class: 'cases', 'aria-label': 'Cases' });
  let family = null;
  index.cases.forEach((one, at) => {
    if (!shows(template, at)) return;
    if (one.family !== family) {
      family = one.family;
      nav.append(element('h3', { title: index.families[family] || null }, family));
    }
    const outcome = OUTCOMES[template.outcomes[at]];
    // A pair without a comparison has only an outcome.
    const word = template.states[at] === '-' ? null : STATES[template.states[at]];
    nav.append(element('a', { href: address(template.name, one.id), 'aria-current': one.id === state.pair ? 'true' : null, title: one.about },
      element('span', {}, one.id.slice(one.family.length + 1)),
      element('span', { class: word ? 'bad' : outcome.ink }, word || outcome.word)));
  });
  return nav;
}

function pairPane(template, known) {
  const at = index.cases.findIndex((one) => one.id === state.pair);
  const pair = known.pairs[at];
  if (!pair) {
    const why = state.pair ? `There is no pair of this template with ${state.pair}.` : 'Choose a case to see every byte of its prompt.';
    return element('div', { class: 'pane quiet' }, why);
  }
  const one = index.cases[at];
  const side = ({ name, head, transcript: text, tokens }) => element('div', {},
    element('p', {}, name && element('span', { class: 'quiet' }, `${name}: `), element('b', { class: OUTCOMES[template.outcomes[at]].ink }, head)),
    transcript(text),
    tokens && element('details', { class: 'tokens' }, element('summary', {}, counted(tokens.length, 'token')), element('pre', { class: 'transcript' }, tokensOf(tokens))));
  return element('div', { class: 'pane', id: 'pair' },
    element('h2', { style: 'margin-top:0' }, one.id),
    element('p', { class: 'quiet' }, one.about),
    (pair.diffs || []).map((diff) => [element('h3', {}, diff.title), difference(diff)]),
    pair.sides ? element('div', { class: 'two' }, pair.sides.map(side)) : side(pair));
}

async function detail(template) {
  const known = await chunk(template);
  if (state.template !== template.name) return;
  const section = $('detail');
  const before = section.querySelector('.cases');
  const isOpen = section.dataset.template === template.name && before !== null;
  const scrolled = isOpen ? before.scrollTop : 0;
  section.dataset.template = template.name;
  section.replaceChildren();
  fill(section,
    element('p', {}, element('a', { href: address(null, null) }, '← all templates')),
    element('h1', {}, template.name),
    element('p', { class: 'quiet' }, [template.dialect, template.engine, template.about].filter(Boolean).join(' · ')),
    template.path && element('p', { class: 'quiet mono' }, template.path),
    known.card && reportCard(known.card, (id) => (index.contracts.find((contract) => contract.id === id) || {}).page),
    changes(known),
    index.cases.length && element('h2', { id: 'cases' }, 'Cases'),
    index.cases.length && element('div', { class: 'split' }, caseList(template), pairPane(template, known)));
  const list = section.querySelector('.cases');
  const current = section.querySelector('[aria-current]');
  if (list) list.scrollTop = scrolled;
  // The list always scrolls to its case, the page only if the template was not open before.
  const found = state.contract && document.getElementById(`contract-${state.contract}`);
  if (found) {
    found.open = true;
    found.scrollIntoView();
  }
  if (list && current) {
    const top = current.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 40) list.scrollTop = top - list.clientHeight / 2;
    if (!isOpen) $('cases').scrollIntoView();
  }
}

// ---- Everything -----------------------------------------------------------------------

function show() {
  $('search').value = state.search;
  for (const button of $('filters').children) {
    button.setAttribute('aria-pressed', state.outcomes.has(button.dataset.word));
  }
  const template = index.templates.find((one) => one.name === state.template);
  $('overview').hidden = Boolean(template);
  $('contracts').hidden = Boolean(template);
  $('verdict').hidden = Boolean(template);
  $('detail').hidden = !template;
  if (template) {
    document.title = `${template.name} · ${index.title}`;
    detail(template);
    return;
  }
  document.title = index.title;
  computeColours();
  let any = false;
  for (const row of rows) {
    const count = number(row.template);
    const named = state.search === '' || row.template.name.toLowerCase().includes(state.search);
    row.row.hidden = index.cases.length ? count === 0 && !(named && state.outcomes.size === 0) : !named;
    row.count.textContent = count.toLocaleString('en');
    row.link.setAttribute('href', address(row.template.name, null));
    any = any || !row.row.hidden;
    if (!row.row.hidden && index.cases.length) draw(row, false);
  }
  $('nothing').hidden = any;
}

function start() {
  const redraw = () => { if (!state.template) show(); };
  $('theme').addEventListener('click', redraw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  $('about').textContent = index.about;
  const used = new Set(index.templates.flatMap((template) => [...template.outcomes].map((letter) => OUTCOMES[letter]?.word)));
  const buttons = Object.values(OUTCOMES).filter(({ word }) => used.has(word));
  if (index.templates.some((template) => index.cases.some((_, at) => isIssue(template, at)))) {
    buttons.push({ word: ISSUE, cell: '--bad' });
  }
  for (const { word, cell } of buttons) {
    $('filters').append(element('button', {
      type: 'button', 'data-word': word, style: `--cell: var(${cell})`,
      click: () => { state.outcomes.has(word) ? state.outcomes.delete(word) : state.outcomes.add(word); refine(); },
    }, word));
  }
  $('search').addEventListener('input', (event) => { state.search = event.target.value.toLowerCase(); refine(); });
  verdict();
  contracts();
  overview();
  addEventListener('hashchange', () => { readAddress(); show(); });
  addEventListener('keydown', (event) => {
    const typing = event.target === $('search');
    if (event.key === '/' && !typing) { $('search').focus(); event.preventDefault(); return; }
    if (event.key === 'Escape') {
      if (typing) { $('search').blur(); return; }
      go(state.pair ? address(state.template, null) : address(null, null) || '#');
      return;
    }
    if (typing || !state.template || !['j', 'k'].includes(event.key)) return;
    const links = [...document.querySelectorAll('.cases a')];
    const here = links.findIndex((link) => link.hasAttribute('aria-current'));
    const next = links[here + (event.key === 'j' ? 1 : -1)];
    if (next) go(next.getAttribute('href'));
  });
  readAddress();
  show();
}

start();
